import type { IAuthenticate, ICredentialType, IDataObject, INodeProperties } from 'n8n-workflow';

import { InvalidInput } from '../nodes/PushCampaign/service/invalidInput';
import {
	fixedMark,
	fixedMarkOf,
	headerOptions,
	parseSettings,
	settingNames,
} from '../nodes/PushCampaign/service/settings';

const text = { type: 'string', default: '', required: true } as const;
const secret = { ...text, typeOptions: { password: true } } as const;

/** The name of a header is no secret, unlike what the header carries. */
const headerField = (
	name: 'apiKeyHeader' | 'authTokenHeader',
	carried: string,
	placeholder: string,
): INodeProperties => ({
	displayName: settingNames[name],
	name,
	...text,
	placeholder,
	displayOptions: { show: { headerNames: ['custom'] } },
	description: `Name of the header that carries the ${carried}`,
});

const headersIn = (option: keyof typeof headerOptions) =>
	`${headerOptions[option].apiKeyHeader} and ${headerOptions[option].authTokenHeader}`;

/**
 * A value from this text up to another one. Not by n8n's `regex`, which gives up when the machine is busy for
 * a quarter of a second, and the credential with it; nor by `startsWith`, which n8n 1 can't ask of a boolean.
 */
const between = (from: string, to: string) => ({ _cnd: { between: { from, to } } });

/** What begins with `=`: `>` is the next character. */
const isExpression = between('=', '>');
/** A text in every mix of lower and upper case. */
const inEveryCase = (word: string): string[] =>
	[...word].reduce<string[]>(
		(beginnings, letter) =>
			beginnings.flatMap((each) => [each + letter.toLowerCase(), each + letter.toUpperCase()]),
		[''],
	);

/** Blanks that an address may be pasted with: they are dropped. */
const blanks = ['\t', '\n', '\v', '\f', '\r', ' ', '\u00a0', '\ufeff'];

/**
 * What begins with `http://` (`0` is the character after the slash), or with a blank, because no condition can
 * tell what follows any number of them.
 */
const isHttp = [
	...inEveryCase('http').map((scheme) => between(`${scheme}://`, `${scheme}:/0`)),
	...blanks.map((blank) => between(blank, `${blank}\uffff`)),
];

const fields: INodeProperties[] = [
	{
		displayName: 'Base URL',
		name: 'baseUrl',
		...text,
		placeholder: 'e.g. https://push.example.com',
		description:
			'Address of your push service, without /v1. It may hold a path, but no query and no user name.',
	},
	{
		displayName: settingNames.apiKey,
		name: 'apiKey',
		...secret,
		description: 'REST API key of your site, sent with every request',
	},
	{
		displayName: settingNames.authToken,
		name: 'authToken',
		...secret,
		description: 'Authentication token of your site, sent with every request',
	},
	{
		displayName: settingNames.headerNames,
		name: 'headerNames',
		type: 'options',
		default: 'standard',
		options: [
			{ name: 'Standard', value: 'standard', description: headersIn('standard') },
			{ name: 'Webpushr', value: 'webpushr', description: headersIn('webpushr') },
			{ name: 'Custom', value: 'custom', description: 'The names that your provider uses' },
		],
		description: 'The headers in which your provider expects the key and the token',
	},
	headerField('apiKeyHeader', 'API key', 'e.g. X-Api-Key'),
	headerField('authTokenHeader', 'auth token', 'e.g. X-Auth-Token'),
	{
		displayName: 'Allow HTTP',
		name: 'allowHttp',
		type: 'boolean',
		default: false,
		displayOptions: { show: { baseUrl: isHttp } },
		description:
			'Whether to allow a plain http:// address that is not on this machine. The key and token then travel unencrypted.',
	},
];

/**
 * A mark that is in the credential's data only if none of these fields is an expression: n8n leaves out what is
 * not displayed, and decides that by the fields as they are saved.
 */
const markOfFixed = (name: string, ofFields: readonly string[]): INodeProperties => ({
	displayName: 'Is Fixed',
	name,
	type: 'hidden',
	default: true,
	description: 'Whether no expression is in it',
	displayOptions: { hide: Object.fromEntries(ofFields.map((field) => [field, [isExpression]])) },
});

const marksOfFixed = [
	markOfFixed(
		fixedMark,
		fields.map(({ name }) => name),
	),
	...Object.keys(settingNames).map((field) => markOfFixed(fixedMarkOf(field), [field])),
];

/** Where n8n asks for the headers itself, it shows the message alone: what to do has to be in it. */
function headersOf(credentials: object): Readonly<Record<string, string>> {
	try {
		return parseSettings(credentials).headers;
	} catch (error) {
		if (!(error instanceof InvalidInput)) throw error;
		throw new InvalidInput(`${error.message}. ${error.advice}`, error.advice);
	}
}

/** Specification, Common to all operations: the header is on every request, also on one without a body. */
function withContentType(headers: IDataObject = {}): IDataObject {
	const isThere = Object.keys(headers).some((name) => /^content-type$/i.test(name));
	return isThere ? headers : { ...headers, 'Content-Type': 'application/json' };
}

export class PushCampaignApi implements ICredentialType {
	name = 'pushCampaignApi';

	displayName = 'Push Campaign API';

	icon = {
		light: 'file:../nodes/PushCampaign/pushCampaign.svg',
		dark: 'file:../nodes/PushCampaign/pushCampaign.dark.svg',
	} as const;

	documentationUrl = 'https://example.com/n8n-nodes-push-campaign#credential';

	properties: INodeProperties[] = [...fields, ...marksOfFixed];

	// A function: written as expressions, n8n would evaluate them again for each request.
	authenticate: IAuthenticate = async (credentials, requestOptions) => {
		const headers = { ...withContentType(requestOptions.headers), ...headersOf(credentials) };
		return { ...requestOptions, headers };
	};
}
