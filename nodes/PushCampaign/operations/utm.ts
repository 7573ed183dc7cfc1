import type { INodeProperties } from 'n8n-workflow';
import { z } from 'zod/v3';

import { parseUrl } from '../service/address';
import { countCharacters } from '../service/text';
import { withMessage } from '../service/textSchemas';
import type { Judge } from './judgeText';
import { nonBlank, groupOf, invalid, textProperty, blankAsMissing } from './parameters';

/** In the order in which they are written into a URL. */
const parts = [
	['source', 'Source', 'e.g. web_push', 'Where visitors come from'],
	['medium', 'Medium', 'e.g. push', 'Kind of channel'],
	['campaign', 'Campaign', 'e.g. summer_sale', 'Name of the campaign'],
	['term', 'Term', 'e.g. running shoes', 'Keyword'],
	['content', 'Content', 'e.g. title_b', 'Variant of a campaign'],
] as const;

const values = parts.map(([name, displayName, placeholder, what]) =>
	textProperty({ displayName, name, placeholder, description: `${what}, sent as utm_${name}` }),
);

const targetUrlOnly = 'Target URL Only';

const addTo = {
	displayName: 'Add To',
	name: 'addTo',
	type: 'options',
	default: 'all',
	options: [
		{ name: 'Target URL and Buttons', value: 'all' },
		{ name: targetUrlOnly, value: 'targetUrl' },
	],
	description: 'Which URLs get the parameters. They count towards the length of a URL.',
} satisfies INodeProperties;

export const utmParameters = {
	displayName: 'UTM Parameters',
	name: 'utmParameters',
	type: 'fixedCollection',
	placeholder: 'Add Parameters',
	// n8n's editor drops an empty one as soon as another field is added.
	default: {
		parameters: { ...Object.fromEntries(parts.map(([name]) => [name, ''])), addTo: addTo.default },
	},
	description:
		'Added to the URLs for your web analytics. Blank ones are left out, and one that a URL already has stays as it is.',
	options: [{ displayName: 'Parameters', name: 'parameters', values: [...values, addTo] }],
} satisfies INodeProperties;

/** A query parameter's name and value. */
export type UtmParameter = [name: string, value: string];

/** The UTM parameters of one item. */
export interface Utm {
	readonly parameters: readonly UtmParameter[];
	/** Whether the URLs of buttons get them too. */
	readonly isForButtons: boolean;
}

/** Numbers are meant as they are written. */
const value = blankAsMissing(
	z
		.union([z.string(), z.number().finite()], withMessage('is not text'))
		.transform((given) => String(given).trim()),
);

/** UTM Parameters as they are entered. */
export const utmSchema = groupOf(
	utmParameters.displayName,
	'parameters',
	z.object({
		source: value,
		medium: value,
		campaign: value,
		term: value,
		content: value,
		addTo: nonBlank(
			z.enum(['all', 'targetUrl'], withMessage('is not a choice from the list')),
		).default('all'),
	}),
);

/**
 * The UTM parameters that were filled in, `['utm_source', 'web_push']` and so on.
 * @param path where they are among the parameters
 * @throws InvalidInput naming the parameter
 */
export function toUtm(
	entered: z.infer<typeof utmSchema> | undefined,
	path: string,
	judge: Judge,
): Utm {
	const parameters = parts.flatMap(([name, part]): UtmParameter[] => {
		const displayName = `${part} in ${utmParameters.displayName}`;
		// Also one that is blank: each of its parts may have given nothing.
		const text = judge(entered?.[name] ?? '', { displayName, path: `${path}.parameters.${name}` });
		return text === '' ? [] : [[`utm_${name}`, text]];
	});
	return { parameters, isForButtons: entered?.addTo !== 'targetUrl' };
}

/**
 * Adds parameters to a URL's query, before its fragment. Nothing else of the URL changes: the URL parser
 * would write hosts, percent codes and pluses in its own way. A parameter that the URL has already, in
 * upper or lower case, stays as it is. A text that is no URL is returned as it is, to be refused with the body.
 */
export function addUtm(url: string, parameters: readonly UtmParameter[]): string {
	const parsed = parseUrl(url);
	if (parsed === undefined) return url;
	const present = new Set([...parsed.searchParams.keys()].map((name) => name.toLowerCase()));
	const missing = parameters.filter(([name]) => !present.has(name));
	if (missing.length === 0) return url;
	// Every reader of a query takes %20 for a blank, but only some take a plus for one.
	const added = new URLSearchParams(missing).toString().replaceAll('+', '%20');
	const separator = /^[^#]*\?/.test(url) ? '&' : '?';
	return url.replace(/#|$/, (end) => `${separator}${added}${end}`);
}

/** A URL that gets UTM parameters: its name for users, and its limit in characters. */
export interface UtmTarget {
	readonly displayName: string;
	readonly limit: number;
	readonly isButton: boolean;
}

/**
 * Adds the UTM parameters to a URL that is meant to have them.
 * @throws InvalidInput with both lengths, if they make it too long
 */
export function withUtm(url: unknown, utm: Utm, { displayName, limit, isButton }: UtmTarget) {
	if (typeof url !== 'string') return url;
	if (isButton && !utm.isForButtons) return url;
	const extended = addUtm(url, utm.parameters);
	const length = countCharacters(extended);
	if (extended === url || length <= limit) return extended;
	throw invalid(
		displayName,
		`is ${countCharacters(url)} characters long, and ${length} with its UTM parameters, ${length - limit} more than the ${limit} that the service accepts`,
		isButton
			? `Choose "${targetUrlOnly}" in Add To of UTM Parameters, or shorten the URL or the parameters.`
			: 'Shorten the URL or the UTM parameters.',
	);
}
