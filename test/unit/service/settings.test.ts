import * as fc from 'fast-check';
import { parseSettings } from '../../../nodes/PushCampaign/service/settings';
import { anyCodePoints } from '../../support/text';
import { refusal } from './support';

// Specification, Authentication.

const credential = {
	baseUrl: 'https://push.example.com/',
	apiKey: 'key-of-the-site',
	authToken: 'token-of-the-site',
	allowHttp: false,
};

test('gives the address, the two headers and what to keep secret', () => {
	expect(parseSettings(credential)).toEqual({
		baseUrl: 'https://push.example.com',
		headers: { serviceKey: 'key-of-the-site', serviceAuthToken: 'token-of-the-site' },
		secrets: ['key-of-the-site', 'token-of-the-site'],
	});
});

test('drops blanks around what was pasted', () => {
	const settings = parseSettings({ ...credential, apiKey: ' k \n', authToken: '\tt ' });
	expect(settings.headers).toEqual({ serviceKey: 'k', serviceAuthToken: 't' });
	expect(settings.secrets).toEqual(['k', 't']);
});

test.each([
	[undefined, 'serviceKey', 'serviceAuthToken'],
	['standard', 'serviceKey', 'serviceAuthToken'],
	['webpushr', 'webpushrKey', 'webpushrAuthToken'],
])('header names %j: %s and %s, whatever custom ones were left over', (headerNames, key, token) => {
	const leftOver = { apiKeyHeader: 'x-key', authTokenHeader: 'x-key' };
	expect(parseSettings({ ...credential, headerNames, ...leftOver }).headers).toEqual({
		[key]: 'key-of-the-site',
		[token]: 'token-of-the-site',
	});
});

const custom = { headerNames: 'custom', apiKeyHeader: 'x-key', authTokenHeader: 'x-token' };

test('takes custom header names', () => {
	const names = { apiKeyHeader: ' x-push.Key_1~ ', authTokenHeader: "!#$%&'*+^`|" };
	expect(parseSettings({ ...credential, ...custom, ...names }).headers).toEqual({
		'x-push.Key_1~': 'key-of-the-site',
		"!#$%&'*+^`|": 'token-of-the-site',
	});
});

test.each([
	[true, true],
	[false, false],
	['true', false],
	[1, false],
	[undefined, false],
])('allowHttp %j: plain http is %s', (allowHttp, isAllowed) => {
	const parse = () => parseSettings({ ...credential, baseUrl: 'http://push.example', allowHttp });
	if (isAllowed) expect(parse().baseUrl).toBe('http://push.example');
	else expect(refusal(parse).message).toMatch(/^Base URL /);
});

const unfit = 'holds a character that a header of a request cannot carry';

test.each([
	[{ apiKey: '' }, 'API Key of the credential is missing'],
	[{ apiKey: ' ' }, 'API Key of the credential is missing'],
	[{ apiKey: 7 }, 'API Key of the credential is missing'],
	[{ authToken: undefined }, 'Auth Token of the credential is missing'],
	[{ apiKey: 'a\nb' }, `API Key of the credential ${unfit}`],
	[{ authToken: 'schlüssel→' }, `Auth Token of the credential ${unfit}`],
	[{ authToken: 'a\u0000b' }, `Auth Token of the credential ${unfit}`],
	[{ headerNames: 'other' }, 'Header Names of the credential is not one of its options'],
	[{ headerNames: 'toString' }, 'Header Names of the credential is not one of its options'],
	[{ headerNames: 'custom' }, 'API Key Header of the credential is missing'],
	[{ ...custom, authTokenHeader: ' ' }, 'Auth Token Header of the credential is missing'],
	[
		{ ...custom, apiKeyHeader: 'a b' },
		'API Key Header of the credential is not the name of a header',
	],
	[
		{ ...custom, apiKeyHeader: 'a:' },
		'API Key Header of the credential is not the name of a header',
	],
	[
		{ ...custom, authTokenHeader: 'ä' },
		'Auth Token Header of the credential is not the name of a header',
	],
	[
		{ ...custom, authTokenHeader: 'X-KEY' },
		'Auth Token Header of the credential is the same as API Key Header',
	],
	[{ baseUrl: '' }, 'Base URL of the credential is missing'],
])('%j is refused', (change, message) => {
	const refused = refusal(() => parseSettings({ ...credential, ...change }));
	expect(refused.message).toBe(message);
	expect(refused.advice).toMatch(/^Enter the .* that your push service gave you/);
});

test.each([undefined, null, 'text', 7])('a credential that is %j has no Base URL', (data) => {
	expect(refusal(() => parseSettings(data)).message).toMatch(/^Base URL /);
});

test('what is accepted is what a request can carry, and no refusal quotes a secret', () => {
	fc.assert(
		fc.property(anyCodePoints({ minLength: 8 }), (secret) => {
			try {
				const { headers } = parseSettings({ ...credential, apiKey: secret });
				expect(() => new Headers(headers)).not.toThrow();
				expect(headers['serviceKey']).toBe(secret.trim());
			} catch (error) {
				expect(String(error)).not.toContain(secret);
			}
		}),
	);
});
