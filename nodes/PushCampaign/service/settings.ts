import { z } from 'zod/v3';

import { parseBaseUrl } from './address';
import { InvalidInput } from './invalidInput';

/** Names of the credential's fields as users see them. */
export const settingNames = {
	apiKey: 'API Key',
	authToken: 'Auth Token',
	headerNames: 'Header Names',
	apiKeyHeader: 'API Key Header',
	authTokenHeader: 'Auth Token Header',
} as const;

/** Specification, Authentication; and the names that Webpushr uses for the same. */
export const headerOptions = {
	standard: { apiKeyHeader: 'serviceKey', authTokenHeader: 'serviceAuthToken' },
	webpushr: { apiKeyHeader: 'webpushrKey', authTokenHeader: 'webpushrAuthToken' },
} as const;

/** The address of the service, and the two headers that open it: what they carry must appear nowhere else. */
export interface ServiceSettings {
	readonly baseUrl: string;
	readonly headers: Readonly<Record<string, string>>;
}

/** In the credential's data if none of its fields is an expression: then they are the same for all items. */
export const fixedMark = 'isFixed';

type Setting = keyof typeof settingNames;

/** In the credential's data if this field is no expression. */
export const fixedMarkOf = (field: string) => `${field}IsFixed`;

/** What an HTTP header can carry; Node.js refuses the rest with words that users can't place. */
const headerValue = /^[\t\x20-\x7e\x80-\xff]+$/;
const headerName = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;

/**
 * Names under which a key does not arrive, or breaks the request. HTTP itself uses the first three rows
 * (RFC 9110). The HTTP library of n8n drops the others (axios 1.18.0: `lib/utils.js`, `merge`;
 * `lib/core/Axios.js`, `_request`).
 */
const reservedNames: ReadonlySet<string> = new Set([
	...['accept', 'accept-encoding', 'content-encoding', 'content-length', 'content-type', 'expect'],
	...['host', 'transfer-encoding', 'trailer', 'te', 'upgrade', 'connection', 'keep-alive'],
	...['proxy-connection', 'proxy-authenticate', 'proxy-authorization'],
	...['__proto__', 'constructor', 'prototype'],
	...['common', 'delete', 'get', 'head', 'patch', 'post', 'put', 'query'],
]);

const refuse = (name: Setting, what: string) =>
	new InvalidInput(
		`${settingNames[name]} of the credential ${what}`,
		'Enter the value that your push service gave you.',
	);

/**
 * Reads the credential's data. Blanks around pasted values are dropped.
 * @throws InvalidInput naming the credential's field
 */
export function parseSettings(credential: unknown): ServiceSettings {
	const data = z.record(z.unknown()).safeParse(credential).data ?? {};
	const text = (name: Setting, pattern: RegExp, rule: string) => {
		const value = typeof data[name] === 'string' ? data[name].trim() : '';
		if (value === '') throw refuse(name, 'is missing');
		if (!pattern.test(value)) throw refuse(name, rule);
		return value;
	};
	const secret = (name: Setting) =>
		text(name, headerValue, 'holds a character that a header of a request cannot carry');
	const header = (name: Setting) => {
		const value = text(name, headerName, 'is not the name of a header');
		if (!reservedNames.has(value.toLowerCase())) return value;
		throw refuse(name, `cannot be "${value}": requests use this name for something else`);
	};
	const headerNames = () => {
		const { headerNames: option = 'standard' } = data;
		if (option === 'standard' || option === 'webpushr') return headerOptions[option];
		if (option !== 'custom') throw refuse('headerNames', 'is not one of its options');
		return { apiKeyHeader: header('apiKeyHeader'), authTokenHeader: header('authTokenHeader') };
	};

	const baseUrl = parseBaseUrl(data['baseUrl'], data['allowHttp'] === true);
	const [apiKey, authToken] = [secret('apiKey'), secret('authToken')];
	const { apiKeyHeader, authTokenHeader } = headerNames();
	if (apiKeyHeader.toLowerCase() === authTokenHeader.toLowerCase()) {
		throw refuse('authTokenHeader', `is the same as ${settingNames.apiKeyHeader}`);
	}
	return { baseUrl, headers: { [apiKeyHeader]: apiKey, [authTokenHeader]: authToken } };
}
