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
	headerNames: z.unknown(),
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
	const data = entered.safeParse(credential).data ?? {};
	const text = (name: Setting, pattern: RegExp, rule: string) => {
		const value = typeof data[name] === 'string' ? data[name].trim() : '';
		if (value === '') throw refuse(name, 'is missing');
		if (!pattern.test(value)) throw refuse(name, rule);
		return value;
	};
	const secret = (name: Setting) =>
		text(name, headerValue, 'holds a character that a header of a request cannot carry');
	const header = (name: Setting) => text(name, headerName, 'is not the name of a header');

	const { headerNames = 'standard' } = data;
	const baseUrl = parseBaseUrl(data.baseUrl, data.allowHttp === true);
	const secrets = [secret('apiKey'), secret('authToken')];
	if (headerNames !== 'custom' && !isHeaderOption(headerNames)) {
		throw refuse('headerNames', 'is not one of its options');
	}
	const names =
		headerNames === 'custom'
			? [header('apiKeyHeader'), header('authTokenHeader')]
			: Object.values(headerOptions[headerNames]);
	if (new Set(names.map((name) => name.toLowerCase())).size === 1) {
		throw refuse('authTokenHeader', `is the same as ${settingNames.apiKeyHeader}`);
	}
	const headers = Object.fromEntries(names.map((name, index) => [name, secrets[index] ?? '']));
	return { baseUrl, headers, secrets };
}

const isHeaderOption = (option: unknown): option is keyof typeof headerOptions =>
	typeof option === 'string' && Object.hasOwn(headerOptions, option);

function refuse(name: Setting, what: string): InvalidInput {
	return new InvalidInput(
		`${settingNames[name]} of the credential ${what}`,
		'Enter the value that your push service gave you.',
	);
}
