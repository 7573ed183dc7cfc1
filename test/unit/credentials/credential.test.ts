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
test('no regular expression decides what n8n opens', () => {
	expect(JSON.stringify(credential.properties)).not.toContain('regex');
});

describe('what n8n opens', () => {
	const opened = (change: ICredentialDataDecryptedObject) =>
		NodeHelpers.getNodeParameters(
			credential.properties,
			{ ...stored, ...change },
			true,
			false,
			null,
			null,
		);

	// What is hidden in the editor is not there, and so it is off, or the standard.
	test.each([
		[{}, ['apiKeyHeader', 'authTokenHeader', 'allowHttp']],
		[{ headerNames: 'standard' }, ['allowHttp']],
		[{ headerNames: 'webpushr' }, ['allowHttp']],
		[{ headerNames: 'standard', baseUrl: 'https://push.example' }, []],
		[{ headerNames: 'standard', baseUrl: 'HTTP://push.example' }, ['allowHttp']],
	])('of %j holds %j beside what is always there', (change, names) => {
		const always = ['baseUrl', 'apiKey', 'authToken', 'headerNames'];
		expect(Object.keys(opened(change) ?? {})).toEqual([...always, ...names, 'isFixed']);
	});

	test('holds whatever may be needed where the field that decides is an expression', () => {
		const change = { headerNames: '={{ $json.names }}', baseUrl: '={{ $json.url }}' };
		expect(opened(change)).toEqual({ ...stored, ...change });
	});

	test('says that no field is an expression', () => {
		expect(opened({ apiKey: 'a={{ $json.key }}' })).toMatchObject({ isFixed: true });
	});

	test.each(Object.keys(stored))('does not say so where %s is one, whatever was saved', (name) => {
		expect(opened({ [name]: '={{ $json.x }}', isFixed: true })).not.toHaveProperty('isFixed');
	});
});

// Specification, Authentication, and Common to all operations: the content type also where there is no body.
test.each([
	[undefined, { 'Content-Type': 'application/json' }],
	[{ Accept: 'x' }, { Accept: 'x', 'Content-Type': 'application/json' }],
	[{ 'content-type': 'x' }, { 'content-type': 'x' }],
	[{ 'CONTENT-TYPE': 'x' }, { 'CONTENT-TYPE': 'x' }],
])('puts its headers beside those of the request: %j', async (headers, kept) => {
	const before = structuredClone(headers);
	expect(await sign({}, headers === undefined ? {} : { headers })).toEqual({
		url: 'https://push.example',
		headers: { ...kept, serviceKey: 'the-key', 'x-token': 'the-token' },
	});
	expect(headers).toEqual(before);
});

// n8n shows the message of what is thrown here, and nothing else of it.
test.each([
	[
		{ allowHttp: false },
		"Base URL of the credential starts with http://, which would send the key and token unencrypted. Enter the service's https:// address. Only if you trust the whole network in between, turn on Allow HTTP.",
	],
	[
		{ authToken: ' ' },
		'Auth Token of the credential is missing. Enter the value that your push service gave you.',
	],
])('signs nothing with %j, and says in one message what to do', async (change, message) => {
	await expect(sign(change)).rejects.toThrow(message);
});
