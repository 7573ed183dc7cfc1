import type { IDataObject } from 'n8n-workflow';

import { isBlankText } from '../service/text';

/** A piece of a text as it is written in the editor: what stands between braces (`code`), or around them. */
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

/** A path of the input item, and nothing else: `$json.page["the url"]`. What is written in another way is left to n8n. */
const step = String.raw`\.([$_\p{ID_Start}][$\p{ID_Continue}]*)|\["([^"\\]*)"\]|\['([^'\\]*)'\]`;
const jsonPath = new RegExp(String.raw`^\s*\$json((?:${step})+)\s*$`, 'u');
const pathSteps = new RegExp(step, 'gu');

/** The value at a path; undefined if there is none, or only what an object or a text inherits, such as `.length`. */
export function valueAt(within: object, path: readonly string[]): unknown {
	let value: unknown = within;
	for (const step of path) {
		if (typeof value !== 'object' || value === null || !Object.hasOwn(value, step))
			return undefined;
		value = Reflect.get(value, step);
	}
	return value;
}

/** What code gives that is a path of `$json`; undefined for all other code. */
function readPath(code: string, json: IDataObject): unknown {
	const [, path] = jsonPath.exec(code) ?? [];
	if (path === undefined) return undefined;
	const steps = Array.from(path.matchAll(pathSteps), (found) => found.slice(1).join(''));
	return valueAt(json, steps);
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
	if (/\\(\{\{|\}\})/.test(expression)) return undefined;
	const pieces = splitTemplate(expression);
	const codes = pieces.flatMap((piece) => ('code' in piece ? [piece.code] : []));
	if (codes.length === 0) return undefined;
	if (pieces.some((piece) => 'literal' in piece && /\{\{|\\/.test(piece.literal))) return undefined;
	const read = codes.map((code) => readPath(code, json));
	const isRead = read.every(isText);
	if (!isRead && pieces.length === 1) return undefined;
	const texts = isRead ? read : evaluateAll(codes, evaluate);
	if (texts === undefined) return undefined;
	const waiting = [...texts];
	const value = pieces
		.map((piece) => ('literal' in piece ? piece.literal : waiting.shift()))
		.join('');
	// A blank beside the braces makes a text of a number, but is nothing more than the field.
	const seen = pieces.filter((piece) => 'code' in piece || !isBlankText(piece.literal));
	const parts = codes.map((code, index) => ({ code, text: texts[index] ?? '' }));
	return { value, parts: seen.length > 1 ? parts : [] };
}
