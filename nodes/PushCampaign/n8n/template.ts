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
 * The steps of a path and its value. Code that is anything else is none, nor is a step into a text or to what an object
 * inherits, such as `.length`: what that gives is n8n's business.
 */
function readPath(
	code: string,
	json: IDataObject,
): { steps: string[]; value: unknown } | undefined {
	const [, path] = jsonPath.exec(code) ?? [];
	if (path === undefined) return undefined;
	const steps = [...path.matchAll(pathSteps)].map(
		([, name, index, double, single]) => name ?? index ?? readEscapes(double ?? single ?? ''),
	);
	let value: unknown = json;
	for (const step of steps) {
		if (typeof value === 'string') return undefined;
		if (typeof value !== 'object' || value === null) return { steps, value: undefined };
		if (!Object.hasOwn(value, step)) return step in value ? undefined : { steps, value: undefined };
		value = Reflect.get(value, step);
	}
	return { steps, value };
}

/**
 * Puts a text together whose parts are all paths of `$json` that give texts; undefined if only n8n knows it. n8n takes
 * half a millisecond to evaluate an expression, far more than everything else that an item needs before it is sent.
 */
export function joinText(expression: string, json: IDataObject): string | undefined {
	const pieces = toPieces(expression);
	if (!pieces.some((piece) => 'code' in piece)) return undefined;
	let text = '';
	for (const piece of pieces) {
		const part = 'literal' in piece ? piece.literal : readPath(piece.code, json)?.value;
		if (typeof part !== 'string') return undefined;
		// n8n reads these in its own way.
		if ('literal' in piece && /\{\{|\\/.test(part)) return undefined;
		text += part;
	}
	return text;
}

/** A part of a text that nobody meant to leave out. */
interface MissingPart {
	/** As it is written: `{{ $json.name }}`. */
	readonly part: string;
	readonly steps: readonly string[];
	/** It gives nothing; or a number that has lost digits, because it is beyond 2^53. */
	readonly why: 'missing' | 'lostDigits';
}

function hasLostDigits(value: unknown): boolean {
	if (Array.isArray(value)) return value.some(hasLostDigits);
	return typeof value === 'number' && Math.abs(value) > Number.MAX_SAFE_INTEGER;
}

/**
 * Finds a field of the input item that is missing in a text with more to it, such as `Hello {{ $json.name }}`. Whoever
 * writes more than a path between the braces has thought of that case. A text may stand for nothing.
 */
export function missingPart(
	expression: string,
	json: IDataObject,
	isNothing: (text: string) => boolean,
): MissingPart | undefined {
	const isMissing = (value: unknown): boolean => {
		if (Array.isArray(value)) return value.every(isMissing);
		return typeof value === 'string' ? isNothing(value) : value === undefined || value === null;
	};
	const pieces = toPieces(expression);
	if (pieces.length < 2) return undefined;
	// A blank beside the braces makes a text of a number, but is nothing more than the field.
	const visible = pieces.filter((piece) => 'code' in piece || !isBlankText(piece.literal));
	for (const piece of pieces) {
		if ('literal' in piece) continue;
		const path = readPath(piece.code, json);
		if (path === undefined) continue;
		const { steps, value } = path;
		const part = `{{${piece.code}}}`;
		if (visible.length > 1 && isMissing(value)) return { part, steps, why: 'missing' };
		if (hasLostDigits(value)) return { part, steps, why: 'lostDigits' };
	}
	return undefined;
}
