import { setTimeout as sleep } from 'node:timers/promises';
import { credentialType, node, outputOf, pushCampaign, type Major } from '../../host';
import { startSimulator, type Fault, type Simulator } from '../../simulator';
import { runNodes, secrets, useStage } from './support';
import { content } from './support/fixtures';
import { objectWith } from './support/matchers';
import {
	acceptedTitles,
	endsOf,
	expectStory,
	goesOn,
	lostAnswer,
	refusal,
	repeated,
	runSteps,
	sendWorkflow,
	sentItems,
	stopNewest,
	titled,
	titlesOf,
	untilRequests,
	type SendWorkflowOptions,
	type Step,
	type Story,
} from './support/reliabilityWorkflow';

const majors: Major[] = ['2', '1'];
const send = { method: 'POST', path: '/send/' };
const inOrder: SendWorkflowOptions = { options: { maxParallel: 1 } };
const retryOnFail = { retryOnFail: true, maxTries: 3 };

const isUnknown = 'It is unknown whether this was sent';
/** The first two of five items are sent. */
const failsAtThird: Step = { items: 5, fault: refusal('Item 3') };

const stories: Story[] = [
	{
		what: 'a send whose answer is lost fails as unknown, and is sent again only with Resend Unknown',
		workflow: { settings: retryOnFail },
		steps: [
			{ items: 1, fault: lostAnswer('Item 1'), says: isUnknown },
			{ says: isUnknown },
			{ retry: 1, options: { resendUnknown: true }, ends: 'success' },
		],
		accepted: [1, 1],
	},
	{
		what: 'an item is sent once in each execution if its answers are lost, also with Resend Unknown and Retry On Fail',
		workflow: { settings: retryOnFail, options: { resendUnknown: true } },
		steps: [
			{ items: 1, fault: { ...lostAnswer('Item 1'), times: 0 }, says: isUnknown },
			{ says: isUnknown },
		],
		accepted: [1, 1],
	},
	{
		what: 'Retry sends the rest of a batch that failed in the middle, and nothing twice',
		workflow: inOrder,
		steps: [
			{ items: 10, fault: refusal('Item 6'), says: '5 sent, 5 not sent' },
			{ ends: 'success' },
		],
	},
	{
		what: 'Retry sends the rest of a batch with one unknown outcome, and fails that one again',
		workflow: inOrder,
		steps: [
			{
				items: 6,
				fault: lostAnswer('Item 3'),
				says: '2 sent, 3 not sent (3 not started), 1 unknown (item 2).',
			},
			{ says: '5 sent, 1 unknown (item 2).' },
			{ retry: 1, says: isUnknown },
		],
	},
	{
		what: 'Retry On Fail sends the rest of a batch that failed in the middle, and nothing twice',
		workflow: { ...inOrder, settings: retryOnFail },
		steps: [{ items: 6, fault: { ...refusal('Item 4'), times: 2 }, ends: 'success' }],
	},
	{
		what: 'nothing is sent if one item of a batch is not valid',
		workflow: {
			parameters: { title: '={{ $itemIndex === 3 ? "x".repeat(101) : $json.title }}' },
		},
		steps: [{ items: 4, says: '0 sent, 4 not sent' }],
		accepted: [],
	},
	{
		what: 'the first execution, retried a second time, does not send what its first Retry left unknown',
		workflow: inOrder,
		steps: [failsAtThird, { fault: lostAnswer('Item 4'), says: isUnknown }, { says: isUnknown }],
	},
	{
		what: 'Retries of Retries, and of the first execution, send every item once',
		workflow: inOrder,
		steps: [
			failsAtThird,
			{ fault: refusal('Item 4') },
			{ fault: refusal('Item 5') },
			{ retry: 1, ends: 'success' },
		],
	},
];

interface Row {
	readonly name: string;
	/** Null: nobody is at the address. */
	readonly action: Fault['action'] | null;
	/** How many campaigns the service has all the same. */
	readonly arrived: number;
	readonly error: { type: string; outcome: 'notSent' | 'unknown'; httpCode?: string };
}

const refused = (type: string, httpCode: string) =>
	({ type, httpCode, outcome: 'notSent' }) as const;
const odd = (httpCode: string) =>
	({ type: 'unexpected_answer', httpCode, outcome: 'unknown' }) as const;
const lost = { type: 'network', outcome: 'unknown' } as const;

const failure = (type?: string): Fault['action'] => ({
	kind: 'failure',
	description: 'Refused',
	...(type === undefined ? {} : { type }),
});
const gateway = (status: number, process: boolean, body = '<html></html>'): Fault['action'] => ({
	kind: 'respond',
	status,
	headers: { 'content-type': 'text/html', location: 'http://127.0.0.1:1' },
	body,
	process,
});

const [denied, badValue] = ['authentication_failure', 'invalid_value'];
const page = 'unexpected_answer';

const faults: Row[] = [
	{
		name: 'a send is not sent if the service does not accept the credential, with HTTP code 401',
		action: failure(denied),
		arrived: 0,
		error: refused(denied, '401'),
	},
	{
		name: 'a send is not sent if the service does not accept a value, with HTTP code 400',
		action: failure(badValue),
		arrived: 0,
		error: refused(badValue, '400'),
	},
	{
		name: 'a send is not sent if the service refuses it without a reason, with HTTP code 500',
		action: failure(),
		arrived: 0,
		error: refused('unspecified', '500'),
	},
	{
		name: 'a send is not sent if no connection is made',
		action: null,
		arrived: 0,
		error: { type: 'network', outcome: 'notSent' },
	},
	{
		name: 'a send is unknown if no answer comes within the timeout',
		action: { kind: 'hang', process: true },
		arrived: 1,
		error: lost,
	},
	{
		name: 'a send is unknown if the connection ends before the service read the request',
		action: { kind: 'reset-before' },
		arrived: 0,
		error: lost,
	},
	{
		name: 'a send is unknown if the connection ends before the answer',
		action: { kind: 'reset-after' },
		arrived: 1,
		error: lost,
	},
	{
		name: 'a send is unknown if the connection ends within the answer',
		action: { kind: 'truncate' },
		arrived: 1,
		error: lost,
	},
	{
		name: 'a send is unknown if a gateway answers with its page and HTTP 502',
		action: gateway(502, true),
		arrived: 1,
		error: odd('502'),
	},
	{
		name: 'a send is not sent if a gateway answers with its page and HTTP 404',
		action: gateway(404, false),
		arrived: 0,
		error: refused(page, '404'),
	},
	{
		name: 'a send is not sent if the answer is a redirect, which is not followed',
		action: gateway(302, false),
		arrived: 0,
		error: refused(page, '302'),
	},
	{
		name: 'a send is unknown if the answer is HTTP 303, which says that something was done',
		action: gateway(303, true),
		arrived: 1,
		error: odd('303'),
	},
	{
		name: 'a send is unknown if the answer is JSON of another shape',
		action: gateway(200, true, '{"ok":true}'),
		arrived: 1,
		error: odd('200'),
	},
];

const tooMany = (headers: Record<string, string> = {}, bodyIncludes = ''): Fault => ({
	match: { ...send, bodyIncludes },
	times: 0,
	action: {
		kind: 'failure',
		type: 'rate_limit',
		description: 'Too many requests',
		status: 429,
		headers,
	},
});

interface Limit {
	what: string;
	arrange: (simulator: Simulator) => void;
	items: Array<{ title: string }>;
	rateLimitRetries: number;
	accepted: number;
	/** At most; any number where it depends on the machine. */
	requests: number;
}

const limits: Limit[] = [
	{
		what: 'a rate limit only slows a batch down: every item goes out once',
		arrange: (simulator) => simulator.setRateLimit({ perSecond: 20, burst: 5 }),
		items: titled('Slow', 40),
		rateLimitRetries: 5,
		accepted: 40,
		requests: Infinity,
	},
	{
		what: 'an item that is refused for too many requests to the end is not sent, with HTTP code 429',
		arrange: (simulator) => simulator.addFault(tooMany({ 'retry-after': '1' })),
		items: titled('Never', 1),
		rateLimitRetries: 1,
		accepted: 0,
		requests: 2,
	},
	{
		what: 'a run ends with few requests once a quota is used up, and says of each item whether it was sent',
		arrange: (simulator) => simulator.addFault({ ...tooMany(), skip: 10 }),
		items: titled('Quota', 500),
		rateLimitRetries: 2,
		accepted: 10,
		// Far fewer than there are items: how many leave before the first refusals arrive depends on the machine.
		requests: 200,
	},
	{
		what: 'a service that asks to wait for an hour is asked nothing more in this run, with Continue',
		arrange: (simulator) => simulator.addFault(tooMany({ 'retry-after': '3600' })),
		items: titled('Hour', 500),
		rateLimitRetries: 5,
		accepted: 0,
		// Those in flight at the first refusal: a run begins with twenty.
		requests: 20,
	},
];

describe.each(majors)('sends on n8n %s.x', (major) => {
	const stage = useStage({ major });

	test.each(stories)('$what', async (story) => {
		await expectStory(stage(), story);
	});

	test('with Retry On Fail, the error output gets what is unknown, the first output all others, each sent once', async () => {
		const workflow = await sendWorkflow(stage(), {
			settings: { ...retryOnFail, onError: 'continueErrorOutput' },
		});
		stage().simulator.addFault(lostAnswer('Mixed 1'));
		stage().simulator.addFault(refusal('Mixed 2'));

		const execution = await workflow.run(titled('Mixed', 4));
		expect(execution.status).toBe('success');
		expect(acceptedTitles(stage()).sort()).toEqual(titlesOf('Mixed', 4));
		expect(outputOf(execution, 'Sent')).toHaveLength(3);
		expect(outputOf(execution, 'Not sent').map(({ json }) => json)).toMatchObject([
			{ title: 'Mixed 1', error: lost },
		]);
	});

	test.each(faults)('$name', async ({ action, arrived, error }) => {
		const { client, credential, simulator } = stage();
		const nobody = { baseUrl: 'http://127.0.0.1:1', ...secrets };
		if (action !== null) simulator.addFault({ match: send, action });
		const workflow = await sendWorkflow(stage(), {
			// Long enough for a busy machine where an answer comes.
			options: action?.kind === 'hang' ? { timeout: 5000 } : {},
			settings: { onError: 'continueErrorOutput' },
			credential:
				action === null
					? await client.createCredential('Nobody there', credentialType, nobody)
					: credential,
		});
		const [item] = outputOf(await workflow.run(titled('One', 1)), 'Not sent');
		expect(item?.json['error']).toMatchObject(error);
		expect(simulator.requestCount).toBe(action === null ? 0 : 1);
		expect(simulator.campaigns.size).toBe(arrived);
	});

	const stopped: Array<{ name: string; action: Fault['action']; underWay: number }> = [
		{
			name: 'an execution that is stopped while it waits for a rate limit sends nothing more',
			action: tooMany({ 'retry-after': '15' }).action,
			underWay: 1,
		},
		{
			name: 'an execution that is stopped while it sends starts no further item',
			action: { kind: 'delay', ms: 15_000 },
			underWay: 2,
		},
	];
	test.each(stopped)('$name', async ({ action, underWay }) => {
		const { simulator } = stage();
		const workflow = await sendWorkflow(stage(), { options: { maxParallel: underWay } });
		simulator.addFault({ match: send, times: 0, action });

		const call = workflow.call(titled('Stopped', 6)).catch(() => undefined);
		await untilRequests(stage(), underWay);
		await stopNewest(stage(), workflow);
		// Had it gone on, the end of the wait or of the requests would have brought another request.
		await sleep(16_000);
		expect(simulator.requestCount).toBe(underWay);
		await call;
	});

	// The Code node of n8n 2.x hands on copies.
	if (major === '1') {
		test('with Continue, an item that holds itself is sent, or comes out as failed', async () => {
			const code = node(
				'Code',
				'n8n-nodes-base.code',
				{ jsCode: 'const items = $input.all(); items[1].json.self = items[1].json; return items;' },
				{ typeVersion: 2 },
			);
			const action = pushCampaign(
				{ ...content, title: '={{ $json.title }}' },
				{ credential: stage().credential, ...goesOn },
			);
			const { execution } = await runNodes(stage(), [code, action], titled('Round', 3));
			const ends = endsOf(sentItems(execution));
			expect(ends).toHaveLength(3);
			expect([ends[0], ends[2]]).toEqual(['success', 'success']);
			expect(acceptedTitles(stage())).toHaveLength(ends.filter((end) => end === 'success').length);
		});
		return;
	}

	// The rest is this node's alone, whatever version runs it.
	test.each(limits)('$what', async ({ arrange, items, rateLimitRetries, accepted, requests }) => {
		const { simulator } = stage();
		const workflow = await sendWorkflow(stage(), {
			settings: goesOn,
			options: { rateLimitRetries },
		});
		arrange(simulator);
		const execution = await workflow.run(items);
		expect(repeated(acceptedTitles(stage()))).toEqual([]);
		expect(simulator.campaigns.size).toBe(accepted);
		expect(simulator.requestCount).toBeLessThanOrEqual(requests);
		const given = sentItems(execution);
		expect(given.filter(({ status }) => status === 'success')).toHaveLength(accepted);
		const failed = given.flatMap(({ error }) => (error === undefined ? [] : [error]));
		expect(failed).toEqual(
			Array.from({ length: items.length - accepted }, () =>
				objectWith(refused('rate_limit', '429')),
			),
		);
	});

	test('a few items that the service never accepts do not hold up the others', async () => {
		const { simulator } = stage();
		simulator.addFault(tooMany({}, 'Capped'));
		const workflow = await sendWorkflow(stage(), {
			settings: goesOn,
			options: { rateLimitRetries: 3 },
		});
		const others = [...titlesOf('Taken', 100), ...titlesOf('Taken too', 100)];
		const capped = titlesOf('Capped', 5);
		const titles = [...others.slice(0, 100), ...capped, ...others.slice(100)];
		const execution = await workflow.run(titles.map((title) => ({ title })));
		expect(endsOf(sentItems(execution))).toEqual(
			titles.map((title) => (capped.includes(title) ? 'notSent' : 'success')),
		);
		expect(acceptedTitles(stage()).sort()).toEqual(others.sort());
		// None of the others waits until a refused one was tried three times.
		const asked = simulator.requests.map(({ body }) => /Capped \d|Taken/.exec(body)?.[0] ?? '');
		const beforeTheLast = asked.slice(0, asked.lastIndexOf('Taken'));
		for (const title of capped) {
			expect(beforeTheLast.filter((each) => each === title).length).toBeLessThan(3);
		}
	});

	test.each([
		{
			name: 'with Continue, an item whose expression can not be evaluated is not sent, and comes out as failed',
			parameters: { title: '={{ $json.title.toUpperCase() }}' },
			ends: ['success', 'notSent', 'success'],
		},
		{
			name: 'with Continue, every item comes out as failed if the expression of Operation gives nothing',
			parameters: { operation: '={{ null }}' },
			ends: ['notSent', 'notSent', 'notSent'],
		},
	])('$name', async ({ parameters, ends }) => {
		const workflow = await sendWorkflow(stage(), { parameters, settings: goesOn });
		const execution = await workflow.run([{ title: 'one' }, { title: 2 }, { title: 'three' }]);
		expect(endsOf(sentItems(execution))).toEqual(ends);
		expect(stage().simulator.campaigns.size).toBe(ends.filter((end) => end === 'success').length);
	});

	test('one item of sixty goes out with its own credential if an expression gives all others another one', async () => {
		const { client, simulator } = stage();
		const apiKey = `={{ $input.item?.json?.key ? $input.item.json.key : '${secrets.apiKey}' }}`;
		const data = { baseUrl: simulator.url, ...secrets, apiKey };
		const credential = await client.createCredential('Of an item', credentialType, data);
		const workflow = await sendWorkflow(stage(), { credential, settings: goesOn });
		const items = titled('Own', 60).map((item, index) =>
			index === 7 ? { ...item, key: 'not ours' } : item,
		);
		expect(endsOf(sentItems(await workflow.run(items)))).toEqual(
			items.map((_item, index) => (index === 7 ? 'notSent' : 'success')),
		);
		const keys = simulator.requests.map(({ headers, body }) => [
			body.includes('"Own 8"'),
			headers['servicekey'],
		]);
		expect(keys.filter(([isItsOwn]) => isItsOwn)).toEqual([[true, 'not ours']]);
		expect(keys.filter(([isItsOwn]) => !isItsOwn)).toEqual(
			Array.from({ length: 59 }, () => [false, secrets.apiKey]),
		);
	});

	describe('with another site', () => {
		const others = { apiKey: 'other-key', authToken: 'other-token' };
		let elsewhere: Simulator;

		beforeAll(async () => {
			const { apiKey: serviceKey, authToken } = others;
			elsewhere = await startSimulator({ serviceKey, authToken, lifeSpeed: 0 });
		});
		beforeEach(() => elsewhere.reset());
		afterAll(() => elsewhere.close());

		test('each item goes out with its own credential if the credential holds expressions', async () => {
			const credential = await stage().client.createCredential('One for each', credentialType, {
				baseUrl: '={{ $json.site }}',
				apiKey: '={{ $json.apiKey }}',
				authToken: '={{ $json.authToken }}',
			});
			const here = { site: stage().simulator.url, ...secrets };
			const there = { site: elsewhere.url, ...others };
			const workflow = await sendWorkflow(stage(), { credential, settings: goesOn });
			const execution = await workflow.run([
				{ title: 'Here', ...here },
				{ title: 'There', ...there },
				{ title: 'Wrong key', ...there, apiKey: secrets.apiKey },
				{ title: 'No site', ...there, site: 'nowhere' },
			]);
			expect(endsOf(sentItems(execution))).toEqual(['success', 'success', 'notSent', 'notSent']);
			expect(acceptedTitles(stage())).toEqual(['Here']);
			expect(acceptedTitles({ simulator: elsewhere })).toEqual(['There']);
		});

		test('after the user chose the credential of another site, Retry sends the whole batch to that site', async () => {
			const { workflow, failed } = await failAtThird();
			const data = { baseUrl: elsewhere.url, ...others };
			const credential = await stage().client.createCredential('Other site', credentialType, data);
			await workflow.change({ credential });
			const retried = await stage().client.retryExecution(failed, { loadWorkflow: true });
			expect(retried.status).toBe('success');
			expect(acceptedTitles({ simulator: elsewhere })).toEqual(titlesOf('Item', 5));
			expect(acceptedTitles(stage())).toEqual(titlesOf('Item', 2));
		});
	});

	/** An execution that sent the first two of five items and failed at the third. */
	const failAtThird = async () => {
		const { workflow, executions } = await runSteps(stage(), inOrder, [failsAtThird]);
		return { workflow, failed: executions[0]?.id ?? '' };
	};

	test('after the user renewed the key in the credential, Retry sends the rest, and nothing twice', async () => {
		const { client, credential, simulator } = stage();
		const { failed } = await failAtThird();
		const data = { baseUrl: simulator.url, ...secrets };
		simulator.configure({ serviceKey: 'renewed-key' });
		await client.updateCredential(credential, { ...data, apiKey: 'renewed-key' });
		try {
			expect((await client.retryExecution(failed)).status).toBe('success');
			expect(acceptedTitles(stage())).toEqual(titlesOf('Item', 5));
		} finally {
			await client.updateCredential(credential, data);
		}
	});

	test('two Retries of one execution at the same time send every item once', async () => {
		const { client, simulator } = stage();
		const { failed } = await failAtThird();
		simulator.setLatency(300);
		const both = await Promise.all([client.retryExecution(failed), client.retryExecution(failed)]);
		expect(both.map(({ status }) => status)).toContain('success');
		expect(acceptedTitles(stage())).toEqual(titlesOf('Item', 5));
	});

	test('the first execution, retried a second time after 250 other executions, sends every item once', async () => {
		const { client, simulator } = stage();
		const { failed } = await failAtThird();
		simulator.addFault(refusal('Item 4'));
		expect((await client.retryExecution(failed)).status).toBe('error');
		const other = await sendWorkflow(stage());
		for (let done = 0; done < 250; done += 50) {
			await Promise.all(titled('Other', 50).map(async (item) => await other.call([item])));
		}
		expect((await client.retryExecution(failed)).status).toBe('success');
		const sent = acceptedTitles(stage()).filter((title) => !String(title).startsWith('Other'));
		expect(sent).toEqual(titlesOf('Item', 5));
	});
});
