import * as fc from 'fast-check';
import type { ICredentialDataDecryptedObject, IHttpRequestOptions } from 'n8n-workflow';
import { NodeHelpers } from 'n8n-workflow';
import { PushCampaignApi } from '../../../credentials/PushCampaignApi.credentials';

const credential = new PushCampaignApi();

/** Every field, as saved. */
const stored = {
	baseUrl: 'http://push.example',
	apiKey: ' the-key ',
	authToken: 'the-token',
	allowHttp: true,
	headerNames: 'custom',
	apiKeyHeader: 'serviceKey',
	authTokenHeader: 'x-token',
};

async function sign(change: object = {}, options: Partial<IHttpRequestOptions> = {}) {
	const { authenticate } = credential;
	if (typeof authenticate !== 'function') throw new TypeError('It is not a function');
	return await authenticate({ ...stored, ...change }, { url: 'https://push.example', ...options });
}

// n8n gives up on one when the machine is busy for a quarter of a second, and on the credential with it.
test('no regular expression decides which fields n8n decrypts', () => {
	expect(JSON.stringify(credential.properties)).not.toContain('regex');
});

describe('the decrypted credential', () => {
	const decrypted = (change: ICredentialDataDecryptedObject) =>
		NodeHelpers.getNodeParameters(
			credential.properties,
			{ ...stored, ...change },
			true,
			false,
			null,
			null,
		);

	// What is hidden in the editor is not there: so it is off, or the standard.
	test.each([
		{
			name: 'all fields with custom headers and a plain http address',
			given: {},
			then: ['apiKeyHeader', 'authTokenHeader', 'allowHttp'],
		},
		{
			name: 'no header fields with the standard names',
			given: { headerNames: 'standard' },
			then: ['allowHttp'],
		},
		{
			name: 'no header fields with those of Webpushr',
			given: { headerNames: 'webpushr' },
			then: ['allowHttp'],
		},
		{
			name: 'no Allow HTTP with an https address',
			given: { headerNames: 'standard', baseUrl: 'https://push.example' },
			then: [],
		},
	])('holds $name', ({ given, then }) => {
		const always = ['baseUrl', 'apiKey', 'authToken', 'headerNames'];
		const fields = Object.keys(decrypted(given) ?? {}).filter((name) => !/isFixed$/i.test(name));
		expect(fields).toEqual([...always, ...then]);
	});

	// An address is refused with the advice to turn on Allow HTTP: then that field is there.
	test('holds Allow HTTP with http:// in any case, and with blanks in front', () => {
		const letters = fc.tuple(
			...[...'http'].map((letter) => fc.constantFrom(letter, letter.toUpperCase())),
		);
		const blanks = fc.string({ unit: fc.constantFrom(...' \t\n\v\f\r\u00a0\ufeff') });
		fc.assert(
			fc.property(blanks, letters, fc.string(), (before, scheme, after) => {
				const baseUrl = `${before}${scheme.join('')}://push.example${after}`;
				expect(decrypted({ baseUrl })).toHaveProperty('allowHttp', true);
			}),
		);
	});

	test('holds all that may be needed if the field that decides is an expression', () => {
		const change = { headerNames: '={{ $json.names }}', baseUrl: '={{ $json.url }}' };
		expect(decrypted(change)).toMatchObject({ ...stored, ...change });
	});

	test('is marked as fixed if no field is an expression', () => {
		expect(decrypted({ apiKey: 'a={{ $json.key }}' })).toMatchObject({ isFixed: true });
	});

	test.each(Object.keys(stored))(
		'is not marked as fixed if %s is an expression, even if the mark was saved',
		(name) => {
			const change = { [name]: '={{ $json.x }}', isFixed: true };
			expect(decrypted(change)).not.toHaveProperty('isFixed');
		},
	);

	// The ledger counts what an expression gives, and not a key that is changed in n8n.
	test('says of each of the fields that are in headers whether it is an expression', () => {
		const marks = (change: ICredentialDataDecryptedObject) =>
			Object.keys(decrypted(change) ?? {}).filter((name) => /.IsFixed$/.test(name));
		const all = ['apiKey', 'authToken', 'headerNames', 'apiKeyHeader', 'authTokenHeader'];
		const isFixed = (names: string[]) => names.map((name) => `${name}IsFixed`);
		expect(marks({})).toEqual(isFixed(all));
		expect(marks({ baseUrl: '={{ $json.url }}' })).toEqual(isFixed(all));
		for (const name of all.slice(0, 3)) {
			const others = all.filter((each) => each !== name);
			expect(marks({ [name]: '={{ $json.x }}', [`${name}IsFixed`]: true })).toEqual(
				isFixed(others),
			);
		}
	});
});

// Specification, Authentication, and Common to all operations: the content type also without a body.
describe('a request gets the headers of the key and the token', () => {
	test.each([
		{
			name: 'and the content type if it has no headers',
			headers: undefined,
			kept: { 'Content-Type': 'application/json' },
		},
		{
			name: 'and the content type beside its own headers',
			headers: { Accept: 'x' },
			kept: { Accept: 'x', 'Content-Type': 'application/json' },
		},
		{
			name: 'and keeps its own content type in lower case',
			headers: { 'content-type': 'x' },
			kept: { 'content-type': 'x' },
		},
		{
			name: 'and keeps its own content type in upper case',
			headers: { 'CONTENT-TYPE': 'x' },
			kept: { 'CONTENT-TYPE': 'x' },
		},
	])('$name', async ({ headers, kept }) => {
		const before = structuredClone(headers);
		expect(await sign({}, headers === undefined ? {} : { headers })).toEqual({
			url: 'https://push.example',
			headers: { ...kept, serviceKey: 'the-key', 'x-token': 'the-token' },
		});
		expect(headers).toEqual(before);
	});
});

// n8n shows the message of what is thrown here, and nothing else of it.
describe('a request is refused, in one message that says what to do,', () => {
	test.each([
		{
			name: 'if the address is plain http and not allowed',
			change: { allowHttp: false },
			then: "Base URL of the credential starts with http://, which would send the key and token unencrypted. Enter the service's https:// address. Only if you trust the whole network in between, turn on Allow HTTP.",
		},
		{
			name: 'if the token is missing',
			change: { authToken: ' ' },
			then: 'Auth Token of the credential is missing. Enter the value that your push service gave you.',
		},
	])('$name', async ({ change, then }) => {
		await expect(sign(change)).rejects.toThrow(then);
	});
});
