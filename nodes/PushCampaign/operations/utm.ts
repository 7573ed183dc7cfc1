import type { INodeProperties } from 'n8n-workflow';
import { z } from 'zod/v3';

import { parseUrl } from '../service/address';
import { saying } from '../service/textSchemas';
import { check, isBlank, textProperty, toFields } from './parameters';

/** In the order in which they are written into a URL. */
const parts = [
	['source', 'Source', 'e.g. newsletter', 'Where visitors come from'],
	['medium', 'Medium', 'e.g. push', 'Kind of channel'],
	['campaign', 'Campaign', 'e.g. summer_sale', 'Name of the campaign'],
	['term', 'Term', 'e.g. running shoes', 'Keyword'],
	['content', 'Content', 'e.g. title_b', 'Tells variants of one campaign apart'],
] as const;

const values = parts.map(([name, displayName, placeholder, what]) =>
	textProperty({ displayName, name, placeholder, description: `${what}, sent as utm_${name}` }),
);

export const utmParameters = {
	displayName: 'UTM Parameters',
	name: 'utmParameters',
	type: 'fixedCollection',
	placeholder: 'Add Parameters',
	// n8n's editor drops an empty one as soon as another field is added.
	default: { parameters: Object.fromEntries(parts.map(([name]) => [name, ''])) },
	description:
		'Added to Target URL and to the URL of every button for your web analytics. They count towards the length of a URL. Blank ones are left out, and one that a URL already has stays as it is.',
	options: [{ displayName: 'Parameters', name: 'parameters', values }],
} satisfies INodeProperties;

/** A query parameter's name and value. */
export type UtmParameter = [name: string, value: string];

/** Numbers are meant as they are written. */
const text = z
	.union([z.string(), z.number().finite()], saying('is not text'))
	.transform((given) => String(given).trim());

/**
 * Reads the UTM parameters that were filled in, `['utm_source', 'newsletter']` and so on.
 * @throws InvalidInput naming the parameter
 */
export function readUtm(given: unknown): UtmParameter[] {
	const { displayName } = utmParameters;
	const fields = toFields(toFields(given, displayName)['parameters'], displayName);
	return parts
		.filter(([name]) => !isBlank(fields[name]))
		.map(([name, part]) => [`utm_${name}`, check(text, fields[name], `${part} in ${displayName}`)]);
}

/**
 * Adds parameters to a URL's query, before its fragment. Nothing else of the URL changes: the URL parser
 * would write hosts, percent codes and pluses in its own way. A parameter that the URL has already, in
 * upper or lower case, stays as it is. What is no URL is given back, to be refused where URLs are checked.
 */
export function addUtm(url: unknown, parameters: readonly UtmParameter[]): unknown {
	if (typeof url !== 'string') return url;
	const parsed = parseUrl(url);
	if (parsed === undefined) return url;
	const present = new Set([...parsed.searchParams.keys()].map((name) => name.toLowerCase()));
	const missing = parameters.filter(([name]) => !present.has(name));
	if (missing.length === 0) return url;
	// As %20 a blank is a blank to every reader of a query, a plus only to some.
	const added = new URLSearchParams(missing).toString().replaceAll('+', '%20');
	const separator = /^[^#]*\?/.test(url) ? '&' : '?';
	return url.replace(/#|$/, (end) => `${separator}${added}${end}`);
}
