import { countCharacters } from '../service/text';

/** Makes one line of a text: any run of blanks and line breaks counts as one blank. */
export const toOneLine = (text: string): string =>
	text.replace(/\s{2,}|[\t-\r\u0085\u2028\u2029]/g, ' ');

/** Leaves out control characters but blanks and line breaks, and halves of characters, such as of an emoji that was cut. */
export const toPrintable = (text: string): string =>
	text.replace(/(?![\s\u0085])\p{Cc}|\p{Surrogate}/gu, '');

/** What is dropped in front of the ellipsis. */
const dangling = /(?<![\s,;:.…–—-])[\s,;:.…–—-]+$/u;

const graphemes = new Intl.Segmenter('en', { granularity: 'grapheme' });

/** The graphemes at the beginning of a text that fit into a number of code points. */
function fitting(text: string, limit: number): string {
	let end = 0;
	for (const { segment, index } of graphemes.segment(text)) {
		const next = index + segment.length;
		if (countCharacters(text.slice(0, next)) > limit) break;
		end = next;
	}
	return text.slice(0, end);
}

/**
 * Cuts a text that has more than `limit` code points: behind the last word that fits if more than half of the limit
 * stays, else behind a grapheme, which is what people see as one character. It ends in an ellipsis, which counts. A text
 * of which not even the first grapheme fits stays as it is.
 */
export function shorten(text: string, limit: number): string {
	const codePoints = Array.from(text);
	if (codePoints.length <= limit) return text;
	// The one in the ellipsis's place shows whether a word ends in front of it.
	const start = codePoints.slice(0, limit).join('');
	const words = start.replace(/(?:^|\s)\S*$/u, '').replace(dangling, '');
	if (countCharacters(words) > limit / 2) return `${words}…`;
	const kept = fitting(start, limit - 1).replace(dangling, '');
	return kept === '' ? text : `${kept}…`;
}
