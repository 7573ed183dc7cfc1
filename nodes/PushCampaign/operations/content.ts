import type { Field, ItemParameters } from '../n8n/parameters';
import type { Audience } from '../service/rules';
import {
	countCharacters,
	hasWrongHost,
	isDoubled,
	isWebUrl,
	quote,
	trimBlanks,
	trimHidden,
} from '../service/text';
import type { InvalidInput } from '../service/thrown';
import { decodeAmpersands, decodeEntities } from './entities';
import { htmlToText } from './html';
import { judge } from './judge';
import type { readTextChanges } from './options';
import type { UtmParameter } from './utm';
import { addUtm } from './utm';
import { invalid, isBlank, missing, toText } from './values';

/** Makes one line of a text: any run of blanks and line breaks counts as one blank. */
export const toOneLine = (text: string): string =>
	text.replace(/\s{2,}|[\t-\r\u0085\u2028\u2029]/g, ' ');

/** Leaves out control characters but blanks and line breaks, and halves of characters, such as of an emoji that was cut. */
const toPrintable = (text: string): string =>
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

/** @throws InvalidInput if a text that has to be there is empty */
export function requireText(item: ItemParameters, field: Field, text: string): string {
	if (text === '') throw missing(item, field);
	return text;
}

/** Reads a text that people see; empty if nothing of it is visible. Cutting comes last: it could hide what is wrong. */
export function readSeenText(
	{ item, changes }: TextSource,
	field: Field,
	limit: number,
	isOneLine = true,
): string {
	const given = toText(field, item.get(field));
	const whole = toPrintable(changes.htmlToText ? htmlToText(given) : given);
	const text = trimBlanks(isOneLine ? toOneLine(whole) : whole);
	judge(item, field, text, 'seen');
	if (isBlank(text)) return '';
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
	const given = toText(field, item.get(field));
	const url = trimHidden(changes.htmlToText ? decodeEntities(given) : decodeAmpersands(given));
	judge(item, field, url, 'exact');
	if (isBlank(url)) return '';
	if (isWebUrl(url)) return url;
	throw refuseUrl(field, url, schemes);
}

/** Reads an address that subscribers follow, with the UTM parameters; empty if there is none. */
export function readLink(source: TextSource, field: Field, limit: number): string {
	const url = readUrl(source, field, 'http:// or https://');
	if (url === '') return '';
	const link = addUtm(url, source.utm);
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
