import type { Field, ItemParameters } from '../n8n/parameters';
import { countCharacters, hasWrongHost, isDoubled, isWebUrl, quote } from '../service/text';
import { decodeAmpersands, decodeEntities } from './entities';
import { htmlToText } from './html';
import { readText } from './judge';
import { readTextChanges } from './options';
import { addUtm, readUtm } from './utm';
import { invalid } from './values';

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

/** @throws InvalidInput if a text has more code points than the service accepts */
function checkLength(field: Field, text: string, limit: number, fix: string): string {
	const length = countCharacters(text);
	if (length <= limit) return text;
	const what = `is ${length} characters long, ${length - limit} more than the ${limit} that the service accepts`;
	throw invalid(field, what, fix);
}

/** Reads a text that people see. Cutting comes last: it could hide what is wrong. */
export function readSeenText(
	item: ItemParameters,
	field: Field,
	limit: number,
	use: 'line' | 'lines' = 'line',
): string {
	const changes = readTextChanges(item);
	const text = readText(item, field, use, changes.htmlToText ? htmlToText : undefined);
	if (changes.shortenTexts) return checkLength(field, shorten(text, limit), limit, 'Shorten it.');
	return checkLength(field, text, limit, 'Shorten it, or add the option Shorten Long Texts.');
}

/** Why most texts that are no address are none: each is one but for a character. */
const urlFaults = [
	{
		isIn: isDoubled,
		what: 'is one address behind another',
		fix: 'Leave out one of them.',
	},
	{
		isIn: (url: string) => /^https?:/i.test(url) && /\s/.test(url),
		what: 'has a blank in it',
		fix: 'Write %20 instead of the blank.',
	},
	{
		isIn: hasWrongHost,
		what: "has a host that can't be one",
		fix: 'Correct it, as in https://www.example.com/page.',
	},
];

function readUrl(item: ItemParameters, field: Field, schemes: string): string {
	const decode = readTextChanges(item).htmlToText ? decodeEntities : decodeAmpersands;
	const url = readText(item, field, 'exact', decode);
	if (url === '' || isWebUrl(url)) return url;
	const { what, fix } = urlFaults.find(({ isIn }) => isIn(url)) ?? {
		what: `is not an ${schemes} address`,
		fix: 'Enter the full address, such as https://www.example.com/page.',
	};
	throw invalid(field, `${what}: ${quote(url)}`, fix);
}

/** Reads an address that subscribers follow, as it was entered; empty if there is none. */
export const readAddress = (item: ItemParameters, field: Field): string =>
	readUrl(item, field, 'http:// or https://');

/** Adds the UTM parameters of an item to an address. */
export function toLink(item: ItemParameters, field: Field, url: string, limit: number): string {
	const link = url === '' ? '' : addUtm(url, readUtm(item));
	if (link === url) return checkLength(field, link, limit, 'Enter a shorter address.');
	const fix = `Shorten it or the UTM parameters: it is ${countCharacters(url)} characters long without them.`;
	return checkLength(field, link, limit, fix);
}

/** Reads the address of a picture; empty if there is none. */
export function readPicture(item: ItemParameters, field: Field): string {
	const url = readUrl(item, field, 'https://');
	if (url === '' || /^https:/i.test(url)) return url;
	const what = `is not an https:// address: ${quote(url)}`;
	throw invalid(field, what, 'Enter one that begins with https://, which a picture needs.');
}
