import { countCharacters } from '../service/text';

/** What a text ends in that was cut. It counts as one character. */
export const ellipsis = '…';

/** Scripts that write words without blanks between them, and their punctuation. */
const unspaced =
	/[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}\u3000-\u303f\uff00-\uffef]$/u;

/** What looks odd in front of an ellipsis. */
const dangling = /[\s,;:.…–—-]+$/u;

const segmenter = (granularity: 'grapheme' | 'word') => new Intl.Segmenter('en', { granularity });
let segmenters: { readonly graphemes: Intl.Segmenter; readonly words: Intl.Segmenter } | undefined;

/** Where the segment begins that holds this place of a text. */
const startAt = (segments: Intl.Segments, place: number) => segments.containing(place)?.index ?? 0;

/** The last place up to `end` where a word ends; 0 where there is none. */
function wordEnd(text: string, end: number, words: Intl.Segments): number {
	if (/^\s/.test(text.slice(end, end + 1))) return end;
	const head = text.slice(0, end);
	const blank = /\s+\S*$/u.exec(head)?.index ?? 0;
	// Where blanks part the words, nothing else does: "20%" and "don't" are not to be taken apart.
	const start = startAt(words, end);
	return unspaced.test(text.slice(0, start)) ? start : blank;
}

/**
 * Cuts a text that is longer than `limit` code points, at the end of a word where possible and never
 * inside a grapheme (what people see as one character: a family emoji is seven code points), and ends it
 * in an ellipsis, which is counted. Where not even the first grapheme fits, the ellipsis is all that is left.
 * @param limit code points, at least 1
 */
export function shortenText(text: string, limit: number): string {
	if (countCharacters(text) <= limit) return text;
	// Made when they are needed: making them takes longer than reading hundreds of items.
	segmenters ??= { graphemes: segmenter('grapheme'), words: segmenter('word') };
	const room = Array.from(text)
		.slice(0, limit - 1)
		.join('').length;
	const graphemes = segmenters.graphemes.segment(text);
	const cutAt = (place: number) =>
		text.slice(0, startAt(graphemes, text.slice(0, place).replace(dangling, '').length));
	const atWord = cutAt(wordEnd(text, room, segmenters.words.segment(text)));
	return `${atWord === '' ? cutAt(room) : atWord}${ellipsis}`;
}
