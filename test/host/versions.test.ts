import { chain, node, outputOf, pollEvery, pushCampaignTrigger, until } from '../../host';
import type { Fault } from '../../simulator';
import { secrets, useStage } from './support';
import { objectWith } from './support/matchers';
import { sendWorkflow, sentItems, titled, untilRequests } from './support/reliabilityWorkflow';

const counters = { successfully_sent: 800, delivered: 400, clicked: 100 };

const checkKeys = 'Check API Key, Auth Token and Header Names.';
const checkUrl = 'Check Base URL, without /v1, or test again later.';
const notAccepted = `The push service does not accept the credential. ${checkKeys}`;

const credentialTests: Array<
	[what: string, change: object, answer: Fault['action'] | null, message: string | null]
> = [
	[
		'succeeds, also where one of the two counts is not given',
		{},
		{ kind: 'respond', body: '{"total_life_time_subscribers":"7"}' },
		null,
	],
	['fails on a wrong key', { apiKey: 'wrong' }, null, notAccepted],
	['fails on a wrong token', { authToken: 'wrong' }, null, notAccepted],
	[
		'fails on a wrong key, though it is answered with HTTP 200',
		{},
		{ kind: 'failure', type: 'authentication_failure', description: 'No', status: 200 },
		notAccepted,
	],
	[
		'fails on other header names',
		{ headerNames: 'webpushr' },
		null,
		`The push service did not get one of the two headers of the credential. ${checkKeys}`,
	],
	[
		'fails where nobody listens',
		{ baseUrl: 'http://127.0.0.1:1' },
		null,
		`Could not connect to 127.0.0.1:1: connection refused. ${checkUrl}`,
	],
	[
		'names what to change in Base URL',
		{ baseUrl: 'http://push.example' },
		null,
		"Base URL of the credential starts with http://, which would send the key and token unencrypted. Enter the service's https:// address. Only if you trust the whole network in between, turn on Allow HTTP.",
	],
	[
		'fails where something else answers',
		{},
		{ kind: 'respond', body: '<html></html>', headers: { 'content-type': 'text/html' } },
		`The answer (HTTP 200) is a web page. ${checkUrl}`,
	],
	[
		'fails where it is sent elsewhere',
		{},
		{ kind: 'redirect', location: 'http://127.0.0.1:1/x', status: 302 },
		'The address of the push service redirects to 127.0.0.1:1 (HTTP 302). Check Base URL: the address of your push service, without /v1.',
	],
	[
		'fails where there is no count',
		{},
		{ kind: 'respond', body: '{"status":"success"}' },
		`The answer (HTTP 200) is not what the push service promises. ${checkUrl}`,
	],
];

describe.each(['2', '1'] as const)('n8n %s.x', (major) => {
	const stage = useStage({ major });

	test('dates of a send come in every form that an expression may give', async () => {
		const forms = [
			"'2099-05-01T10:00:30+02:00'",
			"DateTime.fromISO('2099-05-01T10:00', { zone: 'Asia/Kolkata' })",
			"new Date('2099-05-01T04:30:00Z')",
			"Date.parse('2099-05-01T04:30:00Z')",
		];
		const sendAt = `={{ [${forms.join(', ')}][$itemIndex] }}`;
		const workflow = await sendWorkflow(stage(), { parameters: { additionalFields: { sendAt } } });
		const execution = await workflow.run(titled('Later', forms.length));
		// A moment without an offset goes out in the workflow's timezone: here n8n's own, New York.
		expect(sentItems(execution).map((item) => item['sendAt'])).toEqual([
			'2099-05-01 10:01 +02:00',
			'2099-05-01 10:00 +05:30',
			'2099-05-01 00:30 -04:00',
			'2099-05-01 00:30 -04:00',
		]);
	});

	test.each(credentialTests)('the credential test %s', async (_what, change, answer, message) => {
		const { client, credential, simulator } = stage();
		if (answer !== null) simulator.addFault({ action: answer });
		const data = { baseUrl: simulator.url, ...secrets, ...change };
		expect(await client.testCredential(credential, data)).toMatchObject(
			message === null ? { status: 'OK' } : { status: 'Error', message },
		);
	});

	describe('the trigger', () => {
		/** Watches a campaign, and waits for its first event. */
		const watch = async (seconds: number) => {
			const { client, simulator, credential } = stage();
			simulator.addCampaign({ id: '2001', status: 'Sent', counters });
			const pollTimes = pollEvery(seconds);
			const draft = chain('Watch', [
				pushCampaignTrigger({ campaignIds: '2001', pollTimes }, { credential }),
				node('Then', 'n8n-nodes-base.noOp'),
			]);
			const { id: workflowId } = await client.createWorkflow(draft);
			await client.activate(workflowId);
			await client.waitForExecutions({ workflowId });
			return workflowId;
		};

		/** Changes one counter, while each answer takes so long. */
		const moveSlowly = (ms: number, times: number) => {
			const { simulator } = stage();
			simulator.addFault({ match: { path: '/2001' }, times, action: { kind: 'delay', ms } });
			simulator.setCounters('2001', { clicked: 109 });
		};

		/** What came of it. */
		const events = async (workflowId: string) => {
			const { client } = stage();
			const executions = await client.executions({ workflowId });
			return await Promise.all(
				executions.map(async ({ id }) =>
					outputOf(await client.execution(id), 'Then').map(({ json }) => json),
				),
			);
		};
		const toldOnce = [
			[objectWith({ changes: { clicked: { from: 100, to: 109, by: 9 } } })],
			[objectWith({ firstSeen: true })],
		];

		test('polls that take longer than their interval do not pile up', async () => {
			const { client, simulator } = stage();
			const workflowId = await watch(1);
			moveSlowly(3000, 0);
			const before = simulator.requestCount;
			await untilRequests(stage(), 5);
			await client.waitForExecutions({ workflowId, count: 2 });
			const asked = simulator.requests
				.slice(before)
				.map(({ at, answered }) => ({ at, until: answered?.at ?? Infinity }));
			const atOnce = asked.map(({ at }) => asked.filter((one) => one.at <= at && one.until > at));
			expect(Math.max(...atOnce.map(({ length }) => length))).toBe(1);
			expect(await events(workflowId)).toEqual(toldOnce);
			await client.deactivate(workflowId);
		}, 400_000);

		test('what moved is emitted once though the trigger is activated again while a poll is in flight', async () => {
			const { client, simulator } = stage();
			const workflowId = await watch(5);
			moveSlowly(15_000, 1);
			await untilRequests(stage(), 1);
			const underWay = simulator.requests.find(({ fault }) => fault !== null);
			await client.deactivate(workflowId);
			await client.activate(workflowId);
			await client.waitForExecutions({ workflowId, count: 2 });

			await until(
				() => underWay?.answered ?? null,
				(answered) => answered !== null,
				{ within: 60_000, late: () => 'The poll was never answered' },
			);
			await untilRequests(stage(), 2);
			expect(await events(workflowId)).toEqual(toldOnce);
			await client.deactivate(workflowId);
		}, 400_000);
	});
});
