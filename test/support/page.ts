import { readFileSync, writeFileSync } from 'node:fs';

/** Expects a page to hold a text. `npm run texts` writes it instead. */
export function expectPage(file: string, text: string): void {
	if (process.env['npm_lifecycle_event'] === 'texts') writeFileSync(file, text);
	expect(text).toBe(readFileSync(file, 'utf8'));
}
