import { countCharacters } from '../service/text';

/** Characters that are dropped in front of an ellipsis. */
const dangling = /[\s,;:.…–—-]+$/u;

const segmenter = (granularity: 'grapheme' | 'word') => new Intl.Segmenter('en', { granularity });
let segmenters: { readonly graphemes: Intl.Segmenter; readonly words: Intl.Segmenter } | undefined;

/** The last position up to `end` at which a word ends; 0 if there is none. */
function lastWordEnd(text: string, end: number, words: Intl.Segmenter): number {
	let wordEnd = 0;
	let isBeforeWord: boolean | undefined;
	for (const { segment, index, isWordLike } of words.segment(text)) {
		if (index > end) break;
		// Two words without anything between them: a script without blanks. Elsewhere a blank alone parts
		// them, and "20%" and "well-known" stay whole.
		if (segment.trim() === '' || (isBeforeWord && isWordLike)) wordEnd = index;
		isBeforeWord = isWordLike;
	}
	return wordEnd;
}

/**
 * Cuts a text that is longer than `limit` code points, at the end of a word if more than half of the limit stays,
 * and never inside a grapheme (what people see as one character: a family emoji is seven code points), and ends it
 * in an ellipsis, which is counted. A text of which not even the first grapheme fits stays as it is.
 * @param limit code points, at least 1
 */
export function shortenText(text: string, limit: number): string {
	if (countCharacters(text) <= limit) return text;
	// Made when they are needed: making them takes longer than reading hundreds of items.
	segmenters ??= { graphemes: segmenter('grapheme'), words: segmenter('word') };
	const { graphemes, words } = segmenters;
	// What comes long after the cut does not matter, and may be megabytes.
	const characters = Array.from(text).slice(0, 2 * limit);
	const start = characters.join('');
	const end = characters.slice(0, limit - 1).join('').length;
	const cutAt = (position: number) => {
		const { length } = start.slice(0, position).replace(dangling, '');
		return start.slice(0, graphemes.segment(start).containing(length)?.index);
	};
	const wholeWords = cutAt(lastWordEnd(start, end, words));
	// A text whose last word is an address would lose nearly all of it.
	const kept = countCharacters(wholeWords) > limit / 2 ? wholeWords : cutAt(end);
	return kept === '' ? text : `${kept}…`;
}
