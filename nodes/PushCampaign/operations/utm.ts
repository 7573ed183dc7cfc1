import type { Field, ItemParameters } from '../n8n/parameters';
import { countCharacters, parseUrl } from '../service/text';
import { readAddress, readText, requireLength } from './textFields';
import { fieldOf, groupIn, groupOf, textProperty } from './values';

/** In the order in which they are written into a URL. */
const parts = [
	textProperty('Source', 'source', { placeholder: 'e.g. web_push' }),
	textProperty('Medium', 'medium', { placeholder: 'e.g. push' }),
	textProperty('Campaign', 'campaign', { placeholder: 'e.g. summer_sale' }),
	textProperty('Term', 'term', { placeholder: 'e.g. running shoes' }),
	textProperty('Content', 'content', { placeholder: 'e.g. title_b' }),
];

export const utmParameters = {
	displayName: 'UTM Parameters',
	name: 'utmParameters',
	placeholder: 'Add Parameters',
	description: 'Added to the target URL and to the URLs of buttons',
	...groupOf('Parameters', 'parameters', parts),
};

type UtmParameter = readonly [name: string, value: string];

/** Reads the UTM parameters of an item that are not blank, by their names in a URL. */
function readUtm(item: ItemParameters): UtmParameter[] {
	const entered = groupIn(fieldOf(utmParameters, 'additionalFields'), 'parameters');
	return parts.flatMap((property): UtmParameter[] => {
		const value = readText(item, fieldOf(property, entered), 'parameter');
		return value === '' ? [] : [[`utm_${property.name}`, value]];
	});
}

/**
 * Adds parameters to a URL's query, in front of its fragment. Nothing else of it changes: the URL parser would write
 * hosts, percent codes and pluses in its own way. A parameter that the URL has already stays as it is.
 */
export function addUtm(url: string, parameters: readonly UtmParameter[]): string {
	const present = [...(parseUrl(url)?.searchParams.keys() ?? [])].map((name) => name.toLowerCase());
	const added = parameters
		.filter(([name]) => !present.includes(name))
		.map(([name, value]) => `${name}=${encodeURIComponent(value)}`);
	if (added.length === 0) return url;
	const separator = /^[^#]*\?/.test(url) ? '&' : '?';
	return url.replace(/#|$/, (end) => `${separator}${added.join('&')}${end}`);
}

/** Reads an address that subscribers follow, with the UTM parameters of the item; empty if there is none. @throws InvalidInput */
export function readLink(item: ItemParameters, field: Field, limit: number): string {
	const url = readAddress(item, field);
	if (url === '') return url;
	const link = addUtm(url, readUtm(item));
	const fix =
		link === url
			? 'Enter a shorter address.'
			: `Shorten it or the UTM parameters: it is ${countCharacters(url)} characters long without them.`;
	return requireLength(field, link, limit, fix);
}
