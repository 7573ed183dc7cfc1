import { DateTime } from 'luxon';

/** What only n8n can do: it evaluates expressions. */
export interface Evaluator {
	/** The value of the parameter that the template is written in. */
	value(itemIndex: number): unknown;
	/** The value of another expression. */
	evaluate(expression: string, itemIndex: number): unknown;
}

/** The value of a parameter for one item. */
export interface EvaluatedValue {
	readonly value: unknown;
	/** The first part of a text that gave nothing, as it is written: `{{ $json.name }}`. */
	readonly emptyPart?: string | undefined;
}

/** A piece of a text as it is written: an expression between braces, or what stands around it. */
type Piece = { readonly literal: string } | { readonly code: string };

/** A field of the input item: `$json.page["url"]`. */
const field = /^\s*\$json((?:\.[A-Za-z_]\w*|\["[\w -]+"\]|\['[\w -]+'\])+)\s*$/;

export const isObject = (value: unknown): value is object =>
	typeof value === 'object' && value !== null;

/** The text at a field of the input item; `undefined` if there is none. */
function textAt(json: unknown, code: string): string | undefined {
	const [, path] = field.exec(code) ?? [];
	if (path === undefined) return undefined;
	let value = json;
	for (const [name] of path.matchAll(/[\w -]+/g)) {
		if (!isObject(value) || !Object.hasOwn(value, name)) return undefined;
		value = Reflect.get(value, name);
	}
	return typeof value === 'string' ? value : undefined;
}

/** Takes a text apart. Returns no pieces if n8n may read it in another way. */
function toPieces(text: string): Piece[] {
	if (/\\(\{\{|\}\})/.test(text)) return [];
	const pieces = text.split(/\{\{([^]*?)\}\}/).map((piece, index): Piece => {
		return index % 2 === 1 ? { code: piece } : { literal: piece };
	});
	const isOpen = pieces.some((piece) => 'literal' in piece && piece.literal.includes('{{'));
	if (isOpen) return [];
	return pieces.filter((piece) => !('literal' in piece && piece.literal === ''));
}

const isOfFields = (text: string) => {
	const pieces = toPieces(text);
	return pieces.length > 0 && pieces.every((piece) => 'literal' in piece || field.test(piece.code));
};

/** Whether all expressions in a parameter as written only read the input item: then a Retry gets the same values. */
export function readsItemAlone(raw: unknown): boolean {
	if (typeof raw === 'string') return !raw.startsWith('=') || isOfFields(raw.slice(1));
	return !isObject(raw) || Object.values(raw).every(readsItemAlone);
}

/** n8n writes nothing for these. */
const isNothing = (value: unknown) =>
	(value ?? '') === '' || Number.isNaN(value) || (Array.isArray(value) && String(value) === '');

/** What a part becomes in a text; `undefined` for what only n8n knows. */
function toText(value: unknown): string | undefined {
	if (isNothing(value)) return '';
	const isPlain = ['string', 'number', 'boolean'].includes(typeof value);
	return isPlain || DateTime.isDateTime(value) ? String(value) : undefined;
}

/** Whether a text may be made of these pieces: what stands around its expressions is there, in this order. */
function isMadeOf(text: unknown, pieces: readonly Piece[]): boolean {
	if (typeof text !== 'string') return false;
	let from = 0;
	for (const piece of pieces) {
		if (!('literal' in piece)) continue;
		const start = text.indexOf(piece.literal, from);
		if (start === -1) return false;
		from = start + piece.literal.length;
	}
	return true;
}

/** The text that its parts make; `undefined` if only n8n knows it. */
interface JoinedText {
	readonly text: string | undefined;
	readonly emptyPart?: string | undefined;
}

/**
 * How the value of an expression is read for each item. n8n takes half a millisecond to evaluate one, far more than
 * everything else that an item needs before it is sent. So text with fields of the input item is put together here.
 * Other text is asked for as the list of its parts: so it is known which of them gave nothing. What n8n gives for the
 * first item decides what is done for all:
 * - `join`: the parts make the same text, so n8n need not be asked for the whole.
 * - `compare`: they don't, such as with the time in milliseconds, but the text is made of them: they are asked for as
 *   well, for those that give nothing.
 * - `ask`: n8n is asked for the whole alone, because it may read the text in another way.
 */
export class Template {
	private readonly pieces: readonly Piece[];
	private readonly codes: readonly string[];
	/** Missing before the first item. */
	private mode: 'join' | 'compare' | 'ask' | undefined;

	/** @param expression without the equals sign in front of it */
	constructor(
		expression: string,
		private readonly n8n: Evaluator,
	) {
		this.pieces = toPieces(expression);
		this.codes = this.pieces.flatMap((piece) => ('code' in piece ? [piece.code] : []));
		if (this.codes.length === 0) this.mode = 'ask';
	}

	/** @throws what n8n throws if the expression can't be evaluated */
	read(itemIndex: number, json: unknown): EvaluatedValue {
		if (this.mode === 'join') {
			const { text, emptyPart } = this.join(itemIndex, json);
			return { value: text ?? this.n8n.value(itemIndex), emptyPart };
		}
		const value = this.n8n.value(itemIndex);
		if (this.mode === 'ask') return { value };
		const joined = this.tryJoin(itemIndex, json);
		this.mode ??= this.modeFor(value, joined);
		return this.mode === 'ask' ? { value } : { value, emptyPart: joined?.emptyPart };
	}

	private modeFor(value: unknown, joined: JoinedText | undefined): 'join' | 'compare' | 'ask' {
		if (joined === undefined) return 'ask';
		if (joined.text !== undefined && joined.text === value) return 'join';
		return this.pieces.length > 1 && isMadeOf(value, this.pieces) ? 'compare' : 'ask';
	}

	/** Joins the parts; returns `undefined` if they can't be evaluated one by one. */
	private tryJoin(itemIndex: number, json: unknown): JoinedText | undefined {
		try {
			return this.join(itemIndex, json);
		} catch {
			return undefined;
		}
	}

	private join(itemIndex: number, json: unknown): JoinedText {
		const texts = this.codes.flatMap((code) => textAt(json, code) ?? []);
		const areAllTexts = texts.length === this.codes.length;
		// An expression alone may give a value of any type.
		if (this.pieces.length === 1) return { text: areAllTexts ? texts[0] : undefined };
		const values = areAllTexts ? texts : this.evaluateParts(itemIndex);
		const empty = values.findIndex(isNothing);
		const emptyPart = empty === -1 ? undefined : `{{${this.codes[empty]}}}`;
		const parts = values.map(toText);
		if (parts.includes(undefined)) return { text: undefined, emptyPart };
		const text = this.pieces.map((piece) => ('literal' in piece ? piece.literal : parts.shift()));
		return { text: text.join(''), emptyPart };
	}

	private evaluateParts(itemIndex: number): unknown[] {
		// A comment at the end of a part ends with its line.
		const list = this.codes.map((code) => `(\n${code}\n)`).join(',');
		const values = this.n8n.evaluate(`{{ [${list}] }}`, itemIndex);
		if (Array.isArray(values) && values.length === this.codes.length) return values;
		// n8n gives nothing for a list with a field of a field that is missing. Alone each part gives what it gives.
		return this.codes.map((code) => this.n8n.evaluate(`{{${code}}}`, itemIndex));
	}
}
