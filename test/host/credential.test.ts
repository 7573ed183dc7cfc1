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
const checkBaseUrl =
	"The answer is not the push service's. Check 'Base URL' in the Push Campaign API credential.";
const checkKey =
	"The push service does not accept the credential. Check 'API Key' and 'Auth Token' in the Push Campaign API credential.";

interface Case {
	readonly name: string;
	readonly answer?: Fault['action'];
	/** What is entered in place of the right values. */
	readonly change?: (urls: { service: string; n8n: string }) => object;
	/** Left out, the test succeeds. */
	readonly says?: string | RegExp;
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
	{ name: 'a web page with HTTP 200', answer: page, says: checkBaseUrl },
	{ name: "n8n's own address", change: ({ n8n }) => ({ baseUrl: n8n }), says: checkBaseUrl },
	{ name: 'a page with HTTP 404', answer: { ...page, status: 404 }, says: checkBaseUrl },
	{ name: 'a page with HTTP 401', answer: { ...page, status: 401 }, says: checkBaseUrl },
	{ name: 'a page with HTTP 503', answer: { ...page, status: 503 }, says: checkBaseUrl },
	{ name: 'a wrong key, with HTTP 401', change: () => ({ apiKey: 'wrong' }), says: checkKey },
	{ name: 'a failure with HTTP 200', answer: { ...unauthorized, status: 200 }, says: checkKey },
	{
		name: 'other header names',
		change: () => ({ headerNames: 'webpushr' }),
		says: /^The push service did not get both headers of the credential\. Check 'Header Names' /,
	},
	{
		name: 'a redirect',
		answer: { kind: 'redirect', location: 'http://127.0.0.1:1/x', status: 302 },
		says: checkBaseUrl,
	},
	{
		name: 'an address that ends in /v1',
		change: ({ service }) => ({ baseUrl: `${service}/v1/` }),
		says: "'Base URL' of the credential ends in /v1. Enter it without /v1, which every request adds by itself.",
	},
	{
		name: 'an http:// address of another machine',
		change: () => ({ baseUrl: 'http://push.example.com' }),
		says: /^'Base URL' of the credential starts with http:\/\/.* turn on 'Allow HTTP'\.$/,
	},
	{
		name: 'an address where nobody listens',
		change: () => ({ baseUrl: 'http://127.0.0.1:1' }),
		says: /ECONNREFUSED|refused/,
	},
	{
		name: 'an unknown host',
		change: () => ({ baseUrl: 'https://nowhere.invalid' }),
		says: /ENOTFOUND|EAI_AGAIN|host/,
	},
];

describe("the credential's own test", () => {
	const stage = useStage({ editor: true });

	test.each(cases)('says what to mend after $name', async ({ answer, change, says }) => {
		const { client, credential, server, simulator } = stage();
		if (answer !== undefined) simulator.addFault({ action: answer });
		const urls = { service: simulator.url, n8n: server.url };
		const data = { baseUrl: simulator.url, ...secrets, ...change?.(urls) };
		const { status, message = '' } = await client.testCredential(credential, data);
		expect(status).toBe(says === undefined ? 'OK' : 'Error');
		expect(message).toEqual(typeof says === 'string' ? says : expect.stringMatching(says ?? /./));
	});
});
