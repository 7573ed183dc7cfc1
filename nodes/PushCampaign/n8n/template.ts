import type { IDataObject } from 'n8n-workflow';

/**
 * A text as it is written in the editor, taken apart: what stands between the braces (`code`), and what stands
 * around them. Only paths of `$json` are understood here; everything else is n8n's.
 */
type Piece = { readonly literal: string } | { readonly code: string };

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

/** What stands in quotes, with JavaScript's escapes: dragging a column makes `$json['Today\'s deal']` of it. */
const escape = String.raw`\\(?:u[\da-fA-F]{4}|u\{(?:10|[\da-fA-F])?[\da-fA-F]{1,4}\}|x[\da-fA-F]{2}|[^ux\d])`;
const quoted = (quote: string) =>
	`${quote}([^${quote}\\\\]*(?:${escape}[^${quote}\\\\]*)*)${quote}`;
const name = String.raw`\.([$_\p{ID_Start}][$\p{ID_Continue}]*)`;
const step = String.raw`\??${name}|(?:\?\.)?\[(?:(\d+)|${quoted('"')}|${quoted("'")})\]`;

/** A path of the input item, and nothing else: `$json.page?.["the url"]`. */
const jsonPath = new RegExp(String.raw`^\s*\$json((?:${step})+)\s*$`, 'u');
const pathSteps = new RegExp(step, 'gu');

const escapes = /\\(?:u\{([^}]+)\}|(?:u(.{4})|x(..))|([^]))/g;
const letters = new Map(Object.entries({ b: '\b', f: '\f', n: '\n', r: '\r', t: '\t', v: '\v' }));

/** What JavaScript reads between quotes. */
const readEscapes = (text: string): string =>
	text.replace(
		escapes,
		(_whole, point?: string, unit?: string, byte?: string, character: string = '') => {
			const code = point ?? unit ?? byte;
			if (code !== undefined) return String.fromCodePoint(Number.parseInt(code, 16));
			return letters.get(character) ?? character;
		},
	);

/** What nobody sees: blanks of all kinds, control characters, and characters that are made to be invisible. */
const invisible = /^[\s\p{Cc}\p{Cf}\p{Default_Ignorable_Code_Point}\u2800]*$/u;

/** Whether nothing of a text is visible. */
export const isBlankText = (text: string): boolean => invisible.test(text);

/** `\{{` is n8n's way to write braces that are no expression: such a text is left to n8n. */
const toPieces = (expression: string): Piece[] =>
	/\\(\{\{|\}\})/.test(expression) ? [] : splitTemplate(expression);

/**
 * The value at a path. Code that is anything else has none, nor has a step into a text or to what an object inherits, such
 * as `.length`: what that gives is n8n's business.
 */
function readPath(code: string, json: IDataObject): unknown {
	const [, path] = jsonPath.exec(code) ?? [];
	if (path === undefined) return undefined;
	let value: unknown = json;
	for (const [, name, index, double, single] of path.matchAll(pathSteps)) {
		const step = name ?? index ?? readEscapes(double ?? single ?? '');
		if (typeof value !== 'object' || value === null || !Object.hasOwn(value, step))
			return undefined;
		value = Reflect.get(value, step);
	}
	return value;
}

/** What a pair of braces gave, in a text that has more to it. */
export interface Part {
	readonly code: string;
	readonly text: string;
}

/** What an expression gave. One that is a pair of braces and nothing else has no parts. */
export interface Evaluated {
	readonly value: unknown;
	readonly parts: readonly Part[];
}

/** Unicode keeps it for programs: it stands in no text. */
const mark = '\uFDD0';

/** What n8n gives for each pair of braces, evaluated at once: so what one of them changes the next one sees. */
function evaluateAll(
	codes: readonly string[],
	evaluate: (expression: string) => unknown,
): string[] | undefined {
	const marked = codes.map((code) => `${mark}{{${code}}}`).join('');
	const given = evaluate(`${marked}${mark}`);
	if (typeof given !== 'string') return undefined;
	const texts = given.split(mark).slice(1, -1);
	return texts.length === codes.length ? texts : undefined;
}

const isText = (value: unknown): value is string => typeof value === 'string';

/**
 * Puts a text together of what stands around its braces and what n8n gives for the braces alone; undefined for what only
 * n8n can: a single pair of braces, which may give any value, and what n8n reads in its own way, such as `\{{`. Paths of
 * `$json` that give texts are read here: n8n takes half a millisecond to evaluate an expression, far more than everything
 * else that an item needs before it is sent.
 */
export function joinText(
	expression: string,
	json: IDataObject,
	evaluate: (expression: string) => unknown,
): Evaluated | undefined {
	const pieces = toPieces(expression);
	const codes = pieces.flatMap((piece) => ('code' in piece ? [piece.code] : []));
	if (codes.length === 0) return undefined;
	if (pieces.some((piece) => 'literal' in piece && /\{\{|\\/.test(piece.literal))) return undefined;
	const read = codes.map((code) => readPath(code, json));
	const isRead = read.every(isText);
	if (!isRead && pieces.length === 1) return undefined;
	const texts = isRead ? read : evaluateAll(codes, evaluate);
	if (texts === undefined) return undefined;
	const parts = codes.map((code, index) => ({ code, text: texts[index] ?? '' }));
	const waiting = [...texts];
	const value = pieces
		.map((piece) => ('literal' in piece ? piece.literal : waiting.shift()))
		.join('');
	// A blank beside the braces makes a text of a number, but is nothing more than the field.
	const seen = pieces.filter((piece) => 'code' in piece || !isBlankText(piece.literal));
	return { value, parts: seen.length > 1 ? parts : [] };
}
