import * as fc from 'fast-check';
import { parseSettings } from '../../../nodes/PushCampaign/service/settings';
import { anyCodePoints } from '../../support/text';
import { refusal } from './support';

// Specification, Authentication.

const credential = {
	baseUrl: 'https://push.example.com/',
	apiKey: ' key-of-the-site \n',
	authToken: '\ttoken-of-the-site ',
	allowHttp: false,
};
const custom = { headerNames: 'custom', apiKeyHeader: 'x-key', authTokenHeader: 'x-token' };

test.each([
	[{}, 'serviceKey', 'serviceAuthToken'],
	[
		{ ...custom, headerNames: 'standard', authTokenHeader: 'x-key' },
		'serviceKey',
		'serviceAuthToken',
	],
	[{ headerNames: 'webpushr' }, 'webpushrKey', 'webpushrAuthToken'],
	[custom, 'x-key', 'x-token'],
	[
		{ ...custom, apiKeyHeader: ' x-push.Key_1~ ', authTokenHeader: "!#$%&'*+^`|" },
		'x-push.Key_1~',
		"!#$%&'*+^`|",
	],
])('%j: the address and the headers, without blanks around', (change, key, token) => {
	expect(parseSettings({ ...credential, ...change })).toEqual({
		baseUrl: 'https://push.example.com',
		headers: { [key]: 'key-of-the-site', [token]: 'token-of-the-site' },
	});
});

test.each([
	[true, true],
	[false, false],
	['true', false],
	[undefined, false],
])('allowHttp %j: plain http is %s', (allowHttp, isAllowed) => {
	const parse = () => parseSettings({ ...credential, baseUrl: 'http://push.example', allowHttp });
	if (isAllowed) expect(parse().baseUrl).toBe('http://push.example');
	else expect(parse).toThrow('Base URL ');
});

const unfit = 'holds a character that a header of a request cannot carry';

test.each<[change: object, message: string]>([
	[{ apiKey: ' ' }, 'API Key of the credential is missing'],
	[{ apiKey: 7 }, 'API Key of the credential is missing'],
	[{ authToken: undefined }, 'Auth Token of the credential is missing'],
	[{ apiKey: 'a\nb' }, `API Key of the credential ${unfit}`],
	[{ authToken: 'schlüssel→' }, `Auth Token of the credential ${unfit}`],
	[{ authToken: '→key' }, `Auth Token of the credential ${unfit}`],
	[{ headerNames: 'other' }, 'Header Names of the credential is not one of its options'],
	[{ headerNames: 'custom' }, 'API Key Header of the credential is missing'],
	[{ ...custom, authTokenHeader: ' ' }, 'Auth Token Header of the credential is missing'],
	...['a b', 'a:', ':a'].map((apiKeyHeader): [object, string] => [
		{ ...custom, apiKeyHeader },
		'API Key Header of the credential is not the name of a header',
	]),
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
	expect(() => parseSettings(data)).toThrow('Base URL ');
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
