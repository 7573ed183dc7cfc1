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

describe('the headers of the key and the token', () => {
	test.each([
		{
			name: 'are serviceKey and serviceAuthToken by default',
			given: {},
			then: ['serviceKey', 'serviceAuthToken'],
		},
		{
			name: 'are the standard ones, whatever names were entered before',
			given: { ...custom, headerNames: 'standard', authTokenHeader: 'x-key' },
			then: ['serviceKey', 'serviceAuthToken'],
		},
		{
			name: 'are those of Webpushr',
			given: { headerNames: 'webpushr' },
			then: ['webpushrKey', 'webpushrAuthToken'],
		},
		{ name: 'are custom ones', given: custom, then: ['x-key', 'x-token'] },
		{
			name: 'may hold every character that HTTP allows, and lose the blanks around them',
			given: { ...custom, apiKeyHeader: ' x-push.Key_1~ ', authTokenHeader: "!#$%&'*+^`|" },
			then: ['x-push.Key_1~', "!#$%&'*+^`|"],
		},
	])('$name', ({ given, then: [key = '', token = ''] }) => {
		expect(parseSettings({ ...credential, ...given })).toEqual({
			baseUrl: 'https://push.example.com',
			headers: { [key]: 'key-of-the-site', [token]: 'token-of-the-site' },
		});
	});

	// Each was tried as a header of a request through n8n 2.41.1.
	test.each([
		...['Host', 'Content-Length', 'Content-Type', 'Content-Encoding', 'Transfer-Encoding'],
		...['Expect', 'Trailer', 'TE', 'Upgrade', 'Connection', 'Keep-Alive', 'Proxy-Connection'],
		...['Proxy-Authorization', 'Proxy-Authenticate', 'Accept', 'Accept-Encoding'],
		...['__proto__', 'constructor', 'prototype', 'common', 'get', 'POST', 'put', 'patch'],
		...['delete', 'head', 'query'],
	])('cannot have the name %s, under which the key does not arrive', (reserved) => {
		for (const field of ['apiKeyHeader', 'authTokenHeader']) {
			const parse = () => parseSettings({ ...credential, ...custom, [field]: ` ${reserved} ` });
			expect(refusal(parse).message).toMatch(
				new RegExp(
					`^(API Key|Auth Token) Header of the credential cannot be "${reserved}": requests use this name for something else$`,
				),
			);
		}
	});

	test.each(['Authorization', 'Cookie', 'X-Host', 'hostname', 'User-Agent', 'set', 'toString'])(
		'may have the name %s, under which the key arrives',
		(apiKeyHeader) => {
			const { headers } = parseSettings({ ...credential, ...custom, apiKeyHeader });
			expect(headers).toHaveProperty([apiKeyHeader], 'key-of-the-site');
		},
	);
});

describe('Allow HTTP', () => {
	const parse = (allowHttp: unknown) =>
		parseSettings({ ...credential, baseUrl: 'http://push.example', allowHttp });

	test('accepts a plain http address that is not on this machine', () => {
		expect(parse(true).baseUrl).toBe('http://push.example');
	});

	test.each([false, 'true', undefined])('refuses it if it is %j', (allowHttp) => {
		expect(() => parse(allowHttp)).toThrow('Base URL ');
	});
});

const unfit = 'holds a character that a header of a request cannot carry';

interface Refusal {
	readonly name: string;
	readonly given: object;
	readonly then: string;
}

describe('a credential is refused, in words that name the field,', () => {
	test.each<Refusal>([
		{ name: 'without a key', given: { apiKey: ' ' }, then: 'API Key … is missing' },
		{ name: 'with a number as its key', given: { apiKey: 7 }, then: 'API Key … is missing' },
		{ name: 'without a token', given: { authToken: undefined }, then: 'Auth Token … is missing' },
		{ name: 'with a line break in its key', given: { apiKey: 'a\nb' }, then: `API Key … ${unfit}` },
		{
			name: 'with an arrow at the end of its token',
			given: { authToken: 'schlüssel→' },
			then: `Auth Token … ${unfit}`,
		},
		{
			name: 'with an arrow at the start of its token',
			given: { authToken: '→key' },
			then: `Auth Token … ${unfit}`,
		},
		{
			name: 'with header names that are not in the list',
			given: { headerNames: 'other' },
			then: 'Header Names … is not one of its options',
		},
		{
			name: 'without the name of the header for the key',
			given: { headerNames: 'custom' },
			then: 'API Key Header … is missing',
		},
		{
			name: 'without the name of the header for the token',
			given: { ...custom, authTokenHeader: ' ' },
			then: 'Auth Token Header … is missing',
		},
		...['a b', 'a:', ':a'].map((apiKeyHeader) => ({
			name: `with "${apiKeyHeader}" as the name of a header`,
			given: { ...custom, apiKeyHeader },
			then: 'API Key Header … is not the name of a header',
		})),
		{
			name: 'with one header for both',
			given: { ...custom, authTokenHeader: 'X-KEY' },
			then: 'Auth Token Header … is the same as API Key Header',
		},
		{ name: 'without an address', given: { baseUrl: '' }, then: 'Base URL … is missing' },
	])('$name', ({ given, then }) => {
		const refused = refusal(() => parseSettings({ ...credential, ...given }));
		expect(refused.message).toBe(then.replace('…', 'of the credential'));
		expect(refused.advice).toMatch(/^Enter the .* that your push service gave you/);
	});

	test.each([undefined, null, 'text', 7])('if its data is %j', (data) => {
		expect(() => parseSettings(data)).toThrow('Base URL ');
	});
});

test('a Base URL with 50,000 slashes is read in linear time', () => {
	const baseUrl = `https://push.example/${'/'.repeat(50_000)}x`;
	// This process's own CPU time: other work on the machine does not count. In quadratic time it takes 12 s.
	const started = process.cpuUsage();
	expect(parseSettings({ ...credential, baseUrl: `${baseUrl}//` }).baseUrl).toBe(baseUrl);
	expect(process.cpuUsage(started).user).toBeLessThan(3_000_000);
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
