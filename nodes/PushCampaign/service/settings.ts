import { z } from 'zod';

import { isWebUrl, trimHidden } from './text';
import { InvalidInput } from './thrown';

/** The address of the service, and the two headers that open it. */
export interface ServiceSettings {
	/** Without a slash at its end. */
	readonly baseUrl: string;
	readonly apiKey: string;
	readonly headers: Readonly<Record<string, string>>;
}

/** Names of the credential's fields as users see them. */
export const settingNames = {
	baseUrl: 'Base URL',
	apiKey: 'API Key',
	authToken: 'Auth Token',
	headerNames: 'Header Names',
	apiKeyHeader: 'API Key Header',
	authTokenHeader: 'Auth Token Header',
} as const;
type Setting = keyof typeof settingNames;

/** Specification, Authentication; and the names that Webpushr's documentation gives the same two headers. */
export const headerOptions = {
	standard: { apiKeyHeader: 'serviceKey', authTokenHeader: 'serviceAuthToken' },
	webpushr: { apiKeyHeader: 'webpushrKey', authTokenHeader: 'webpushrAuthToken' },
} as const;

/** Hidden property of the credential: it is in the decrypted data only if no field is an expression. */
export const fixedMark = 'isFixed';

const exampleUrl = 'https://push.example.com';

/** Hosts on this machine: what is sent to them can't be read on the way. */
const loopback = /^(localhost|127(\.\d{1,3}){3}|\[::1\])$/i;

/** RFC 9110, 5.6.2: a token. */
const headerName = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;
/** What a header can carry. Node.js refuses the rest in words that users can't place. */
const headerValue = /^[\t\x20-\x7e\x80-\xff]+$/;

const refuse = (name: Setting, what: string, fix: string) =>
	new InvalidInput(`'${settingNames[name]}' of the credential ${what}`, fix);

const refuseUrl = (what: string, fix = `Enter the address alone, e.g. ${exampleUrl}.`) =>
	refuse('baseUrl', what, fix);

/** Specification, Base address. */
function parseBaseUrl(entered: string, allowHttp: boolean): string {
	if (entered === '') {
		const fix = `Enter the address that your push service gave you, e.g. ${exampleUrl}.`;
		throw refuseUrl('is missing', fix);
	}
	if (!isWebUrl(entered)) throw refuseUrl('is not a valid https:// address');
	if (/^https?:\/\/[^/?#]*@/i.test(entered)) throw refuseUrl('holds a user name or password');
	if (/[?#]/.test(entered)) throw refuseUrl('holds more than an address (from its ? or # on)');
	const url = new URL(entered);
	if (url.protocol === 'http:' && !allowHttp && !loopback.test(url.hostname)) {
		throw refuseUrl(
			'starts with http://, which would send the key and token unencrypted',
			"Enter the service's https:// address. Only if you trust the whole network in between, turn on 'Allow HTTP'.",
		);
	}
	// Without looking behind, a row of slashes would be read again from each of them.
	const baseUrl = `${url.origin}${url.pathname}`.replace(/(?<!\/)\/+$/, '');
	if (/\/v1$/i.test(baseUrl)) {
		throw refuseUrl('ends in /v1', 'Enter it without /v1, which every request adds by itself.');
	}
	return baseUrl;
}

/** A switch; an expression may give it as text. */
const isOn = (value: unknown): boolean =>
	value === true || (typeof value === 'string' && trimHidden(value).toLowerCase() === 'true');

/**
 * Reads the credential's data. Blanks around pasted values are dropped, and what nobody sees.
 * @throws InvalidInput naming the credential's field
 */
export function parseSettings(credential: unknown): ServiceSettings {
	const data = z.record(z.string(), z.unknown()).safeParse(credential).data ?? {};

	const textOf = (name: Setting) => {
		const value = data[name];
		// An expression may give a number.
		const isGiven = typeof value === 'string' || typeof value === 'number';
		return isGiven ? trimHidden(String(value)) : '';
	};
	const required = (name: Setting, pattern: RegExp, rule: string, fix: string) => {
		const value = textOf(name);
		if (value === '') throw refuse(name, 'is missing', fix);
		if (!pattern.test(value)) throw refuse(name, rule, fix);
		return value;
	};
	const secret = (name: Setting) => {
		const rule = 'holds a character that a header of a request cannot carry';
		return required(name, headerValue, rule, 'Enter the value that your push service gave you.');
	};
	const header = (name: Setting) => {
		const fix = 'Enter the name that your push service gives this header.';
		return required(name, headerName, 'is not the name of a header', fix);
	};
	const chosenNames = () => {
		const option = data['headerNames'] === undefined ? 'standard' : textOf('headerNames');
		if (option === 'standard' || option === 'webpushr') return headerOptions[option];
		if (option !== 'custom') {
			const what = option === '' ? 'is missing' : 'is not one of its options';
			const fix = 'Choose one. An expression has to give standard, webpushr or custom.';
			throw refuse('headerNames', what, fix);
		}
		return { apiKeyHeader: header('apiKeyHeader'), authTokenHeader: header('authTokenHeader') };
	};

	const baseUrl = parseBaseUrl(textOf('baseUrl'), isOn(data['allowHttp']));
	const [apiKey, authToken] = [secret('apiKey'), secret('authToken')];
	const names = chosenNames();
	return {
		baseUrl,
		apiKey,
		headers: { [names.apiKeyHeader]: apiKey, [names.authTokenHeader]: authToken },
	};
}
