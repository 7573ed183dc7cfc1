import type { ICredentialTestFunctions } from 'n8n-workflow';
import { credentialTest } from '../../../nodes/PushCampaign/execution/credentialTest';
import { PushCampaign } from '../../../nodes/PushCampaign/PushCampaign.node';
import { PushCampaignTrigger } from '../../../nodes/PushCampaign/PushCampaignTrigger.node';

const data = { baseUrl: 'https://push.example/', apiKey: 'the-key', authToken: 'the-token' };
const unused = () => {
	throw new Error('Not part of this test');
};

async function tested(answer: () => unknown, change = {}) {
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
	const credential = { id: '1', name: 'Ours', type: 'pushCampaignApi' };
	const given = { ...credential, data: { ...data, ...change } };
	return { asked, result: await credentialTest.pushCampaignApi.call(context, given) };
}

const answered = (body: object) => ({ body: JSON.stringify(body), statusCode: 200, headers: {} });
const refused = (type: string) => () => answered({ status: 'failure', type, description: 'No' });

test('n8n finds it in both nodes', () => {
	for (const { description, methods } of [new PushCampaign(), new PushCampaignTrigger()]) {
		expect(description.credentials).toMatchObject([{ testedBy: 'pushCampaignApi' }]);
		expect(methods.credentialTest).toBe(credentialTest);
	}
});

test('reads the subscriber count, and follows no redirect', async () => {
	const { asked, result } = await tested(() => answered({ active_subscribers: '1' }));
	expect(result).toEqual({ status: 'OK', message: 'The push service answers' });
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

const notConnected = () => {
	throw Object.assign(new Error(`x ${data.apiKey}`), { code: 'ECONNREFUSED', syscall: 'connect' });
};
const failing = (error: object) => () => {
	throw Object.assign(new Error('x'), error);
};
const proxyAdvice =
	"n8n takes the proxy's address from HTTPS_PROXY, HTTP_PROXY or ALL_PROXY in its environment, and uses none for the hosts in NO_PROXY.";
const checkUrl = 'Check Base URL, without /v1, or test again later.';

test.each<[answer: () => unknown, message: string, advice: string]>([
	[
		refused('authentication_failure'),
		'The push service does not accept the credential',
		'Check API Key, Auth Token and Header Names.',
	],
	[
		refused('rate_limit'),
		'The push service is receiving too many requests',
		'Wait a moment and test again.',
	],
	[
		refused('invalid_value'),
		'The push service does not accept one of the values',
		'Check Base URL: the address of your push service, without /v1.',
	],
	[() => answered({}), 'The answer (HTTP 200) is not what the push service promises', checkUrl],
	[notConnected, 'Could not connect to push.example: connection refused', checkUrl],
	[
		failing({ code: 'CERT_HAS_EXPIRED' }),
		'Could not connect to push.example: its certificate has expired',
		'The operator of the push service has to renew the certificate. Also check the clock of the machine that n8n runs on.',
	],
	[
		failing({ code: 'ECONNREFUSED', syscall: 'connect', address: '10.0.0.7', port: 3128 }),
		'Could not connect to the proxy 10.0.0.7:3128: connection refused',
		`Check that the proxy runs and lets n8n through. ${proxyAdvice}`,
	],
	[
		() => ({ body: '', statusCode: 407, headers: {} }),
		'The proxy that n8n uses asks for a user name and password (HTTP 407)',
		`Enter them in the address of the proxy, such as http://user:password@proxy.example:3128. ${proxyAdvice}`,
	],
])('%p: what happened, and what to check', async (answer, message, advice) => {
	const { result } = await tested(answer);
	expect(result).toEqual({ status: 'Error', message: `${message}. ${advice}` });
});

test('says what is wrong with a field before anything is asked', async () => {
	const { asked, result } = await tested(unused, { apiKey: '' });
	expect(asked).toEqual([]);
	expect(result.message).toBe(
		'API Key of the credential is missing. Enter the value that your push service gave you.',
	);
});
