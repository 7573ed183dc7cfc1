import type { Field, ItemParameters } from '../n8n/parameters';
import { trimBlanks, trimHidden } from '../service/text';
import { decodeEntities } from './entities';
import { judge } from './judge';
import type { Use } from './parts';
import { isBlank, missing, toText } from './values';

/** Makes one line of a text: any run of blanks and line breaks counts as one blank. */
export const toOneLine = (text: string): string => text.replace(/\s{2,}|[\t-\r\u2028\u2029]/g, ' ');

/** Reads U+0080 to U+009F as browsers read these numbers in entities: old pages and feeds mean Windows-1252. */
const fromWindows1252 = (text: string): string =>
	text.replace(/[\u0080-\u009F]/g, (character) => decodeEntities(`&#${character.charCodeAt(0)};`));

/** Leaves out control characters but blanks and line breaks, and halves of characters, such as of an emoji that was cut. */
const toPrintable = (text: string): string =>
	fromWindows1252(text).replace(/(?!\s)\p{Cc}|\p{Surrogate}/gu, '');

/** What is left out of a text, and nobody misses. */
const cleaned: Readonly<Record<Use, (text: string) => string>> = {
	line: (text) => trimBlanks(toOneLine(toPrintable(text))),
	lines: (text) => trimBlanks(toPrintable(text)),
	exact: trimHidden,
	attribute: trimHidden,
	other: trimHidden,
};

/**
 * Reads a text, or a number or a date as its text: empty if there is none, or nothing of it is visible.
 * @param change what becomes of it before anything else
 * @throws InvalidInput if it is none, or nobody meant it
 */
export function readText(
	item: ItemParameters,
	field: Field,
	use: Use,
	change?: (text: string) => string,
): string {
	const given = toText(field, item.get(field));
	const text = cleaned[use](change?.(given) ?? given);
	judge(item, field, text, use, change);
	return isBlank(text) ? '' : text;
}

/** @throws InvalidInput if a text that has to be there is empty */
export function requireText(item: ItemParameters, field: Field, text: string): string {
	if (text === '') throw missing(item, field);
	return text;
}
