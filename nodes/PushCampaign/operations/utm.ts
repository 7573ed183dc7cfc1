import type { INodeProperties } from 'n8n-workflow';

import { parseUrl } from '../service/address';
import type { Fields, Parameter } from './parameters';
import { invalid, isBlank, toFields } from './parameters';

const parts = [
	{
		displayName: 'Campaign',
		name: 'campaign',
		type: 'string',
		default: '',
		placeholder: 'e.g. summer_sale',
		description: 'What the notification belongs to, sent as utm_campaign',
	},
	{
		displayName: 'Content',
		name: 'content',
		type: 'string',
		default: '',
		placeholder: 'e.g. title_b',
		description: 'Tells variants of one campaign apart, sent as utm_content',
	},
	{
		displayName: 'Medium',
		name: 'medium',
		type: 'string',
		default: '',
		placeholder: 'e.g. push',
		description: 'The kind of channel, sent as utm_medium',
	},
	{
		displayName: 'Source',
		name: 'source',
		type: 'string',
		default: '',
		placeholder: 'e.g. newsletter',
		description: 'Where visitors come from, sent as utm_source',
	},
	{
		displayName: 'Term',
		name: 'term',
		type: 'string',
		default: '',
		placeholder: 'e.g. running shoes',
		description: 'A keyword, sent as utm_term',
	},
] as const satisfies INodeProperties[];

/** In the order in which they are written into a URL. */
const order = ['source', 'medium', 'campaign', 'term', 'content'] as const;

export const utmParameters = {
	displayName: 'UTM Parameters',
	name: 'utmParameters',
	type: 'fixedCollection',
	placeholder: 'Add Parameters',
	// n8n's editor drops an empty one as soon as another field is added.
	default: { parameters: { source: '', medium: '', campaign: '', term: '', content: '' } },
	description:
		'Added to Target URL and to the URL of every button, for your web analytics. They count towards the length of the URL. What is blank is left out, what a URL has already stays as it is.',
	options: [{ displayName: 'Parameters', name: 'parameters', values: [...parts] }],
} satisfies INodeProperties;

/** A query parameter's name and value. */
export type UtmParameter = readonly [name: string, value: string];

/** What an expression gives for a text: numbers are meant as they are written. */
function toText(value: unknown, { displayName }: Parameter): string {
	if (typeof value === 'string') return value.trim();
	if (typeof value === 'number' && Number.isFinite(value)) return String(value);
	throw invalid(`${displayName} in ${utmParameters.displayName}`, 'is not text');
}

/**
 * Reads the UTM parameters that were filled in, `['utm_source', 'newsletter']` and so on.
 * @throws InvalidInput naming the parameter
 */
export function readUtm(fields: Fields): UtmParameter[] {
	const { name, displayName } = utmParameters;
	const { parameters } = toFields(fields[name], displayName);
	const given = toFields(parameters, displayName);
	return [...parts]
		.filter((part) => !isBlank(given[part.name]))
		.sort((one, other) => order.indexOf(one.name) - order.indexOf(other.name))
		.map((part) => [`utm_${part.name}`, toText(given[part.name], part)]);
}

/**
 * Adds parameters to a URL's query, before its fragment. Nothing else of the URL changes: the URL parser
 * would write hosts, percent codes and pluses in its own way. A parameter that the URL has already, in
 * upper or lower case, stays as it is. What is no URL is given back, to be refused where URLs are checked.
 */
export function addUtm(url: string, parameters: readonly UtmParameter[]): string {
	const parsed = parseUrl(url);
	if (parsed === undefined) return url;
	const present = new Set([...parsed.searchParams.keys()].map((name) => name.toLowerCase()));
	const missing = parameters.filter(([name]) => !present.has(name));
	if (missing.length === 0) return url;
	// As %20 a blank is a blank to every reader of a query, a plus only to some.
	const added = new URLSearchParams(missing.map(([name, value]): [string, string] => [name, value]))
		.toString()
		.replaceAll('+', '%20');
	const fragment = url.indexOf('#');
	const end = fragment === -1 ? url.length : fragment;
	const address = url.slice(0, end);
	const query = /\?(.*)$/s.exec(address)?.[1];
	const separator = query === undefined ? '?' : query === '' || query.endsWith('&') ? '' : '&';
	return `${address}${separator}${added}${url.slice(end)}`;
}
