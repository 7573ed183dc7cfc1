import { countCharacters } from '../service/text';

/** What is dropped in front of the ellipsis. */
const dangling = /(?<![\s,;:.…–—-])[\s,;:.…–—-]+$/u;

const graphemes = new Intl.Segmenter('en', { granularity: 'grapheme' });

/** The graphemes at the beginning of a text that fit into a number of code points. */
function fitting(text: string, limit: number): string {
	let kept = '';
	for (const { segment } of graphemes.segment(text)) {
		if (countCharacters(kept + segment) > limit) break;
		kept += segment;
	}
	return kept;
}

/**
 * Cuts a text that has more than `limit` code points, behind a word if more than half of the limit stays, else behind a
 * grapheme. It ends in an ellipsis, which counts. If not even its first grapheme fits, it stays as it is.
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
