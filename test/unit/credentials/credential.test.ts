import type { ICredentialDataDecryptedObject, IHttpRequestOptions } from 'n8n-workflow';
import { NodeHelpers } from 'n8n-workflow';
import { PushCampaignApi } from '../../../credentials/PushCampaignApi.credentials';

const credential = new PushCampaignApi();
const data: ICredentialDataDecryptedObject = {
	baseUrl: 'https://push.example/',
	apiKey: ' the-key ',
	authToken: 'the-token',
	allowHttp: false,
	headerNames: 'custom',
	apiKeyHeader: 'serviceKey',
	authTokenHeader: 'x-token',
};

/** Every field, as saved. */
const stored = {
	baseUrl: 'http://push.example',
	apiKey: 'the-key',
	authToken: 'the-token',
	allowHttp: true,
	headerNames: 'custom',
	apiKeyHeader: 'x-key',
	authTokenHeader: 'x-token',
};

async function sign(entered: ICredentialDataDecryptedObject, options: IHttpRequestOptions) {
	const { authenticate: signWith } = credential;
	if (typeof signWith !== 'function') throw new TypeError('It is not a function');
	return await signWith(entered, options);
}

const authenticate = async (options: IHttpRequestOptions, change: object = {}) =>
	await sign({ ...data, ...change }, options);

test('has the fields that saved credentials hold', () => {
	expect(credential.name).toBe('pushCampaignApi');
	expect(credential.displayName).toBe('Push Campaign API');
	const fields = credential.properties.map(({ name, type, default: value, required = false }) => [
		name,
		type,
		value,
		required,
	]);
	expect(fields).toEqual([
		['baseUrl', 'string', '', true],
		['apiKey', 'string', '', true],
		['authToken', 'string', '', true],
		['headerNames', 'options', 'standard', false],
		['apiKeyHeader', 'string', '', true],
		['authTokenHeader', 'string', '', true],
		['allowHttp', 'boolean', false, false],
		['isFixed', 'hidden', true, false],
	]);
	const hidden = credential.properties.filter(({ typeOptions }) => typeOptions?.password);
	expect(hidden.map(({ name }) => name)).toEqual(['apiKey', 'authToken']);
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
		[
			{},
			[
				'baseUrl',
				'apiKey',
				'authToken',
				'headerNames',
				'apiKeyHeader',
				'authTokenHeader',
				'allowHttp',
			],
		],
		[{ headerNames: 'standard' }, ['baseUrl', 'apiKey', 'authToken', 'headerNames', 'allowHttp']],
		[{ headerNames: 'webpushr' }, ['baseUrl', 'apiKey', 'authToken', 'headerNames', 'allowHttp']],
		[
			{ headerNames: 'standard', baseUrl: 'https://push.example' },
			['baseUrl', 'apiKey', 'authToken', 'headerNames'],
		],
		[
			{ headerNames: 'standard', baseUrl: 'HTTP://push.example' },
			['baseUrl', 'apiKey', 'authToken', 'headerNames', 'allowHttp'],
		],
	])('of %j holds %j', (change, names) => {
		expect(Object.keys(opened(change) ?? {})).toEqual([...names, 'isFixed']);
	});

	test('holds whatever may be needed where the field that decides is an expression', () => {
		const change = { headerNames: '={{ $json.names }}', baseUrl: '={{ $json.url }}' };
		expect(opened(change)).toEqual({ ...stored, ...change });
	});

	// n8n gives up on one when the machine is busy for a quarter of a second, and on the credential with it.
	test('is told by no regular expression of n8n', () => {
		expect(JSON.stringify(new PushCampaignApi().properties)).not.toContain('regex');
	});

	test('says that no field is an expression', () => {
		expect(opened({})).toMatchObject({ isFixed: true });
		expect(opened({ apiKey: 'a={{ $json.key }}' })).toMatchObject({ isFixed: true });
	});

	test.each(Object.keys(stored))('does not say so where %s is one, whatever was saved', (name) => {
		expect(opened({ [name]: '={{ $json.x }}', isFixed: true })).not.toHaveProperty('isFixed');
	});
});

// Specification, Authentication.
test('puts both headers beside those of the request', async () => {
	const options = { url: 'https://push.example/v1/x', headers: { Accept: 'application/json' } };
	expect(await authenticate(options)).toEqual({
		url: 'https://push.example/v1/x',
		headers: {
			Accept: 'application/json',
			'Content-Type': 'application/json',
			serviceKey: 'the-key',
			'x-token': 'the-token',
		},
	});
	expect(options.headers).toEqual({ Accept: 'application/json' });
	expect(await authenticate({ url: 'https://push.example' })).toMatchObject({
		headers: {
			'Content-Type': 'application/json',
			serviceKey: 'the-key',
			'x-token': 'the-token',
		},
	});
});

// Specification, Common to all operations: also where there is no body.
test.each(['Content-Type', 'content-type', 'CONTENT-TYPE'])(
	'leaves a %s alone that the request has',
	async (name) => {
		const { headers } = await authenticate({
			url: 'https://push.example',
			headers: { [name]: 'x' },
		});
		expect(headers).toEqual({ [name]: 'x', serviceKey: 'the-key', 'x-token': 'the-token' });
	},
);

// n8n shows the message of what is thrown here, and nothing else of it.
test('says in one message what is wrong and what to do', async () => {
	const signing = authenticate({ url: 'x' }, { baseUrl: 'http://push.example' });
	await expect(signing).rejects.toThrow(
		"Base URL of the credential starts with http://, which would send the key and token unencrypted. Enter the service's https:// address. Only if you trust the whole network in between, turn on Allow HTTP.",
	);
});

test('gives each credential its own headers, however often it signs', async () => {
	const one = { ...data, apiKey: 'one' };
	const other = { ...data, apiKey: 'other' };
	const keys = [];
	for (const entered of [one, other, one]) {
		const { headers } = await sign(entered, { url: 'https://push.example' });
		keys.push(headers?.['serviceKey']);
	}
	expect(keys).toEqual(['one', 'other', 'one']);
});

test.each([
	{ baseUrl: '' },
	{ baseUrl: 'http://push.example' },
	{ apiKey: '' },
	{ authToken: ' ' },
])('signs nothing with %j', async (change) => {
	await expect(authenticate({ url: 'https://push.example' }, change)).rejects.toThrow(
		/Base URL|API Key|Auth Token/,
	);
});
