import { z } from 'zod/v3';

import { parseBaseUrl } from './address';
import { InvalidInput } from './invalidInput';

/** Names of the credential's fields as users see them. */
export const settingNames = {
	apiKey: 'API Key',
	authToken: 'Auth Token',
	apiKeyHeader: 'API Key Header',
	authTokenHeader: 'Auth Token Header',
} as const;

/** Specification, Authentication. */
export const defaultHeaders = {
	apiKeyHeader: 'serviceKey',
	authTokenHeader: 'serviceAuthToken',
} as const;

/** The address of the service and the two headers that open it. */
export interface ServiceSettings {
	readonly baseUrl: string;
	readonly headers: Readonly<Record<string, string>>;
	/** The values that must appear nowhere else. */
	readonly secrets: readonly string[];
}

const entered = z.object({
	baseUrl: z.unknown(),
	apiKey: z.unknown(),
	authToken: z.unknown(),
	allowHttp: z.unknown(),
	apiKeyHeader: z.unknown(),
	authTokenHeader: z.unknown(),
});

/** In the credential's data where none of its fields is an expression: then they are the same for all items. */
export const fixedMark = 'isFixed';

type Setting = keyof typeof settingNames;

/** What an HTTP header can carry; Node.js refuses the rest with words that users can't place. */
const headerValue = /^[\t\x20-\x7e\x80-\xff]+$/;
const headerName = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;

/**
 * Reads the credential's data. Blanks around pasted values are dropped.
 *
 * @throws InvalidInput naming the credential's field
 */
export function parseSettings(credential: unknown): ServiceSettings {
	const result = entered.safeParse(credential);
	const data = result.success ? result.data : {};
	const text = (name: Setting) => {
		const value = data[name];
		return typeof value === 'string' ? value.trim() : '';
	};
	const secret = (name: 'apiKey' | 'authToken') => {
		const value = text(name);
		if (value === '') throw refuse(name, 'is missing in the credential');
		if (!headerValue.test(value)) {
			throw refuse(name, 'holds a character that a header of a request cannot carry');
		}
		return value;
	};
	const header = (name: keyof typeof defaultHeaders) => {
		const value = text(name) || defaultHeaders[name];
		if (!headerName.test(value)) throw refuse(name, 'is not the name of a header');
		return value;
	};
	const baseUrl = parseBaseUrl(data.baseUrl, data.allowHttp === true);
	const apiKey = secret('apiKey');
	const authToken = secret('authToken');
	const keyHeader = header('apiKeyHeader');
	const tokenHeader = header('authTokenHeader');
	if (keyHeader.toLowerCase() === tokenHeader.toLowerCase()) {
		throw refuse('authTokenHeader', `is the same as ${settingNames.apiKeyHeader}`);
	}
	return {
		baseUrl,
		headers: { [keyHeader]: apiKey, [tokenHeader]: authToken },
		secrets: [apiKey, authToken],
	};
}

function refuse(name: Setting, what: string): InvalidInput {
	return new InvalidInput(
		`${settingNames[name]} ${what}`,
		'Open the Push Campaign API credential and enter the value that your push service gave you.',
	);
}
