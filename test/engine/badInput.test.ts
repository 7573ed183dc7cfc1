import type { IDataObject, INodeParameters } from 'n8n-workflow';
import {
	content,
	credentialsFor,
	failureOf,
	inputOf,
	outputOf,
	push,
	sendsAt,
	titlesAt,
	useSimulator,
} from './support/pushCampaign';
import { itemsOf, runWorkflow } from './support/run';
import { chain, connect, nodeFrom } from './support/workflow';

const simulator = useSimulator();
const minutesAhead = (minutes: number) => new Date(Date.now() + minutes * 60_000).toISOString();

interface Case {
	readonly name: string;
	/** Reads what is bad, where an item has it, from `$json.bad`; good items have `$json.good`. */
	readonly parameters: INodeParameters;
	/** What is bad, and what stands in its place in the other items. */
	readonly bad: unknown;
	readonly good: unknown;
	/** How the message begins. */
	readonly field: string;
}

const field = (
	name: string,
	parameter: keyof typeof content,
	displayName: string,
	bad: unknown,
): Case => ({
	name,
	parameters: { [parameter]: '={{ $json.value }}' },
	bad,
	good: content[parameter],
	field: displayName,
});

const additional = (
	name: string,
	parameter: string,
	displayName: string,
	bad: unknown,
	good: unknown,
): Case => ({
	name,
	parameters: { additionalFields: { [parameter]: '={{ $json.value }}' } },
	bad,
	good,
	field: displayName,
});

/** A second pair beside `plan: pro`. */
const attributes = (name: string, bad: unknown, displayName: string): Case => ({
	name,
	parameters: {
		operation: 'sendToAttributes',
		attributes: {
			pairs: [
				{ name: 'plan', value: 'pro' },
				{ name: '={{ $json.value.name }}', value: '={{ $json.value.value }}' },
			],
		},
	},
	bad,
	good: { name: 'city', value: 'Oslo' },
	field: displayName,
});

const attributesJson = (name: string, bad: unknown): Case => ({
	name,
	parameters: {
		operation: 'sendToAttributes',
		specifyAttributes: 'json',
		attributesJson: '={{ $json.value }}',
	},
	bad,
	good: '{"plan":"pro"}',
	field: 'Attributes (JSON)',
});

const segments = (name: string, bad: unknown): Case => ({
	name,
	parameters: { operation: 'sendToSegments', segmentIds: '={{ $json.value }}' },
	bad,
	good: '31',
	field: 'Segment IDs',
});

const subscriber = (name: string, bad: unknown): Case => ({
	name,
	parameters: { operation: 'sendToSubscriber', subscriberId: '={{ $json.value }}' },
	bad,
	good: '5001',
	field: 'Subscriber ID',
});

const option = (
	name: string,
	parameter: string,
	displayName: string,
	bad: unknown,
	good: unknown,
) => ({
	name,
	parameters: { options: { [parameter]: '={{ $json.value }}' } },
	bad,
	good,
	field: displayName,
});

/** A second button beside a good one. */
const button = (name: string, displayName: string, bad: unknown): Case => ({
	name,
	parameters: {
		additionalFields: {
			actionButtons: {
				button: [
					{ title: 'Go', url: 'https://a.example' },
					{ title: '={{ $json.value.title }}', url: '={{ $json.value.url }}' },
				],
			},
		},
	},
	bad,
	good: { title: 'Go', url: 'https://a.example' },
	field: displayName,
});
const sendAt = (name: string, bad: unknown) =>
	additional(name, 'sendAt', 'Send At', bad, '2099-01-02T03:04:00Z');
const expiry = (name: string, amount: unknown, unit: unknown = 'd'): Case => ({
	name,
	parameters: {
		additionalFields: {
			expireAfter: {
				duration: { amount: '={{ $json.value.amount }}', unit: '={{ $json.value.unit }}' },
			},
		},
	},
	bad: { amount, unit },
	good: { amount: 1, unit: 'd' },
	field: 'Expire After',
});

const longUrl = (scheme: string, length: number) => `${scheme}://a.example/`.padEnd(length, 'z');

const cases: Case[] = [
	field('no title', 'title', 'Title', null),
	field('an empty title', 'title', 'Title', ''),
	field('a blank title', 'title', 'Title', ' \n\t'),
	field('a title one character too long', 'title', 'Title', 'x'.repeat(101)),
	field('a title one emoji too long', 'title', 'Title', '🌷'.repeat(101)),
	field('an empty message', 'message', 'Message', ''),
	field('a message one character too long', 'message', 'Message', 'x'.repeat(256)),
	field('no target URL', 'targetUrl', 'Target URL', null),
	field('a malformed target URL', 'targetUrl', 'Target URL', 'shop.example.com'),
	field('a target URL with a blank', 'targetUrl', 'Target URL', 'https://shop.example.com/a b'),
	field('a target URL without a host', 'targetUrl', 'Target URL', 'https://'),
	field('a target URL of another scheme', 'targetUrl', 'Target URL', 'ftp://shop.example.com'),
	field('a script as target URL', 'targetUrl', 'Target URL', 'javascript:alert(1)'),
	field('a target URL one too long', 'targetUrl', 'Target URL', longUrl('https', 256)),
	additional('a name one too long', 'name', 'Campaign Name', 'x'.repeat(101), 'ok'),
	additional('an http icon', 'iconUrl', 'Icon URL', 'http://a.example/i.png', 'https://a.example'),
	additional('a malformed icon', 'iconUrl', 'Icon URL', 'icon.png', 'https://a.example'),
	additional('an http image', 'imageUrl', 'Image URL', 'http://a.example', 'https://a.example'),
	additional('auto hide as text', 'autoHide', 'Auto Hide', 'true', true),
	expiry('an expiry of 0', 0),
	expiry('an expiry of 1.5', 1.5),
	expiry('a negative expiry', -1),
	expiry('an expiry as text', '3'),
	expiry('an expiry in weeks', 3, 'w'),
	sendAt('4 minutes ahead', minutesAhead(3.9)),
	sendAt('now', minutesAhead(0)),
	sendAt('in the past', '2001-02-03T04:05:00Z'),
	sendAt('an unreadable date', 'tomorrow'),
	sendAt('a day that does not exist', '2099-02-30T10:00:00Z'),
	sendAt('an empty date', ''),
	sendAt('no date', null),
	button('a button without URL', 'URL of button 2 in Action Buttons', { title: 'Go' }),
	button('a button with an empty URL', 'URL of button 2 in Action Buttons', {
		title: 'Go',
		url: '',
	}),
	button('a button with a malformed URL', 'URL of button 2 in Action Buttons', {
		title: 'Go',
		url: 'a.example',
	}),
	button('a button without title', 'Title of button 2 in Action Buttons', {
		url: 'https://a.example',
	}),
	button('a button title one too long', 'Title of button 2 in Action Buttons', {
		title: 'x'.repeat(101),
		url: 'https://a.example',
	}),
	button('a button URL one too long', 'URL of button 2 in Action Buttons', {
		title: 'Go',
		url: longUrl('https', 101),
	}),
	attributes(
		'a name twice',
		{ name: 'plan', value: 'free' },
		'Attributes has the name "plan" twice',
	),
	attributes(
		'an attribute without name',
		{ name: ' ', value: 'x' },
		'Name of pair 2 in Attributes',
	),
	attributes(
		'an attribute without value',
		{ name: 'a', value: '' },
		'Value of pair 2 in Attributes',
	),
	attributes('a nested value', { name: 'a', value: { b: 1 } }, 'Value of pair 2 in Attributes'),
	attributes('a list as value', { name: 'a', value: ['b'] }, 'Value of pair 2 in Attributes'),
	attributesJson('broken JSON', '{"plan":'),
	attributesJson('a JSON array', '["plan"]'),
	attributesJson('an empty JSON object', '{}'),
	attributesJson('a nested value in JSON', '{"plan":{"a":1}}'),
	attributesJson('null in JSON', '{"plan":null}'),
	attributesJson('an attribute without name in JSON', '{"":"x"}'),
	attributesJson('nothing as JSON', ''),
	segments('no segment', ''),
	segments('commas alone', ' , ,'),
	segments('an empty array', []),
	segments('an array with a blank', ['31', ' ']),
	segments('an array with an object', [{ id: 31 }]),
	segments('a segment that lost digits', [2 ** 53 + 2]),
	segments('half a number', 31.5),
	segments('two segments and a blank', '31 32'),
	segments('half of an array', '[31, 32'),
	subscriber('letters in a subscriber ID', '50a1'),
	subscriber('a negative subscriber ID', -5),
	subscriber('a subscriber ID that lost digits', 2 ** 53 + 2),
	subscriber('a fraction', 1.5),
	subscriber('no subscriber ID', null),
	subscriber('a list of subscriber IDs', ['5001']),
	option('a dry run as text', 'dryRun', 'Dry Run', 'false', false),
	option('a dry run that came to nothing', 'dryRun', 'Dry Run', null, false),
	option('no parallel request', 'maxParallel', 'Max Parallel Requests', 0, 10),
	option('too many parallel requests', 'maxParallel', 'Max Parallel Requests', 501, 10),
	option('a timeout of 0', 'timeout', 'Timeout', 0, 1000),
	option('half a retry', 'rateLimitRetries', 'Rate Limit Retries', 0.5, 1),
	option('resend unknown as text', 'resendUnknown', 'Resend Unknown', 'yes', false),
];

const matching = (pattern: RegExp): unknown => expect.stringMatching(pattern);
const words = matching(/^\S/);
const sentence = matching(/\.$/);
const aboutTitle = matching(/^Title /);
const aboutCampaignId = matching(/^Campaign ID /);

/** A good item, the bad one, and another good one. */
const inputFor = ({ bad, good }: Case) =>
	[good, bad, good].map((value, place) => ({ json: jsonOf({ value, place }) }));

const isJson = (value: unknown): value is IDataObject =>
	typeof value === 'object' && value !== null;

function jsonOf(value: object): IDataObject {
	const json: unknown = JSON.parse(JSON.stringify(value));
	if (!isJson(json)) throw new Error('Not an object');
	return json;
}

describe.each(cases)('$name', (bad) => {
	const input = inputFor(bad);

	test('is an error with item and field, and nothing is sent', async () => {
		const run = await runWorkflow(chain([push(bad.parameters)]), {
			credentials: credentialsFor(simulator()),
			input,
		});
		const failure = failureOf(run);
		expect(failure).toMatchObject({
			name: 'NodeOperationError',
			itemIndex: 1,
			cause: 'configuration-invalid',
		});
		expect(failure.message.startsWith(bad.field)).toBe(true);
		expect(failure.description).toMatch(
			/ Sent: 0, not sent: 3, unknown: 0\. First to fail: item 1\.$/,
		);
		expect(simulator().requests).toHaveLength(0);
	});

	test('fails alone with Continue', async () => {
		const run = await runWorkflow(
			chain([push(bad.parameters, { onError: 'continueRegularOutput' })]),
			{ credentials: credentialsFor(simulator()), input },
		);
		expect(run.status).toBe('success');
		const [first, second, third] = outputOf(run);
		expect(first).toMatchObject({ status: 'success' });
		expect(third).toMatchObject({ status: 'success' });
		expect(second).toStrictEqual({
			error: {
				message: words,
				description: sentence,
				type: 'validation',
				outcome: 'notSent',
			},
		});
		expect(sendsAt(simulator())).toHaveLength(2);
	});
});

test.each([
	['no pairs', { operation: 'sendToAttributes', attributes: {} }, /^Attributes /],
	['an empty list of pairs', { operation: 'sendToAttributes', attributes: { pairs: [] } }, /^Attr/],
])('%s', async (_name, parameters, message) => {
	const run = await runWorkflow(chain([push(parameters)]), {
		credentials: credentialsFor(simulator()),
	}).catch((error: unknown) => String(error));
	// n8n itself refuses a required collection that is empty.
	if (typeof run === 'string') expect(run).toContain('issues');
	else expect(failureOf(run)).toMatchObject({ message: matching(message), itemIndex: 0 });
	expect(simulator().requests).toHaveLength(0);
});

test('the words name item, field, rule and what to do', async () => {
	const run = await runWorkflow(chain([push({ title: '={{ $json.title }}' })]), {
		credentials: credentialsFor(simulator()),
		input: inputOf({ title: 'ok' }, { title: '🌷'.repeat(103) }),
	});
	expect(failureOf(run)).toStrictEqual({
		name: 'NodeOperationError',
		message: 'Title is 103 characters long, 3 more than the 100 that the service accepts',
		description:
			'Change Title and run the workflow again. Sent: 0, not sent: 2, unknown: 0. First to fail: item 1.',
		httpCode: undefined,
		itemIndex: 1,
		cause: 'configuration-invalid',
	});
});

test.each([
	['a missing title', { title: '' }],
	['a missing subscriber', { operation: 'sendToSubscriber', subscriberId: '' }],
])('n8n itself does not start with %s', async (_name, parameters) => {
	const run = runWorkflow(chain([push(parameters)]), { credentials: credentialsFor(simulator()) });
	await expect(run).rejects.toThrow('issues');
	expect(simulator().requests).toHaveLength(0);
});

test('an expression that throws is an error of its field', async () => {
	const run = await runWorkflow(
		chain([
			push({ title: '={{ $json.title.toUpperCase() }}' }, { onError: 'continueRegularOutput' }),
		]),
		{ credentials: credentialsFor(simulator()), input: inputOf({ title: 'a' }, {}) },
	);
	expect(outputOf(run)).toMatchObject([
		{ status: 'success' },
		{
			error: { message: aboutTitle, type: 'validation', outcome: 'notSent' },
		},
	]);
});

test('with the error output the bad item alone goes there, beside its input', async () => {
	const workflow = chain([
		push({ title: '={{ $json.title }}' }, { onError: 'continueErrorOutput' }),
		{ name: 'Sent', type: 'n8n-nodes-base.noOp' },
	]);
	workflow.nodes.push(nodeFrom({ name: 'Failed', type: 'n8n-nodes-base.noOp' }));
	connect(workflow, 'Push Campaign', 'Failed', 1);
	const run = await runWorkflow(workflow, {
		credentials: credentialsFor(simulator()),
		input: inputOf({ title: 'a', customer: 7 }, { title: '', customer: 8 }),
	});
	expect(itemsOf(run, 'Sent')).toMatchObject([{ json: { campaignId: '1001' } }]);
	expect(itemsOf(run, 'Failed').map(({ json }) => json)).toStrictEqual([
		{
			title: '',
			customer: 8,
			error: {
				message: 'Title is missing',
				description: 'Fill in Title.',
				type: 'validation',
				outcome: 'notSent',
			},
		},
	]);
	expect(titlesAt(simulator())).toStrictEqual(['a']);
});

describe('a read', () => {
	test.each([
		['no campaign ID', ''],
		['a list', ['1001']],
		['a fraction', 1.5],
		['a number that lost digits', 2 ** 53 + 2],
		['dots that walk up the path', '..'],
	])('with %s names the field and asks for nothing', async (_name, campaignId) => {
		const parameters = { operation: 'getStatus', campaignId: '={{ $json.campaignId }}' };
		const input = inputOf({ campaignId: simulator().addCampaign() }, { campaignId });
		const surroundings = { credentials: credentialsFor(simulator()), input };
		const stopped = await runWorkflow(chain([push(parameters)]), surroundings);
		expect(failureOf(stopped)).toMatchObject({
			name: 'NodeOperationError',
			itemIndex: 1,
			message: aboutCampaignId,
		});
		expect(simulator().requests).toHaveLength(0);

		const continued = await runWorkflow(
			chain([push(parameters, { onError: 'continueRegularOutput' })]),
			surroundings,
		);
		const [first, second] = outputOf(continued);
		expect(first).toMatchObject({ campaignId: '1001' });
		expect(second).toStrictEqual({
			error: {
				message: aboutCampaignId,
				description: sentence,
				type: 'validation',
			},
		});
	});
});

describe('a credential', () => {
	test.each([
		['a base URL with a query', { baseUrl: 'http://127.0.0.1:9/?a=b' }, 'Base URL'],
		['a base URL with an empty query', { baseUrl: 'http://127.0.0.1:9/?' }, 'Base URL'],
		['a base URL with a fragment', { baseUrl: 'http://127.0.0.1:9/#a' }, 'Base URL'],
		['a base URL with user info', { baseUrl: 'http://me:secret@127.0.0.1:9' }, 'Base URL'],
		['a base URL of another scheme', { baseUrl: 'ftp://127.0.0.1:9' }, 'Base URL'],
		['a base URL that is none', { baseUrl: 'push' }, 'Base URL'],
		['plain http to another host', { baseUrl: 'http://push.example.com' }, 'Base URL'],
		['no base URL', { baseUrl: '' }, 'Base URL'],
		['no key', { apiKey: '' }, 'API Key'],
		['a blank token', { authToken: '  ' }, 'Auth Token'],
		['a line break in the key', { apiKey: 'a\nb' }, 'API Key'],
		['a header name with a blank', { apiKeyHeader: 'a b' }, 'API Key Header'],
		['one name for both headers', { authTokenHeader: 'servicekey' }, 'Auth Token Header'],
	])('with %s is an error, in whatever way the node goes on', async (_name, changes, named) => {
		for (const onError of ['stopWorkflow', 'continueRegularOutput'] as const) {
			const run = await runWorkflow(chain([push({}, { onError })]), {
				credentials: credentialsFor(simulator(), changes),
			});
			const text = JSON.stringify(onError === 'stopWorkflow' ? failureOf(run) : outputOf(run));
			expect(text).toContain(named);
			expect(text).not.toContain('secret');
		}
		expect(simulator().requests).toHaveLength(0);
	});

	test('plain http to another host is accepted where it is allowed', async () => {
		const credentials = credentialsFor(simulator(), {
			baseUrl: 'http://push.invalid',
			allowHttp: true,
		});
		const run = await runWorkflow(chain([push()]), { credentials });
		expect(failureOf(run)).toMatchObject({
			name: 'NodeApiError',
			cause: 'temporarily-unavailable',
		});
	});
});
