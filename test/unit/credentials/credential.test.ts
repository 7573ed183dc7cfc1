import type { ICredentialDataDecryptedObject, IDataObject } from 'n8n-workflow';
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

const get = (answer: unknown, key: string): unknown =>
	typeof answer === 'object' && answer !== null ? Reflect.get(answer, key) : undefined;

/** The headers of a request that n8n signs. */
async function signed(headers?: IDataObject, change: object = {}) {
	const { authenticate } = credential;
	if (typeof authenticate !== 'function') throw new TypeError('It is not a function');
	const request = { url: 'https://push.example', ...(headers && { headers }) };
	return (await authenticate({ ...stored, ...change }, request)).headers;
}

/** What n8n decrypts. */
const decrypted = (change: ICredentialDataDecryptedObject) =>
	NodeHelpers.getNodeParameters(
		credential.properties,
		{ ...stored, ...change },
		true,
		false,
		null,
		null,
	);

describe('the decrypted credential', () => {
	test('has Allow HTTP, whatever the address is', () => {
		expect(decrypted({ baseUrl: 'https://push.example' })).toHaveProperty('allowHttp', true);
	});

	test('has names of headers only if they are the user’s own', () => {
		expect(decrypted({})).toHaveProperty('apiKeyHeader', 'serviceKey');
		expect(decrypted({ headerNames: 'webpushr' })).not.toHaveProperty('apiKeyHeader');
	});

	test('is marked as fixed if no field is an expression', () => {
		expect(decrypted({ apiKey: 'a={{ $json.key }}' })).toHaveProperty('isFixed', true);
		expect(decrypted({ allowHttp: false })).toHaveProperty('isFixed', true);
	});

	test.each(Object.keys(stored))(
		'is not marked as fixed if %s is an expression, even if the mark was saved',
		(name) => {
			const change = { [name]: '={{ $json.x }}', isFixed: true };
			expect(decrypted(change)).not.toHaveProperty('isFixed');
		},
	);
});

// Specification, Authentication, and Common to all operations: the content type also without a body.
describe('a request gets the key and the token', () => {
	const added = { serviceKey: 'the-key', 'x-token': 'the-token' };

	test.each([undefined, { Accept: 'x' }])('and a content type beside %j', async (headers) => {
		const type = { 'Content-Type': 'application/json' };
		expect(await signed(headers)).toEqual({ ...headers, ...type, ...added });
	});

	test.each([{ 'content-type': 'x' }, { 'CONTENT-TYPE': 'x' }])(
		'and keeps its own content type: %j',
		async (headers) => {
			expect(await signed(headers)).toEqual({ ...headers, ...added });
		},
	);

	test('and stays as it is otherwise', async () => {
		const request = { url: 'https://push.example', method: 'POST', body: 'text' } as const;
		const { authenticate } = credential;
		if (typeof authenticate !== 'function') throw new TypeError('It is not a function');
		expect(await authenticate(stored, request)).toMatchObject(request);
	});

	// n8n shows the message alone.
	test('or is refused in a message that says what to do', async () => {
		await expect(signed({}, { allowHttp: false })).rejects.toThrow(
			/^'Base URL' of the credential starts with http:.* turn on 'Allow HTTP'\.$/,
		);
	});
});

describe('its test', () => {
	const failing = (type?: string) => ({ status: 'failure', type });

	// The words are in panels.md. As n8n does, the first rule that fits counts (n8n 2.41.1, `services/credentials-tester.service.js`).
	test.each<{ name: string; answer: unknown; says?: RegExp }>([
		{ name: 'the count', answer: { active_subscribers: '7' } },
		{ name: 'missing headers', answer: failing('header_invalid'), says: /'Header Names'/ },
		{ name: 'a wrong key', answer: failing('authentication_failure'), says: /'API Key'/ },
		{ name: 'a rate limit', answer: failing('rate_limit'), says: /too many requests/ },
		{ name: 'a failure of any other type', answer: failing('plan_expired'), says: /refused/ },
		{ name: 'a web page', answer: '<!doctype html>', says: /'Base URL'/ },
	])('says what $name means', ({ answer, says }) => {
		const rules = credential.test.rules?.map(({ properties }) => properties) ?? [];
		const first = rules.find((each) => 'key' in each && get(answer, each.key) === each.value);
		expect(first?.message ?? '').toMatch(says ?? /^$/);
	});

	// n8n hands its address to `authenticate` (n8n-core 2.41.1, `request-helpers/authentication.js`).
	test.each(['https://push.example/api', ' \u200Bhttps://push.example/api//\u200E\n'])(
		'asks the address that the nodes ask, with the same key: %j',
		async (baseUrl) => {
			const { authenticate } = credential;
			if (typeof authenticate !== 'function') throw new TypeError('It is not a function');
			const { url = '' } = credential.test.request;
			const entered = { ...stored, baseUrl, apiKey: '\u200Ethe-key\u00AD', authToken: 2143 };
			const asked = await authenticate(entered, { url, baseURL: baseUrl });
			expect(asked).toMatchObject({
				...{ baseURL: 'https://push.example/api', url: '/v1/site/subscriber_count' },
				headers: { serviceKey: 'the-key', 'x-token': '2143' },
			});
		},
	);
});
