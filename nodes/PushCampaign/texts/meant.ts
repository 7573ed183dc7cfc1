import { isBlankText, trimBlanks, trimHidden } from '../service/text';
import { decodeAmpersands, decodeEntities } from './entities';
import { htmlToText } from './html';
import { judge } from './judge';
import type { Source, Use } from './parts';
import { isSeen } from './parts';

/** Makes one line of a text: any run of blanks and line breaks counts as one blank. */
const toOneLine = (text: string): string => text.replace(/\s{2,}|[\t-\r\u2028\u2029]/g, ' ');

/** Reads U+0080 to U+009F as browsers read these numbers in entities: old pages and feeds mean Windows-1252. */
const fromWindows1252 = (text: string): string =>
	text.replace(/[\u0080-\u009F]/g, (character) => decodeEntities(`&#${character.charCodeAt(0)};`));

/** Leaves out control characters but blanks and line breaks, and halves of characters, such as of an emoji that was cut. */
const toPrintable = (text: string): string =>
	fromWindows1252(text).replace(/(?!\s)\p{Cc}|\p{Surrogate}/gu, '');

const toCompared = (text: string): string => trimHidden(toPrintable(text));

/** What is left out of a text, and nobody misses. */
const cleaned: Readonly<Record<Use, (text: string) => string>> = {
	line: (text) => trimBlanks(toOneLine(toPrintable(text))),
	lines: (text) => trimBlanks(toPrintable(text)),
	address: trimHidden,
	attribute: toCompared,
	id: trimHidden,
	parameter: toCompared,
};

/** What HTML becomes. The ampersands of an address are decoded in any case. */
function converterOf(use: Use, isHtml: boolean): (text: string) => string {
	if (use === 'address') return isHtml ? decodeEntities : decodeAmpersands;
	return isHtml && isSeen(use) ? htmlToText : (text) => text;
}

/**
 * Makes of a text that was entered the one that is meant: empty if nothing of it is visible.
 * @param isHtml whether it is converted from HTML, before anything else
 * @throws InvalidInput if nobody meant it
 */
export function toMeant(source: Source, entered: string, use: Use, isHtml = false): string {
	const convert = converterOf(use, isHtml);
	const text = cleaned[use](convert(entered));
	judge(source, text, use, convert);
	return isBlankText(text) ? '' : text;
}
