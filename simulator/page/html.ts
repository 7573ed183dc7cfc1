/** HTML that is safe to show. */
export class Html {
	constructor(readonly text: string) {}
}

type Part = string | number | Html | readonly Html[];

function safe(part: Part): string {
	if (part instanceof Html) return part.text;
	if (typeof part === 'object') return part.map(({ text }) => text).join('');
	return String(part).replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}

/** A template. Texts in it are escaped: what anybody sent is shown as it is, and never run. */
export function html(written: TemplateStringsArray, ...parts: Part[]): Html {
	return new Html(String.raw({ raw: written }, ...parts.map(safe)));
}

/** A value of a body as text; empty if it is not there. */
export function textOf(value: unknown): string {
	if (value === undefined || value === null) return '';
	return typeof value === 'string' ? value : JSON.stringify(value);
}

/** A number as people read it: `12,500`. */
export const readable = (count: number) => count.toLocaleString('en-US');
