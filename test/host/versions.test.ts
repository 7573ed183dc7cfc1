import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { INode, INodeParameters } from 'n8n-workflow';
import { z } from 'zod';
import {
	chain,
	connect,
	freePort,
	hostOf,
	node,
	outputOf,
	pollEvery,
	pushCampaign,
	pushCampaignTrigger,
	until,
	type Execution,
} from '../../host';
import type { Fault, RecordedRequest } from '../../simulator';
import { runNodes, secrets, useStage } from './support';
import { content, contentBody, everyOperation } from './support/fixtures';
import { anyText, objectWith, textLike, textWith } from './support/matchers';
import { untilRequests } from './support/reliabilityWorkflow';

const name = 'Push Campaign';
const noOp = 'n8n-nodes-base.noOp';
const generic = 'Something went wrong. Please try again after some time';

const counters = {
	total_attempts: 1000,
	successfully_sent: 800,
	failed_to_send: 200,
	delivered: 400,
	clicked: 100,
	closed: 50,
};

interface OperationCase {
	title: string;
	parameters: INodeParameters;
	path: string;
	/** Left out: a GET without a body. */
	body?: Record<string, unknown>;
	output: Record<string, unknown>;
}

const everyField = {
	iconUrl: 'https://example.com/icon.png',
	expireAfter: { duration: { amount: 3, unit: 'd' } },
	autoHide: false,
	sendAt: '2099-05-01T10:00:30+02:00',
};

const actionButtons = { button: [{ title: 'Shop', url: 'https://example.com/shop' }] };

const everyFieldBody = {
	icon: 'https://example.com/icon.png',
	expire_push: '3d',
	send_at: '2099-05-01 10:01 +02:00',
	action_buttons: [{ title: 'Shop', url: 'https://example.com/shop' }],
};

const accepted = {
	status: 'success',
	description: anyText,
	title: content.title,
	sendAt: '2099-05-01 10:01 +02:00',
};

const operations: OperationCase[] = [
	{
		title: 'sendToAll',
		parameters: {
			operation: 'sendToAll',
			...content,
			actionButtons,
			additionalFields: {
				...everyField,
				name: 'October',
				imageUrl: 'https://example.com/large.jpg',
			},
		},
		path: '/v1/notification/send/all',
		body: {
			...contentBody,
			...everyFieldBody,
			name: 'October',
			image: 'https://example.com/large.jpg',
			auto_hide: 0,
		},
		output: { campaignId: '1001', audience: 'all', ...accepted, name: 'October' },
	},
	{
		title: 'sendToAttributes',
		parameters: {
			operation: 'sendToAttributes',
			...content,
			attributes: {
				pairs: [
					{ name: 'plan', value: 'pro' },
					{ name: 'city', value: 'Oslo' },
				],
			},
			actionButtons,
			// The image is left over from another operation, and this one knows none.
			additionalFields: { ...everyField, name: 'October', imageUrl: 'https://example.com/x.jpg' },
		},
		path: '/v1/notification/send/attribute',
		body: {
			...contentBody,
			...everyFieldBody,
			name: 'October',
			auto_hide: 1,
			attribute: { plan: 'pro', city: 'Oslo' },
		},
		output: {
			campaignId: '1001',
			audience: 'attributes',
			...accepted,
			name: 'October',
			attributes: { plan: 'pro', city: 'Oslo' },
		},
	},
	{
		title: 'sendToAttributes with JSON',
		parameters: {
			operation: 'sendToAttributes',
			...content,
			specifyAttributes: 'json',
			attributesJson: '={{ { plan: "pro", visits: 3, member: true } }}',
		},
		path: '/v1/notification/send/attribute',
		body: { ...contentBody, attribute: { plan: 'pro', visits: 3, member: true } },
		output: {
			campaignId: '1001',
			audience: 'attributes',
			status: 'success',
			description: anyText,
			title: content.title,
			attributes: { plan: 'pro', visits: 3, member: true },
		},
	},
	{
		title: 'sendToSegments',
		parameters: {
			operation: 'sendToSegments',
			...content,
			segmentIds: '12, 34',
			actionButtons,
			additionalFields: { ...everyField, imageUrl: 'https://example.com/large.jpg' },
		},
		path: '/v1/notification/send/segment',
		body: {
			...contentBody,
			...everyFieldBody,
			image: 'https://example.com/large.jpg',
			auto_hide: 1,
			segment: ['12', '34'],
		},
		output: { campaignId: '1001', audience: 'segments', ...accepted, segmentIds: ['12', '34'] },
	},
	{
		title: 'sendToSubscriber',
		parameters: {
			operation: 'sendToSubscriber',
			...content,
			subscriberId: '5001',
			actionButtons,
			additionalFields: { ...everyField, autoHide: true },
		},
		path: '/v1/notification/send/sid',
		body: { ...contentBody, ...everyFieldBody, auto_hide: 0, sid: '5001' },
		output: { subscriberId: '5001', audience: 'subscriber', ...accepted },
	},
	{
		title: 'getStatus',
		parameters: { operation: 'getStatus', campaignId: '2001' },
		path: '/v1/notification/status/id/2001',
		output: {
			campaignId: '2001',
			status: 'Sent',
			totalAttempts: 1000,
			successfullySent: 800,
			failedToSend: 200,
			delivered: 400,
			clicked: 100,
			closed: 50,
			deliveryRate: 0.5,
			clickRate: 0.25,
		},
	},
	{
		title: 'getStatus, not simplified',
		parameters: { operation: 'getStatus', campaignId: '2001', simplify: false },
		path: '/v1/notification/status/id/2001',
		output: {
			notification_status: 'Sent',
			notification_id: '2001',
			count: Object.fromEntries(
				Object.entries(counters).map(([counter, value]) => [counter, String(value)]),
			),
		},
	},
	{
		title: 'getSubscriberCount',
		parameters: { resource: 'site', operation: 'getSubscriberCount' },
		path: '/v1/site/subscriber_count',
		output: { totalLifetimeSubscribers: 12_500, activeSubscribers: 10_000 },
	},
	{
		title: 'getSubscriberCount, not simplified',
		parameters: { resource: 'site', operation: 'getSubscriberCount', simplify: false },
		path: '/v1/site/subscriber_count',
		output: { total_life_time_subscribers: '12500', active_subscribers: '10000' },
	},
];

/** The title of each request's body, in the order in which they came. */
const titlesOf = (requests: readonly RecordedRequest[]): string[] =>
	requests.flatMap(({ body }) => /"title":"(\w+)"/.exec(body)?.slice(1) ?? []);

describe.each(['2', '1'] as const)('n8n %s.x', (major) => {
	const stage = useStage({ major, editor: true });

	const action = (
		parameters: INodeParameters,
		extras: Parameters<typeof pushCampaign>[1] = {},
	): INode => pushCampaign(parameters, { credential: stage().credential, ...extras });

	/** Sends one item after another, each with a title of its own. */
	const sendEach = (extras: Parameters<typeof pushCampaign>[1] = {}): INode =>
		action({ ...content, title: '={{ $json.title }}', options: { maxParallel: 1 } }, extras);
	const three = [{ title: 'one' }, { title: 'two' }, { title: 'three' }];

	test('is the pinned version', async () => {
		const manifest: unknown = JSON.parse(
			await readFile(join(hostOf(major).directory, 'package.json'), 'utf8'),
		);
		const { dependencies } = z
			.object({ dependencies: z.object({ n8n: z.string() }) })
			.parse(manifest);
		expect(await stage().client.request('GET', 'settings')).toMatchObject({
			versionCli: dependencies.n8n,
		});
	});

	test('every operation is tried', () => {
		const tried = new Set(operations.map(({ parameters }) => parameters['operation']));
		expect([...tried]).toEqual(everyOperation);
	});

	test.each(operations)('$title', async ({ parameters, path, body, output }) => {
		const { simulator } = stage();
		simulator.addCampaign({ id: '2001', status: 'Sent', counters });
		const { execution, answer } = await runNodes(stage(), [action(parameters)]);
		expect(outputOf(execution, name).map(({ json }) => json)).toEqual([output]);
		expect(answer.json).toEqual([output]);
		expect(simulator.requests).toHaveLength(1);
		const [request] = simulator.requests;
		expect(request).toMatchObject({ method: body === undefined ? 'GET' : 'POST', path });
		expect(request?.json).toEqual(body);
		expect(request?.headers).toMatchObject({
			servicekey: secrets.apiKey,
			serviceauthtoken: secrets.authToken,
			'content-type': 'application/json',
		});
	});

	test('a dry run shows the request and sends nothing', async () => {
		const { simulator } = stage();
		const { execution } = await runNodes(stage(), [
			action({ ...content, options: { dryRun: true } }),
		]);
		expect(outputOf(execution, name)[0]?.json).toEqual({
			audience: 'all',
			title: content.title,
			dryRun: true,
			request: {
				method: 'POST',
				url: `${simulator.url}/v1/notification/send/all`,
				body: contentBody,
			},
		});
		expect(simulator.requests).toEqual([]);
	});

	test.each([
		['a Luxon DateTime', '={{ DateTime.fromISO("2099-05-01T10:00", { zone: "Asia/Kolkata" }) }}'],
		['a JavaScript Date', '={{ new Date("2099-05-01T04:30:00Z") }}'],
		['epoch milliseconds', '={{ Date.parse("2099-05-01T04:30:00Z") }}'],
	])('%s as the date of a send', async (_, sendAt) => {
		const { simulator } = stage();
		await runNodes(stage(), [action({ ...content, additionalFields: { sendAt } })]);
		const [body] = simulator.requests.map(({ body }) => body);
		const [, date, time, offset] = /"send_at":"(\S+) (\S+) (\S+)"/.exec(body ?? '') ?? [];
		expect(Date.parse(`${date}T${time}:00${offset}`)).toBe(Date.parse('2099-05-01T04:30:00Z'));
	});

	test('an item for each of 500, in their order', async () => {
		const { simulator } = stage();
		simulator.addCampaign({ id: '2001' });
		const items = Array.from({ length: 500 }, (_, index) => ({ title: `n${index}` }));
		const { execution } = await runNodes(
			stage(),
			[action({ ...content, title: '={{ $json.title }}' })],
			items,
		);
		const titleOf = new Map(
			simulator.requests.map(({ campaignId, body }) => [
				campaignId,
				/"title":"(\w+)"/.exec(body)?.[1],
			]),
		);
		const sent = outputOf(execution, name).map(({ json }) =>
			titleOf.get(String(json['campaignId'])),
		);
		expect(sent).toEqual(items.map(({ title }) => title));
		expect(simulator.requests).toHaveLength(500);
	});

	describe('the credential test', () => {
		const asked = async (change: object = {}) => {
			const { client, credential, simulator } = stage();
			const data = { baseUrl: simulator.url, ...secrets, ...change };
			return await client.testCredential(credential, data);
		};
		const checkKeys = 'Check API Key, Auth Token and Header Names.';
		const checkUrl = 'Check Base URL, without /v1, or test again later.';

		test('succeeds, also where one of the two counts is not given', async () => {
			const { client, credential, simulator } = stage();
			expect(await client.testCredential(credential)).toMatchObject({ status: 'OK' });
			const body = JSON.stringify({ total_life_time_subscribers: '7' });
			simulator.addFault({ action: { kind: 'respond', body } });
			expect(await asked()).toMatchObject({ status: 'OK' });
		});

		test.each([undefined, 200])('fails on a wrong key, answered with HTTP %p', async (status) => {
			if (status !== undefined) stage().simulator.configure({ failureStatus: status });
			for (const change of [{ apiKey: 'wrong' }, { authToken: 'wrong' }]) {
				expect(await asked(change)).toEqual({
					status: 'Error',
					message: `The push service does not accept the credential. ${checkKeys}`,
				});
			}
		});

		test('fails on other header names', async () => {
			expect(await asked({ headerNames: 'webpushr' })).toEqual({
				status: 'Error',
				message: `The push service did not get one of the two headers of the credential. ${checkKeys}`,
			});
		});

		test('fails where nobody listens', async () => {
			const host = `127.0.0.1:${await freePort()}`;
			expect(await asked({ baseUrl: `http://${host}` })).toEqual({
				status: 'Error',
				message: `No connection to ${host} could be made: the address refuses connections. ${checkUrl}`,
			});
		});

		test('names what to change in Base URL', async () => {
			expect(await asked({ baseUrl: 'http://push.example' })).toEqual({
				status: 'Error',
				message:
					"Base URL of the credential starts with http://, which would send the key and token unencrypted. Enter the service's https:// address. Only if you trust the whole network in between, turn on Allow HTTP.",
			});
			expect(await asked({ baseUrl: `${stage().simulator.url}/v1` })).toMatchObject({
				status: 'Error',
				message: textLike(/Check Base URL.*without \/v1/),
			});
		});

		test.each<[what: string, action: Fault['action'], message: string]>([
			[
				'something else answers',
				{ kind: 'respond', body: '<html></html>', headers: { 'content-type': 'text/html' } },
				`The answer (HTTP 200) is a web page. ${checkUrl}`,
			],
			[
				'it is sent elsewhere',
				{ kind: 'redirect', location: 'http://127.0.0.1:1/x', status: 302 },
				'The address of the push service redirects to 127.0.0.1:1 (HTTP 302). Check Base URL: the address of your push service, without /v1.',
			],
			[
				'there is no count',
				{ kind: 'respond', body: '{"status":"success"}' },
				`The answer (HTTP 200) is not what the push service promises. ${checkUrl}`,
			],
		])('fails where %s', async (_what, action, message) => {
			stage().simulator.addFault({ action });
			expect(await asked()).toEqual({ status: 'Error', message });
		});
	});

	describe('a failing item', () => {
		const failTwo = (times = 0) =>
			stage().simulator.addFault({
				match: { bodyIncludes: '"two"' },
				times,
				action: { kind: 'failure', description: generic, status: 200 },
			});

		const failed = {
			message: 'The push service could not carry out the request',
			description: textWith(generic),
			type: 'unspecified',
			httpCode: '500',
			outcome: 'notSent',
		};

		test('stops the execution, with what was sent and what was not', async () => {
			failTwo();
			const { execution } = await runNodes(stage(), [sendEach()], three);
			expect(execution.status).toBe('error');
			expect(execution.data.resultData.error).toMatchObject({
				name: 'NodeApiError',
				message: failed.message,
				httpCode: '500',
				description: textWith('Sent: 1, not sent: 2, unknown: 0. First to fail: item 1.'),
				context: { itemIndex: 1 },
			});
			expect(titlesOf(stage().simulator.requests)).toEqual(['one', 'two']);
		});

		test('is refused before anything is sent when it is not valid', async () => {
			const { execution } = await runNodes(
				stage(),
				[sendEach()],
				[{ title: 'one' }, { title: 'x'.repeat(101) }],
			);
			expect(execution.data.resultData.error).toMatchObject({
				name: 'NodeOperationError',
				message: textWith('Title'),
				context: { itemIndex: 1 },
			});
			expect(stage().simulator.requests).toEqual([]);
		});

		test('goes to the error output, with the fields of its input', async () => {
			failTwo();
			const nodes = [sendEach({ onError: 'continueErrorOutput' }), node('Sent', noOp)];
			const { execution } = await runNodes(stage(), nodes, three, (draft) =>
				connect({ ...draft, nodes: [...draft.nodes, node('Failed', noOp)] }, name, 'Failed', {
					output: 1,
				}),
			);
			expect(execution.status).toBe('success');
			const sent = outputOf(execution, 'Sent').map(({ json }) => json['campaignId']);
			expect(sent).toEqual(['1001', '1002']);
			expect(outputOf(execution, 'Failed').map(({ json }) => json)).toEqual([
				{ title: 'two', error: failed },
			]);
		});

		test('is put out among the others with Continue', async () => {
			failTwo();
			const { execution } = await runNodes(
				stage(),
				[sendEach({ onError: 'continueRegularOutput' })],
				three,
			);
			expect(outputOf(execution, name).map(({ json }) => json)).toEqual([
				objectWith({ campaignId: '1001' }),
				{ error: failed },
				objectWith({ campaignId: '1002' }),
			]);
		});

		test('is sent by Retry On Fail, and the others only once', async () => {
			failTwo(1);
			const { execution } = await runNodes(
				stage(),
				[sendEach({ retryOnFail: true, maxTries: 2, waitBetweenTries: 100 })],
				three,
			);
			expect(execution.status).toBe('success');
			expect(outputOf(execution, name)).toHaveLength(3);
			expect(titlesOf(stage().simulator.requests)).toEqual(['one', 'two', 'two', 'three']);
		});

		test("is sent by 'Retry' in the executions list, and the others only once", async () => {
			const { client, simulator } = stage();
			failTwo();
			const { execution } = await runNodes(stage(), [sendEach()], three);
			expect(execution.status).toBe('error');
			const again = await client.retryExecution(execution.id);
			expect(again.status).toBe('error');
			simulator.clearFaults();
			const retried = await client.retryExecution(again.id);
			expect(retried.status).toBe('success');
			expect(outputOf(retried, name).map(({ json }) => json['campaignId'])).toEqual([
				'1001',
				'1002',
				'1003',
			]);
			expect(titlesOf(simulator.requests)).toEqual(['one', 'two', 'two', 'two', 'three']);
		});

		test('whose outcome is unknown is sent again only when the user says so', async () => {
			const { client, simulator } = stage();
			simulator.addFault({ match: { bodyIncludes: '"two"' }, action: { kind: 'reset-after' } });
			const { execution, workflowId, draft } = await runNodes(stage(), [sendEach()], three);
			const lost = execution.data.resultData.error;
			expect(lost?.message).toMatch(/^It is unknown whether this was sent/);
			const again = await client.retryExecution(execution.id);
			expect(again.data.resultData.error?.message).toBe(lost?.message);
			expect(titlesOf(simulator.requests)).toEqual(['one', 'two', 'three']);

			await client.updateWorkflow(workflowId, {
				nodes: draft.nodes.map((each) =>
					each.name === name
						? {
								...each,
								parameters: {
									...each.parameters,
									options: { maxParallel: 1, resendUnknown: true },
								},
							}
						: each,
				),
			});
			const resent = await client.retryExecution(again.id, { loadWorkflow: true });
			expect(resent.status).toBe('success');
			expect(titlesOf(simulator.requests)).toEqual(['one', 'two', 'three', 'two']);
		});
	});

	describe('the trigger', () => {
		const watch = (campaignIds: string, seconds = 3): INode[] => [
			pushCampaignTrigger(
				{ campaignIds, pollTimes: pollEvery(seconds) },
				{ credential: stage().credential },
			),
			node('Then', noOp),
		];

		const untilPolled = async (more: number) => await untilRequests(stage(), more);

		const eventOf = (execution: Execution | undefined) =>
			execution && outputOf(execution, 'Then').map(({ json }) => json);

		test('runs the workflow when counters change, and only then', async () => {
			const { client, simulator } = stage();
			simulator.addCampaign({ id: '2001', status: 'Sent', counters });
			const { id: workflowId } = await client.createWorkflow(chain('Watch', watch('2001')));
			await client.activate(workflowId);
			try {
				const [first] = await client.waitForExecutions({ workflowId });
				await untilPolled(2);
				simulator.setCounters('2001', { clicked: 109, closed: 51 });
				const [second] = await client.waitForExecutions({ workflowId, count: 2 });
				await untilPolled(2);
				expect(await client.executions({ workflowId })).toHaveLength(2);

				expect(eventOf(first && (await client.execution(first.id)))).toEqual([
					objectWith({ campaignId: '2001', status: 'Sent', firstSeen: true }),
				]);
				expect(eventOf(second && (await client.execution(second.id)))).toEqual([
					{
						campaignId: '2001',
						status: 'Sent',
						counters: {
							totalAttempts: 1000,
							successfullySent: 800,
							failedToSend: 200,
							delivered: 400,
							clicked: 109,
							closed: 51,
						},
						deliveryRate: 0.5,
						clickRate: 0.2725,
						changes: {
							clicked: { from: 100, to: 109, by: 9 },
							closed: { from: 50, to: 51, by: 1 },
						},
						firstSeen: false,
						observedAt: textLike(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/),
					},
				]);
			} finally {
				await client.deactivate(workflowId);
			}
		});

		test('does not pile up polls that take longer than their interval', async () => {
			const { client, simulator } = stage();
			simulator.addCampaign({ id: '2001', status: 'Sent', counters });
			simulator.addFault({
				match: { path: '/2001' },
				times: 0,
				action: { kind: 'delay', ms: 5000 },
			});
			const nodes = [
				pushCampaignTrigger(
					{ campaignIds: '2001', pollTimes: pollEvery(1) },
					{ credential: stage().credential },
				),
				node('Then', noOp),
			];
			const { id: workflowId } = await client.createWorkflow(chain('Watch slowly', nodes));
			await client.activate(workflowId);
			try {
				await untilRequests(stage(), 5);
				simulator.setCounters('2001', { clicked: 109 });
				const [second] = await client.waitForExecutions({ workflowId, count: 2 });
				expect(eventOf(second && (await client.execution(second.id)))).toEqual([
					objectWith({ changes: { clicked: { from: 100, to: 109, by: 9 } } }),
				]);
				const asked = simulator.requests.map(({ at, answered }) => ({ at, until: answered?.at }));
				const atOnce = asked.map(
					({ at }) => asked.filter((one) => one.at <= at && (one.until ?? Infinity) > at).length,
				);
				expect(Math.max(...atOnce)).toBe(1);
			} finally {
				await client.deactivate(workflowId);
			}
		}, 400_000);

		test('tells once what moved, though it is activated anew while a poll is under way', async () => {
			const { client, simulator } = stage();
			simulator.addCampaign({ id: '2001', status: 'Sent', counters });
			const { id: workflowId } = await client.createWorkflow(chain('Watch', watch('2001', 10)));
			await client.activate(workflowId);
			try {
				await client.waitForExecutions({ workflowId });
				const match = { path: '/2001' };
				simulator.addFault({ match, times: 1, action: { kind: 'delay', ms: 25_000 } });
				simulator.setCounters('2001', { clicked: 109 });
				await untilPolled(1);
				const underWay = simulator.requests.find(({ fault }) => fault !== null);
				await client.deactivate(workflowId);
				await client.activate(workflowId);
				await client.waitForExecutions({ workflowId, count: 2 });
				expect(underWay?.answered).toBeNull();

				await until(
					() => underWay?.answered ?? null,
					(answered) => answered !== null,
					{ within: 60_000, late: () => 'The poll was never answered' },
				);
				await untilPolled(2);
				const executions = await client.executions({ workflowId });
				const events = await Promise.all(
					executions.map(async ({ id }) => eventOf(await client.execution(id))),
				);
				expect(events).toEqual([
					[objectWith({ changes: { clicked: { from: 100, to: 109, by: 9 } } })],
					[objectWith({ firstSeen: true })],
				]);
			} finally {
				await client.deactivate(workflowId);
			}
		}, 400_000);
	});

	test('no log line and no saved execution holds the key or the token', async () => {
		const { client, server } = stage();
		const saved = await Promise.all(
			(await client.executions()).map(async ({ id }) =>
				JSON.stringify(await client.request('GET', `executions/${id}`)),
			),
		);
		expect(saved.length).toBeGreaterThan(10);
		for (const text of [...saved, server.log()]) {
			expect(text).not.toContain(secrets.apiKey);
			expect(text).not.toContain(secrets.authToken);
		}
	});
});
