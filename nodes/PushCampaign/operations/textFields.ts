import type { Field, ItemParameters } from '../n8n/parameters';
import { countCharacters, isWebUrl, quote } from '../service/text';
import { toMeant } from '../texts/meant';
import type { Use } from '../texts/parts';
import { isSeen } from '../texts/parts';
import { shorten } from '../texts/shorten';
import { invalid, isOn, missing, sourceOf, switchProperty, toText } from './values';

export const htmlToText = switchProperty(
	'Convert HTML to Text',
	'htmlToText',
	// n8n shows descriptions as HTML.
	'Whether to turn &lt;b&gt;Sale&lt;/b&gt; &amp;amp; more into Sale &amp; more',
);

export const shortenTexts = switchProperty(
	'Shorten Long Texts',
	'shortenTexts',
	'Whether to cut texts that are too long instead of refusing them',
);

/** @throws InvalidInput if a text has more code points than the service accepts */
export function requireLength(field: Field, text: string, limit: number, fix: string): string {
	const length = countCharacters(text);
	if (length <= limit) return text;
	const what = `is ${length} characters long, ${length - limit} more than the ${limit} that the service accepts`;
	throw invalid(field, what, fix);
}

/**
 * Reads a text, or a number or a date as its text: empty if there is none, or nothing of it is visible.
 * @param limit in code points, of a text that people see. It is cut last: else cutting could hide what is wrong
 * @throws InvalidInput if it is none, nobody meant it, or it is too long
 */
export function readText(
	item: ItemParameters,
	field: Field,
	use: Use,
	limit = Number.POSITIVE_INFINITY,
): string {
	const entered = toText(field, item.get(field));
	const isHtml = (isSeen(use) || use === 'address') && isOn(item, htmlToText);
	const text = toMeant(sourceOf(item, field), entered, use, isHtml);
	if (!isSeen(use)) return text;
	const seen = isOn(item, shortenTexts) ? shorten(text, limit) : text;
	return requireLength(field, seen, limit, "Shorten it, or add the option 'Shorten Long Texts'.");
}

/** @throws InvalidInput if a text that has to be there is empty */
export function requireText(item: ItemParameters, field: Field, text: string): string {
	if (text === '') throw missing(item, field);
	return text;
}

const notAddress = (field: Field, schemes: string, url: string) => {
	const fix = 'Enter the full address, such as https://www.example.com/page.';
	return invalid(field, `is not an ${schemes} address: ${quote(url)}`, fix);
};

/** Reads an address that subscribers follow, as it was entered; empty if there is none. @throws InvalidInput */
export function readAddress(item: ItemParameters, field: Field): string {
	const url = readText(item, field, 'address');
	if (url === '' || isWebUrl(url)) return url;
	throw notAddress(field, 'http:// or https://', url);
}

/** Reads the address of a picture; empty if there is none. @throws InvalidInput */
export function readPicture(item: ItemParameters, field: Field): string {
	const url = readText(item, field, 'address');
	if (url === '' || (isWebUrl(url) && /^https:/i.test(url))) return url;
	throw notAddress(field, 'https://', url);
}
