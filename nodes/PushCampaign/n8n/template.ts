import type { IDataObject } from 'n8n-workflow';

/**
 * A text as it is written in the editor, taken apart: what stands between the braces (`code`), and what stands
 * around them. Only paths of `$json` are understood here; everything else is n8n's.
 */
export type Piece = { readonly literal: string } | { readonly code: string };

/** Takes a text apart. Braces that nothing closes are text. */
export function splitTemplate(text: string): Piece[] {
	const pieces: Piece[] = [];
	let from = 0;
	let open = text.indexOf('{{');
	let close = text.indexOf('}}', open);
	while (open !== -1 && close !== -1) {
		pieces.push({ literal: text.slice(from, open) }, { code: text.slice(open + 2, close) });
		from = close + 2;
		open = text.indexOf('{{', from);
		close = text.indexOf('}}', open);
	}
	return [...pieces, { literal: text.slice(from) }].filter(
		(piece) => 'code' in piece || piece.literal !== '',
	);
}

/** A path of the input item, and nothing else: `$json.page?.["the url"]`. */
const jsonPath =
	/^\s*\$json((?:\??\.[$_\p{ID_Start}][$\p{ID_Continue}]*|(?:\?\.)?\[(?:\d+|"[^"\\]+"|'[^'\\]+')\])+)\s*$/u;
const pathStep = /\.([$_\p{ID_Start}][$\p{ID_Continue}]*)|\[(?:(\d+)|"([^"]+)"|'([^']+)')\]/gu;

/** What nobody sees: blanks of all kinds, control characters, and characters that are made to be invisible. */
const invisible = /^[\s\p{Cc}\p{Cf}\p{Default_Ignorable_Code_Point}\u2800]*$/u;

/** Whether nothing of a text is visible. */
export const isBlankText = (text: string): boolean => invisible.test(text);

/** `\{{` is n8n's way to write braces that are no expression: such a text is left to n8n. */
const toPieces = (expression: string): Piece[] =>
	/\\(\{\{|\}\})/.test(expression) ? [] : splitTemplate(expression);

/**
 * The value at a path of the input item. `isPath` is false for code that is anything else, and for a step into a text or
 * to what an object inherits, such as `.length`: what that gives is n8n's business.
 */
function readPath(code: string, json: IDataObject): { isPath: boolean; value?: unknown } {
	const [, path] = jsonPath.exec(code) ?? [];
	if (path === undefined) return { isPath: false };
	let value: unknown = json;
	for (const [, name, index, quoted, single] of path.matchAll(pathStep)) {
		const step = name ?? index ?? quoted ?? single ?? '';
		if (typeof value === 'string') return { isPath: false };
		if (typeof value !== 'object' || value === null) return { isPath: true };
		if (!Object.hasOwn(value, step)) return { isPath: !(step in value) };
		value = Reflect.get(value, step);
	}
	return { isPath: true, value };
}

/**
 * Puts a text together whose parts are all paths of `$json` that give texts. n8n takes half a millisecond to evaluate
 * an expression, far more than everything else that an item needs before it is sent.
 * @param expression without the equals sign in front of it
 * @returns the text; `undefined` if only n8n knows it
 */
export function joinText(expression: string, json: IDataObject): string | undefined {
	const pieces = toPieces(expression);
	if (!pieces.some((piece) => 'code' in piece)) return undefined;
	let text = '';
	for (const piece of pieces) {
		const part = 'literal' in piece ? piece.literal : readPath(piece.code, json).value;
		if (typeof part !== 'string') return undefined;
		// n8n reads these in its own way.
		if ('literal' in piece && /\{\{|\\/.test(part)) return undefined;
		text += part;
	}
	return text;
}

/** A part of a text that nobody meant to leave out. */
export interface MissingPart {
	/** As it is written: `{{ $json.name }}`. */
	readonly part: string;
	/** It gives nothing; or a number that has lost digits, because it is beyond 2^53. */
	readonly why: 'missing' | 'lostDigits';
}

function isMissing(value: unknown): boolean {
	if (value === undefined || value === null) return true;
	if (Array.isArray(value)) return value.length === 0;
	return typeof value === 'string' && isBlankText(value);
}

const hasLostDigits = (value: unknown): boolean =>
	Array.isArray(value)
		? value.some(hasLostDigits)
		: typeof value === 'number' && Math.abs(value) > Number.MAX_SAFE_INTEGER;

/**
 * Finds a field of the input item that is missing in a text with more to it, such as `Hello {{ $json.name }}`. Whoever
 * writes more than a path between the braces has thought of that case.
 * @param expression without the equals sign in front of it
 */
export function missingPart(expression: string, json: IDataObject): MissingPart | undefined {
	const pieces = toPieces(expression);
	if (pieces.length < 2) return undefined;
	// A blank beside the braces makes a text of a number, but is nothing more than the field.
	const visible = pieces.filter((piece) => 'code' in piece || !isBlankText(piece.literal));
	for (const piece of pieces) {
		if ('literal' in piece) continue;
		const { isPath, value } = readPath(piece.code, json);
		if (!isPath) continue;
		const part = `{{${piece.code}}}`;
		if (isMissing(value) && visible.length > 1) return { part, why: 'missing' };
		if (hasLostDigits(value)) return { part, why: 'lostDigits' };
	}
	return undefined;
}
