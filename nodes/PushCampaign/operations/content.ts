import type { Field, ItemParameters } from '../n8n/parameters';
import type { Audience } from '../service/rules';
import { countCharacters, hasWrongHost, isDoubled, isWebUrl, quote } from '../service/text';
import type { InvalidInput } from '../service/thrown';
import { decodeAmpersands, decodeEntities } from './entities';
import { htmlToText } from './html';
import type { readTextChanges } from './options';
import { readText } from './readText';
import type { UtmParameter } from './utm';
import { addUtm } from './utm';
import { invalid } from './values';

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

/** What reading a text of a send needs beside its field. */
export interface TextSource {
	readonly item: ItemParameters;
	readonly audience: Audience;
	readonly changes: ReturnType<typeof readTextChanges>;
	readonly utm: readonly UtmParameter[];
}

/** @throws InvalidInput if a text has more code points than the service accepts */
function checkLength(field: Field, text: string, limit: number, advice: string): string {
	const length = countCharacters(text);
	if (length <= limit) return text;
	const what = `is ${length} characters long, ${length - limit} more than the ${limit} that the service accepts`;
	throw invalid(field, what, advice);
}

/** Reads a text that people see. Cutting comes last: it could hide what is wrong. */
export function readSeenText(
	{ item, changes }: TextSource,
	field: Field,
	limit: number,
	use: 'line' | 'lines' = 'line',
): string {
	const text = readText(item, field, use, changes.htmlToText ? htmlToText : undefined);
	if (changes.shortenTexts) return checkLength(field, shorten(text, limit), limit, 'Shorten it.');
	return checkLength(field, text, limit, 'Shorten it, or add the option Shorten Long Texts.');
}

/** Why a text is no address: most of them are one but for a character. */
function refuseUrl(field: Field, url: string, schemes: string): InvalidInput {
	if (isDoubled(url)) {
		return invalid(field, `is one address behind another: ${quote(url)}`, 'Leave out one of them.');
	}
	if (/^https?:/i.test(url) && /\s/.test(url)) {
		return invalid(field, `has a blank in it: ${quote(url)}`, 'Write %20 instead of the blank.');
	}
	if (hasWrongHost(url)) {
		const what = `has a host that can't be one: ${quote(url)}`;
		return invalid(field, what, 'Correct it, as in https://www.example.com/page.');
	}
	const advice = 'Enter the full address, such as https://www.example.com/page.';
	return invalid(field, `is not an ${schemes} address: ${quote(url)}`, advice);
}

function readUrl({ item, changes }: TextSource, field: Field, schemes: string): string {
	const decode = changes.htmlToText ? decodeEntities : decodeAmpersands;
	const url = readText(item, field, 'exact', decode);
	if (url === '' || isWebUrl(url)) return url;
	throw refuseUrl(field, url, schemes);
}

/** Reads an address that subscribers follow, as it was entered; empty if there is none. */
export const readAddress = (source: TextSource, field: Field): string =>
	readUrl(source, field, 'http:// or https://');

/** Adds the UTM parameters to an address. */
export function toLink({ utm }: TextSource, field: Field, url: string, limit: number): string {
	const link = url === '' ? '' : addUtm(url, utm);
	if (link === url) return checkLength(field, link, limit, 'Enter a shorter address.');
	const advice = `Shorten it or the UTM parameters: it is ${countCharacters(url)} characters long without them.`;
	return checkLength(field, link, limit, advice);
}

/** Reads the address of a picture; empty if there is none. */
export function readPicture(source: TextSource, field: Field): string {
	const url = readUrl(source, field, 'https://');
	if (url === '' || /^https:/i.test(url)) return url;
	const what = `is not an https:// address: ${quote(url)}`;
	throw invalid(field, what, 'Enter one that begins with https://, which a picture needs.');
}
