import type { IDataObject, INodeParameters } from 'n8n-workflow';
import {
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

/** Each value in its own kind of place; the rules themselves are told in the unit tests. */
const places: ReadonlyArray<{
	/** Reads the value from `$json.value`. */
	readonly parameters: INodeParameters;
	readonly bad: IDataObject[string];
	/** What stands in its place in the other items. */
	readonly good: IDataObject[string];
	/** How the message begins. */
	readonly field: string;
}> = [
	{
		parameters: { title: '={{ $json.value }}' },
		bad: '🌷'.repeat(101),
		good: 'Title',
		field: 'Title is 101 characters long',
	},
	{
		parameters: { additionalFields: { iconUrl: '={{ $json.value }}' } },
		bad: 'http://a.example/i.png',
		good: 'https://a.example',
		field: 'Icon URL',
	},
	{
		parameters: { additionalFields: { sendAt: '={{ $json.value }}' } },
		bad: new Date(Date.now() + 3.9 * 60_000).toISOString(),
		good: '2099-01-02T03:04:00Z',
		field: 'Send At',
	},
	{
		parameters: {
			additionalFields: { expireAfter: { duration: { amount: 3, unit: '={{ $json.value }}' } } },
		},
		bad: 'w',
		good: 'd',
		field: 'Expire After',
	},
	{
		parameters: {
			additionalFields: {
				actionButtons: {
					button: [
						{ title: 'Go', url: 'https://a.example' },
						{ title: 'Go', url: '={{ $json.value }}' },
					],
				},
			},
		},
		bad: 'a.example',
		good: 'https://a.example',
		field: 'URL of button 2 in Action Buttons',
	},
	{
		parameters: {
			operation: 'sendToAttributes',
			attributes: {
				pairs: [
					{ name: 'plan', value: 'pro' },
					{ name: '={{ $json.value }}', value: 'Oslo' },
				],
			},
		},
		bad: 'plan',
		good: 'city',
		field: 'Attributes has the name "plan" twice',
	},
	{
		parameters: {
			operation: 'sendToAttributes',
			specifyAttributes: 'json',
			attributesJson: '={{ $json.value }}',
		},
		bad: '{"plan":',
		good: '{"plan":"pro"}',
		field: 'Attributes (JSON)',
	},
	{
		parameters: { operation: 'sendToSegments', segmentIds: '={{ $json.value }}' },
		bad: ['31', ' '],
		good: '31',
		field: 'Segment IDs',
	},
	{
		parameters: { operation: 'sendToSubscriber', subscriberId: '={{ $json.value }}' },
		bad: 2 ** 53 + 2,
		good: '5001',
		field: 'Subscriber ID',
	},
	{
		parameters: { options: { dryRun: '={{ $json.value }}' } },
		bad: 'false',
		good: false,
		field: 'Dry Run',
	},
];

const matching = (pattern: RegExp): unknown => expect.stringMatching(pattern);
const words = matching(/^\S/);
const sentence = matching(/\.$/);
const aboutTitle = matching(/^Title /);
const aboutCampaignId = matching(/^Campaign ID /);

describe.each(places)('$field', ({ parameters, bad, good, field }) => {
	const input = [good, bad, good].map((value, place) => ({ json: { value, place } }));

	test('is an error with item and field, and nothing is sent', async () => {
		const run = await runWorkflow(chain([push(parameters)]), {
			credentials: credentialsFor(simulator()),
			input,
		});
		const failure = failureOf(run);
		expect(failure).toMatchObject({
			name: 'NodeOperationError',
			itemIndex: 1,
			cause: 'configuration-invalid',
		});
		expect(failure.message.startsWith(field)).toBe(true);
		expect(failure.description).toMatch(
			/ Sent: 0, not sent: 3, unknown: 0\. First to fail: item 1\.$/,
		);
		expect(simulator().requests).toHaveLength(0);
	});

	test('fails alone with Continue', async () => {
		const run = await runWorkflow(chain([push(parameters, { onError: 'continueRegularOutput' })]), {
			credentials: credentialsFor(simulator()),
			input,
		});
		expect(run.status).toBe('success');
		const [first, second, third] = outputOf(run);
		expect(first).toMatchObject({ status: 'success' });
		expect(third).toMatchObject({ status: 'success' });
		expect(second).toStrictEqual({
			error: { message: words, description: sentence, type: 'validation', outcome: 'notSent' },
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

test('a read names the field, and asks for nothing', async () => {
	const parameters = { operation: 'getStatus', campaignId: '={{ $json.campaignId }}' };
	const input = inputOf({ campaignId: simulator().addCampaign() }, { campaignId: '..' });
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
		error: { message: aboutCampaignId, description: sentence, type: 'validation' },
	});
});

describe('a credential', () => {
	test.each([
		['a base URL with user info', { baseUrl: 'http://me:secret@127.0.0.1:9' }, 'Base URL'],
		['no base URL', { baseUrl: '' }, 'Base URL'],
		['plain http to another host', { baseUrl: 'http://push.example.com' }, 'Base URL'],
		['a blank token', { authToken: '  ' }, 'Auth Token'],
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
