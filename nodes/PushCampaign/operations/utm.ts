import { invalid, isBlank, toRecord } from './parameters';

const FIELD = 'UTM Parameters';
const displayNames = {
	source: 'Source',
	medium: 'Medium',
	campaign: 'Campaign',
	term: 'Term',
	content: 'Content',
} as const;

/** A query parameter's name and value. */
export type UtmParameter = readonly [name: string, value: string];

/** What an expression gives for a text: numbers are meant as they are written. */
function toText(value: unknown, displayName: string): string {
	if (typeof value === 'string') return value.trim();
	if (typeof value === 'number' && Number.isFinite(value)) return String(value);
	throw invalid(`${displayName} in ${FIELD}`, 'is not text');
}

/**
 * Reads the UTM parameters that were filled in, `['utm_source', 'newsletter']` and so on.
 * @throws InvalidInput naming the field
 */
export function readUtm(value: unknown): UtmParameter[] {
	const given = toRecord(toRecord(value, FIELD)['parameters'], FIELD);
	return Object.entries(displayNames).flatMap(([name, displayName]): UtmParameter[] =>
		isBlank(given[name]) ? [] : [[`utm_${name}`, toText(given[name], displayName)]],
	);
}

/**
 * Adds parameters to a URL's query, before its fragment. Nothing else of the URL changes: the URL parser
 * would write hosts, percent codes and pluses in its own way. A parameter that the URL has already, in
 * upper or lower case, stays as it is. What is no URL is given back, to be refused where URLs are checked.
 */
export function addUtm(url: string, parameters: readonly UtmParameter[]): string {
	if (!URL.canParse(url)) return url;
	const present = new Set([...new URL(url).searchParams.keys()].map((name) => name.toLowerCase()));
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
