import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { ServerResponse } from 'node:http';
import { join } from 'node:path';
import { answer } from './http';

const html = readFileSync(join(__dirname, 'page.html'), 'utf8');

/** What the policy calls the page's only element of this kind. */
function hashOf(tag: 'script' | 'style'): string {
	const [, text = ''] = new RegExp(`<${tag}>([^]*?)</${tag}>`).exec(html) ?? [];
	return `'sha256-${createHash('sha256').update(text).digest('base64')}'`;
}

// Titles and messages come from anywhere: the page runs nothing but its own script and loads
// nothing from elsewhere.
const headers = {
	'content-type': 'text/html; charset=utf-8',
	'content-security-policy': `default-src 'none'; img-src data:; connect-src 'self'; script-src ${hashOf('script')}; style-src ${hashOf('style')}; base-uri 'none'; form-action 'none'`,
	'cache-control': 'no-store',
};

/** Answers with the page that shows the campaigns. */
export function answerPage(response: ServerResponse): void {
	answer(response, 200, headers, html);
}
