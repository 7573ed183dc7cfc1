import type { Field, ItemParameters } from '../n8n/parameters';
import { countCharacters, isWebUrl, quote } from '../service/text';
import type { TextChanges } from './options';
import { decodeEntities, htmlToText, shorten, withoutHalves } from './texts';
import type { UtmParameter } from './utm';
import { addUtm } from './utm';
import { checkText, invalid, toText } from './values';

/** What reading a text of a send needs beside its field. */
export interface TextSource {
	readonly item: ItemParameters;
	readonly changes: TextChanges;
	readonly utm: readonly UtmParameter[];
}

/** @throws InvalidInput if a text has more code points than the service accepts */
function checkLength(field: Field, text: string, limit: number, advice: string): string {
	const length = countCharacters(text);
	if (length <= limit) return text;
	const what = `is ${length} characters long, ${length - limit} more than the ${limit} that the service accepts`;
	throw invalid(field, what, advice);
}

/** Reads a text that people see. It is judged whole: cutting could hide what is wrong with it. */
export function readSeenText(source: TextSource, field: Field, limit: number): string {
	const { item, changes } = source;
	const given = toText(field, item.get(field));
	const plain = withoutHalves(changes.htmlToText ? htmlToText(given) : given).trim();
	const text = checkText(item, field, plain);
	if (changes.shortenTexts) return checkLength(field, shorten(text, limit), limit, 'Shorten it.');
	return checkLength(field, text, limit, 'Shorten it, or add the option Shorten Long Texts.');
}

function readUrl({ item, changes }: TextSource, field: Field): string {
	const given = toText(field, item.get(field));
	const url = checkText(item, field, changes.htmlToText ? decodeEntities(given).trim() : given);
	if (isWebUrl(url)) return url;
	throw invalid(
		field,
		`is not an http:// or https:// address: ${quote(url)}`,
		'Enter the full address, such as https://www.example.com/page.',
	);
}

/** Reads an address that subscribers follow, with the UTM parameters. */
export function readLink(source: TextSource, field: Field, limit: number): string {
	const url = readUrl(source, field);
	const link = addUtm(url, source.utm);
	const advice =
		link === url
			? 'Enter a shorter address.'
			: `Shorten it or the UTM parameters: it is ${countCharacters(url)} characters long without them.`;
	return checkLength(field, link, limit, advice);
}

/** Reads the address of a picture. */
export function readPicture(source: TextSource, field: Field): string {
	const url = readUrl(source, field);
	if (/^https:/i.test(url)) return url;
	throw invalid(field, `is not an https:// address: ${quote(url)}`, 'Enter an https:// address.');
}
