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
	apiKeyHeader: 'serviceKey',
	authTokenHeader: 'serviceAuthToken',
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

test.each([{ apiKeyHeader: '', authTokenHeader: ' ' }, { apiKeyHeader: undefined }])(
	'takes the default header names for %j',
	(headers) => {
		expect(Object.keys(parseSettings({ ...credential, ...headers }).headers)).toEqual([
			'serviceKey',
			'serviceAuthToken',
		]);
	},
);

test('takes other header names', () => {
	const settings = parseSettings({
		...credential,
		apiKeyHeader: ' x-push.Key_1~ ',
		authTokenHeader: "!#$%&'*+^`|",
	});
	expect(Object.keys(settings.headers)).toEqual(['x-push.Key_1~', "!#$%&'*+^`|"]);
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

test.each([
	[{ apiKey: '' }, 'API Key is missing in the credential'],
	[{ apiKey: ' ' }, 'API Key is missing in the credential'],
	[{ apiKey: 7 }, 'API Key is missing in the credential'],
	[{ authToken: undefined }, 'Auth Token is missing in the credential'],
	[{ apiKey: 'a\nb' }, 'API Key holds a character that a header of a request cannot carry'],
	[
		{ authToken: 'schlüssel→' },
		'Auth Token holds a character that a header of a request cannot carry',
	],
	[
		{ authToken: 'a\u0000b' },
		'Auth Token holds a character that a header of a request cannot carry',
	],
	[{ apiKeyHeader: 'a b' }, 'API Key Header is not the name of a header'],
	[{ apiKeyHeader: 'a:' }, 'API Key Header is not the name of a header'],
	[{ authTokenHeader: 'ä' }, 'Auth Token Header is not the name of a header'],
	[{ authTokenHeader: 'SERVICEkey' }, 'Auth Token Header is the same as API Key Header'],
	[{ baseUrl: '' }, 'Base URL is missing in the credential'],
])('%j is refused', (change, message) => {
	const refused = refusal(() => parseSettings({ ...credential, ...change }));
	expect(refused.message).toBe(message);
	expect(refused.advice).toMatch(/^Open the Push Campaign API credential and enter the /);
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
