import type { NodeExecutionHint } from 'n8n-workflow';

// The editor shows hints as HTML (n8n 2.41.1: `htmlUtils`).

/** What there may be to say. */
export type Hint = NodeExecutionHint | undefined;

/** A text, a title, or an address that opens by a click, behind what it is. */
export type Line =
	| string
	| { readonly bold: string }
	| { readonly link: string; readonly of?: string };

const escaped = (text: string) =>
	text
		.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`)
		.replace(/\r?\n/g, '<br>');

function toHtml(line: Line): string {
	if (typeof line === 'string') return escaped(line);
	if ('bold' in line) return `<b>${escaped(line.bold)}</b>`;
	const { link, of = '' } = line;
	return `${escaped(of)}<a href="${escaped(link)}" target="_blank">${escaped(link)}</a>`;
}

const hint = (type: 'info' | 'warning', lines: readonly Line[]): NodeExecutionHint => ({
	message: lines.map(toHtml).join('<br>'),
	type,
	location: 'outputPane',
});
export const info = (...lines: Line[]): NodeExecutionHint => hint('info', lines);
export const warning = (...lines: Line[]): NodeExecutionHint => hint('warning', lines);
