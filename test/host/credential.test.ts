import type { Fault } from '../../simulator';
import { secrets, useStage } from './support';

const page: Fault['action'] = {
	kind: 'respond',
	status: 200,
	body: '<!doctype html><title>Welcome</title>',
	headers: { 'content-type': 'text/html' },
};
const unauthorized: Fault['action'] = {
	kind: 'failure',
	type: 'authentication_failure',
	description: 'You are not authorized',
};
const notTheService =
	"The answer is not the push service's. Either 'Base URL' is not its address, or the service is not working.";
const checkKey =
	"The push service does not accept the credential. Check 'API Key' and 'Auth Token' in the Push Campaign API credential.";

interface Case {
	readonly name: string;
	readonly answer?: Fault['action'];
	/** What is entered in place of the right values. */
	readonly change?: (urls: { service: string }) => object;
	/** Left out, the test succeeds. */
	readonly says?: string;
}

const cases: Case[] = [
	{ name: 'the right values' },
	{
		name: 'the right values, with what nobody sees around them',
		change: ({ service }) => ({
			baseUrl: `\u200B ${service}/\u200E`,
			apiKey: `\u00AD${secrets.apiKey}\u200B`,
			authToken: `=\u200E{{ '${secrets.authToken}' }}\uFEFF`,
		}),
	},
	{ name: 'a web page with HTTP 200', answer: page, says: notTheService },
	{ name: 'a page with HTTP 503', answer: { ...page, status: 503 }, says: notTheService },
	{ name: 'a wrong key, with HTTP 401', change: () => ({ apiKey: 'wrong' }), says: checkKey },
	{
		name: 'a failure of another type',
		answer: { kind: 'failure', type: 'plan_expired', description: 'Your plan ended', status: 402 },
		says: "The push service refused the request. Push Campaign's operation 'Get Subscriber Count' shows what it says.",
	},
	{ name: 'a failure with HTTP 200', answer: { ...unauthorized, status: 200 }, says: checkKey },
	{
		name: 'a redirect',
		answer: { kind: 'redirect', location: 'http://127.0.0.1:1/x', status: 302 },
		says: notTheService,
	},
	{
		name: 'an address that ends in /v1',
		change: ({ service }) => ({ baseUrl: `${service}/v1/` }),
		says: "'Base URL' of the credential ends in /v1. Enter it without /v1, which every request adds by itself.",
	},
	{
		name: 'an address where nobody listens',
		change: () => ({ baseUrl: 'http://127.0.0.1:1' }),
		says: 'ECONNREFUSED',
	},
];

describe("the credential's own test", () => {
	const stage = useStage();

	test.each(cases)('says what to mend after $name', async ({ answer, change, says }) => {
		const { client, credential, simulator } = stage();
		if (answer !== undefined) simulator.addFault({ action: answer });
		const data = { baseUrl: simulator.url, ...secrets, ...change?.({ service: simulator.url }) };
		const { status, message = '' } = await client.testCredential(credential, data);
		expect(status).toBe(says === undefined ? 'OK' : 'Error');
		expect(message).toBe(says ?? 'Connection successful!');
	});
});
