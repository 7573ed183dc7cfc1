import { countCharacters } from '../service/text';
import { decodeEntities } from './entities';
import { halfCharacters } from './judge';

/** Makes one line of a text: any run of blanks and line breaks counts as one blank. */
export const toOneLine = (text: string): string =>
	text.replace(/\s{2,}|[\t-\r\u0085\u2028\u2029]/g, ' ');

/** Leaves out halves of characters, such as of an emoji that was cut. */
export const withoutHalves = (text: string): string => text.replace(halfCharacters, '');

const names = (list: string) => list.replace(/\s+/g, '|');
/** Elements at which a new line begins. */
const block =
	names(`address article aside blockquote body br button caption center dd details div dl dt fieldset
	figcaption figure footer form h1 h2 h3 h4 h5 h6 head header hr html iframe img li link main meta nav ol option p pre
	script section select source style summary table tbody td tfoot th thead title tr ul video`);
const inline =
	names(`a abbr audio b bdi bdo big cite code data del dfn em embed font i input ins kbd label mark object
	param picture q s samp small span strike strong sub sup svg textarea time tt u var wbr`);
/** Names with a hyphen or a colon are those of custom elements and of XML. */
const element = `${block}|${inline}|[a-z][a-z\\d]*[:-][a-z\\d:-]+`;

const tag = new RegExp(`</?(${element})(\\s(?:"[^"<]*"|'[^'<]*'|[^<>"'])*)?/?>`, 'gi');
/** A tag that was cut off with the end of the text. */
const cutTag = new RegExp(`<(?:/(?:${element})|(?:${element})\\s[^<>=]*=[^<>]*)$`, 'i');
const isBlock = new RegExp(`^(?:${block})$`, 'i');

/** How feeds wrap HTML. */
const cdata = /<!\[CDATA\[([^]*?)(?:\]\]>|$)/g;
/** What a page does not show: a declaration and an instruction, too. */
const unseen =
	/<(script|style)\b[^<>]*>[^]*?(?:<\/\1\s*>|$)|<!--[^]*?(?:-->|$)|<[!?][a-z][^<>]*>/gi;

function withoutTag(whole: string, name: string, attributes = ''): string {
	// `a <b or c> d` is text.
	const isTag = /^[\s/]*$/.test(attributes) || attributes.includes('=');
	if (!isTag) return whole;
	return isBlock.test(name) ? ' ' : '';
}

/** Makes plain text of HTML: without its tags, a blank in the place of those at which a new line begins. */
export function htmlToText(text: string): string {
	const withoutTags = text
		.replace(cdata, '$1')
		.replace(unseen, ' ')
		.replace(tag, withoutTag)
		.replace(cutTag, '');
	// Without a tag it may be text that has its line breaks for a reason.
	const plain = withoutTags === text ? text : withoutTags.replace(/[ \t\r\n]+/g, ' ');
	return decodeEntities(plain).trim();
}

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
