import type { ICredentialDataDecryptedObject, ICredentialTestFunctions } from 'n8n-workflow';
import { credentialTest } from '../../../nodes/PushCampaign/execution/credentialTest';
import { PushCampaign } from '../../../nodes/PushCampaign/PushCampaign.node';
import { PushCampaignTrigger } from '../../../nodes/PushCampaign/PushCampaignTrigger.node';

const data = { baseUrl: 'https://push.example/', apiKey: 'the-key', authToken: 'the-token' };
const unused = () => {
	throw new Error('Not part of this test');
};

async function tested(answer: () => unknown, change: ICredentialDataDecryptedObject = {}) {
	const asked: unknown[] = [];
	const context: ICredentialTestFunctions = {
		logger: { error: unused, warn: unused, info: unused, debug: unused },
		helpers: {
			getSSHClient: unused,
			updateLastUsed: unused,
			async request(options) {
				asked.push(options);
				return answer();
			},
		},
	};
	const credential = {
		id: '1',
		name: 'Ours',
		type: 'pushCampaignApi',
		data: { ...data, ...change },
	};
	const result = await credentialTest.pushCampaignApi.call(context, credential);
	return { asked, ...result };
}

const answered = (body: unknown, statusCode = 200, headers = {}) => ({
	body: typeof body === 'string' ? body : JSON.stringify(body),
	statusCode,
	headers,
});
const refused = (type?: string) => answered({ status: 'failure', type, description: 'No' });
const thrown = (code: string) => () => {
	throw Object.assign(new Error(`x ${data.apiKey}`), { code, syscall: 'connect' });
};
const checkUrl = 'Check Base URL: the address of your push service, without /v1.';
const checkKeys = 'Check API Key, Auth Token and Header Names.';

test('n8n finds it in both nodes', () => {
	for (const { description, methods } of [new PushCampaign(), new PushCampaignTrigger()]) {
		expect(description.credentials).toMatchObject([{ testedBy: 'pushCampaignApi' }]);
		expect(methods.credentialTest).toBe(credentialTest);
	}
});

test('reads the subscriber count, and follows no redirect', async () => {
	const { asked, status } = await tested(() => answered({ active_subscribers: '1' }));
	expect(status).toBe('OK');
	expect(asked).toEqual([
		{
			uri: 'https://push.example/v1/site/subscriber_count',
			headers: {
				'Content-Type': 'application/json',
				Accept: 'application/json',
				serviceKey: 'the-key',
				serviceAuthToken: 'the-token',
			},
			simple: false,
			resolveWithFullResponse: true,
			followRedirect: false,
			timeout: 30_000,
		},
	]);
});

test.each<[answer: () => unknown, message: string]>([
	[
		() => refused('authentication_failure'),
		`The push service does not accept the credential. ${checkKeys}`,
	],
	[
		() => refused('header_invalid'),
		`The push service did not get one of the two headers of the credential. ${checkKeys}`,
	],
	[
		() => refused('rate_limit'),
		'The push service is receiving too many requests. Wait a moment and test again.',
	],
	[
		() => refused(),
		'The push service could not carry out the request. Check Base URL, without /v1, or test again later.',
	],
	[
		() => refused('invalid_value'),
		`The push service does not accept one of the values. ${checkUrl}`,
	],
	[
		() => answered({}),
		'The answer (HTTP 200) is not what the push service promises. Check Base URL, without /v1, or test again later.',
	],
	[
		() => answered('<html></html>', 404),
		`The push service was not reached: the answer (HTTP 404) is a web page. ${checkUrl}`,
	],
	[
		() => answered('', 301, { location: 'https://shop.example' }),
		`The address of the push service redirects to shop.example (HTTP 301). ${checkUrl}`,
	],
	[
		thrown('ECONNREFUSED'),
		'No connection to push.example could be made: the address refuses connections. Check Base URL, without /v1, or test again later.',
	],
])('%p: what happened, and what to check', async (answer, message) => {
	const { asked: _asked, ...result } = await tested(answer);
	expect(result).toEqual({ status: 'Error', message });
});

test('says what is wrong with a field before anything is asked', async () => {
	const { asked, message } = await tested(unused, { apiKey: '' });
	expect(asked).toEqual([]);
	expect(message).toBe(
		'API Key of the credential is missing. Enter the value that your push service gave you.',
	);
});
