import type { Field, ItemParameters } from '../n8n/parameters';
import type { Audience } from '../service/rules';
import {
	countCharacters,
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
import { shorten, toOneLine, toPrintable } from './shorten';
import type { UtmParameter } from './utm';
import { addUtm } from './utm';
import { invalid, isBlank, missing, toText } from './values';

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

/**
 * Reads a text that people see; empty if nothing of it is visible. It is judged whole: cutting could hide what is wrong
 * with it.
 */
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
	throw invalid(field, `is not an https:// address: ${quote(url)}`, 'Enter an https:// address.');
}
