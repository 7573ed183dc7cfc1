import type { Field, ItemParameters } from '../n8n/parameters';
import { countCharacters, hiddenIn, isWebUrl, quote, trimBlanks } from '../service/text';
import type { InvalidInput } from '../service/thrown';
import { decodeAmpersands, decodeEntities } from './entities';
import { judge } from './judge';
import type { readTextChanges } from './options';
import { htmlToText, shorten, toOneLine, withoutHalves } from './texts';
import type { UtmParameter } from './utm';
import { addUtm } from './utm';
import { invalid, isBlank, missing, toText } from './values';

/** What reading a text of a send needs beside its field. */
export interface TextSource {
	readonly item: ItemParameters;
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
	{ limit, isOneLine }: { readonly limit: number; readonly isOneLine: boolean },
): string {
	const given = toText(field, item.get(field));
	const plain = withoutHalves(changes.htmlToText ? htmlToText(given) : given);
	const text = trimBlanks(isOneLine ? toOneLine(plain) : plain);
	judge(item, field, text, true);
	if (isBlank(text)) return '';
	if (changes.shortenTexts) return checkLength(field, shorten(text, limit), limit, 'Shorten it.');
	return checkLength(field, text, limit, 'Shorten it, or add the option Shorten Long Texts.');
}

/** Why a text is no address: most of them are one but for a character. */
function refuseUrl(field: Field, url: string): InvalidInput {
	const hidden = hiddenIn(url)?.codePointAt(0)?.toString(16).toUpperCase().padStart(4, '0');
	if (/^https?:/i.test(url) && /\s/.test(url)) {
		return invalid(field, `has a blank in it: ${quote(url)}`, 'Write %20 instead of the blank.');
	}
	if (/^https?:/i.test(url) && hidden !== undefined) {
		const what = `holds a character that nobody sees (U+${hidden}): ${quote(url)}`;
		return invalid(field, what, 'Type the address instead of copying it.');
	}
	return invalid(
		field,
		`is not an http:// or https:// address: ${quote(url)}`,
		'Enter the full address, such as https://www.example.com/page.',
	);
}

function readUrl({ item, changes }: TextSource, field: Field): string {
	const given = toText(field, item.get(field));
	const url = trimBlanks(changes.htmlToText ? decodeEntities(given) : decodeAmpersands(given));
	judge(item, field, url);
	if (isBlank(url)) return '';
	if (isWebUrl(url)) return url;
	throw refuseUrl(field, url);
}

/** Reads an address that subscribers follow, with the UTM parameters; empty if there is none. */
export function readLink(source: TextSource, field: Field, limit: number): string {
	const url = readUrl(source, field);
	if (url === '') return '';
	const link = addUtm(url, source.utm);
	const advice =
		link === url
			? 'Enter a shorter address.'
			: `Shorten it or the UTM parameters: it is ${countCharacters(url)} characters long without them.`;
	return checkLength(field, link, limit, advice);
}

/** Reads the address of a picture; empty if there is none. */
export function readPicture(source: TextSource, field: Field): string {
	const url = readUrl(source, field);
	if (url === '' || /^https:/i.test(url)) return url;
	throw invalid(field, `is not an https:// address: ${quote(url)}`, 'Enter an https:// address.');
}
