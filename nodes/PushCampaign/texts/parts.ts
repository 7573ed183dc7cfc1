import { clip, isBlankText, trimBlanks } from '../service/text';
import { InvalidInput } from '../service/thrown';

/** What a text is for. People see one line of it or several, an address is followed, the others are compared. */
export type Use = 'line' | 'lines' | 'address' | 'attribute' | 'id' | 'parameter';

export const isSeen = (use: Use): boolean => use === 'line' || use === 'lines';

/** What a pair of braces gave. */
interface Part {
	readonly code: string;
	readonly text: string;
}

/** Where a text comes from. */
export interface Source {
	/** The field's name in messages: `'Title'`. */
	readonly label: string;
	/** What is written in the field; undefined if it is typed on Fixed. */
	readonly expression: string | undefined;
	/** What each pair of braces gave, in a text that has more to it. */
	readonly parts: readonly Part[];
	/** The item that the expression reads; a trigger has none. */
	readonly input: unknown;
}

/** What programs, databases and sheets write for a value that is missing, in this spelling alone: "Nan" is a name. */
const missingWord = /^(?:undefined|null|NULL|NaN|nan|None|N\/A|\\N|[+-]?Infinity)$/;
/** An attribute may be *None*. */
const missingAttribute = /^(?:undefined|null|NaN|[+-]?Infinity)$/;

/** What a sheet shows for a formula without a result, in English, German and French: `#SALE!` is somebody's text. */
const sheetError =
	/^#(?:N\/A|NAME\?|NV|NOM\?|(?:NULL|DIV\/0|VALUE|REF|NUM|ERROR|SPILL|CALC|WERT|BEZUG|ZAHL|KALK|ÜBERLAUF|VALEUR|NOMBRE|NUL|PROPAGATION)!)$|^Err:5\d\d$/;

export const checkExpression = 'Check the expression, and the data that it reads.';

/** Says what a text is, or what code gave, in the place of a value. */
export function noValue(
	{ label, expression, input }: Source,
	gave = 'nothing',
	code = expression,
): InvalidInput {
	const message =
		code === undefined
			? `${label} holds ${gave}, as if a value were missing`
			: `${label}: ${clip(code)} gave ${gave}`;
	if (sheetError.test(gave)) return new InvalidInput(message, 'Correct the formula in the sheet.');
	if (code === undefined) return new InvalidInput(message, `Correct ${label}.`);
	const fix = 'Check the name of the field, and what the item holds.';
	return new InvalidInput(message, input === undefined ? checkExpression : fix);
}

const textIn = (quote: string) =>
	`${quote}[^${quote}\\\\]*(?:\\\\[^]?[^${quote}\\\\]*)*(?:${quote}|$)`;
const quotedText = new RegExp([`'`, `"`, '`'].map(textIn).join('|'), 'g');

/** Code with its texts empty. Of one between backticks what stands in its braces is code. */
export const withoutTexts = (code: string): string =>
	code.replace(quotedText, (text) => {
		const codes = text.startsWith('`') ? text.match(/\$\{[^{}]*/g) : null;
		return `''${codes?.join() ?? ''}`;
	});

/** Whether whoever wrote the code has thought of nothing: by another value in its place, or because it is but a text. */
function mayGiveNothing(code: string): boolean {
	const rest = withoutTexts(code);
	if (rest.trim() === "''") return true;
	// Not `?.`, nor a group of a pattern.
	const choice = rest.search(/(?<!\()\?(?!\.)/);
	return (
		/\|\||&&|\?\?|\$if(?:Empty)?\b/.test(rest) || (choice !== -1 && rest.includes(':', choice))
	);
}

/** Whether somebody wrote a word into the code: `{{ $json.price ?? 'N/A' }}`. */
const isWritten = (code: string, word: string): boolean =>
	[`'`, `"`, '`'].some((quote) => code.includes(`${quote}${word}${quote}`));

/**
 * Requires values in a text: neither it nor a part of it may be a word for a missing one, and each part has to give something.
 * @param toShown what becomes of a text before people see it
 * @throws InvalidInput
 */
export function requireValues(
	source: Source,
	text: string,
	use: Use,
	toShown: (text: string) => string,
): void {
	const words = use === 'attribute' ? missingAttribute : missingWord;
	const isMissing = (word: string, code = '') =>
		(words.test(word) || sheetError.test(word)) && !isWritten(code, word);
	const whole = trimBlanks(text);
	if (isMissing(whole, source.expression)) throw noValue(source, whole);
	for (const { code, text } of source.parts) {
		const written = `{{${code}}}`;
		const word = trimBlanks(text);
		const isFalse = isSeen(use) && word === 'false' && !isWritten(code, word);
		if (isFalse || isMissing(word, code)) throw noValue(source, word, written);
		// A list of nothing is commas.
		const isNothing = isBlankText(toShown(text).replaceAll(',', ''));
		if (isNothing && !mayGiveNothing(code)) throw noValue(source, 'nothing', written);
	}
}
