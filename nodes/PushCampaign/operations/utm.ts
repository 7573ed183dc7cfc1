import type { ItemParameters } from '../n8n/parameters';
import { parseUrl } from '../service/text';
import { readText } from './judge';
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

export type UtmParameter = readonly [name: string, value: string];

/** Reads the UTM parameters of an item that are not blank, by their names in a URL. */
export function readUtm(item: ItemParameters): UtmParameter[] {
	const entered = groupIn(fieldOf(utmParameters, 'additionalFields'), 'parameters');
	return parts.flatMap((property): UtmParameter[] => {
		const value = readText(item, fieldOf(property, entered), 'other');
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
