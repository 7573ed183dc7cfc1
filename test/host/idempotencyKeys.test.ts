import { z } from 'zod';
import { chain, node, pushCampaign, until, type Major, type WebhookAnswer } from '../../host';
import type { Fault } from '../../simulator';
import { runNodes, useStage } from './support';
import { content } from './support/fixtures';
import { textWith } from './support/matchers';
import {
	acceptedTitles,
	byTitle,
	countsOf,
	endsOf,
	expectStory,
	failureOf,
	forTitle,
	goesOn,
	lostAnswer,
	refusal,
	repeated,
	sendWorkflow,
	sentItems,
	times,
	titled,
	titlesOf,
	untilRequests,
	type SendWorkflow,
	type SendWorkflowOptions,
	type Story,
} from './support/reliabilityWorkflow';
import { runSql } from './support/sqlite';

const majors: Major[] = ['2', '1'];
const inOrder = { ...byTitle, maxParallel: 1 };
const [once, again, unknown] = ['success', 'alreadySent', 'unknown'] as const;

const stories: Story[] = [
	{
		what: 'a later execution with the same key sends nothing, and says alreadySent',
		workflow: { options: inOrder },
		steps: [
			{ items: 3, ends: once },
			{ items: 4, ends: [...times(3, again), once] },
		],
	},
	{
		what: 'of three items of one run with the same key only the first is sent',
		workflow: { options: { idempotencyKey: 'today' } },
		steps: [{ items: 3, ends: [once, again, again] }],
		accepted: [1],
	},
	{
		what: 'three items of one run with the same key are unknown if the first one is',
		workflow: { options: { idempotencyKey: 'today' }, settings: goesOn },
		steps: [{ items: 3, fault: lostAnswer('Item 1'), ends: unknown }],
		accepted: [1],
	},
	{
		what: 'with keys, executing a batch again that failed in the middle sends the rest',
		workflow: { options: inOrder },
		steps: [
			{ items: 6, fault: refusal('Item 4') },
			{ items: 6, ends: [...times(3, again), ...times(3, once)] },
		],
	},
	{
		what: 'a key with an unknown outcome stays unknown in later executions until Resend Unknown is on',
		workflow: { options: inOrder, settings: goesOn },
		steps: [
			{ items: 2, fault: lostAnswer('Item 1'), ends: [unknown, once] },
			{ items: 2, ends: [unknown, again] },
			{ items: 2, options: { ...inOrder, resendUnknown: true }, ends: [once, again] },
			{ items: 2, ends: again },
		],
		accepted: [1, 2, 1],
	},
	{
		what: 'an unknown outcome of an earlier execution keeps no other item from going out',
		workflow: { options: inOrder },
		steps: [{ items: 2, fault: lostAnswer('Item 2') }, { items: 4 }, { items: 5 }],
	},
];

/** n8n keeps the keys in this table. */
const refuseWrites = ['INSERT', 'UPDATE']
	.map(
		(write) =>
			`CREATE TRIGGER refuse_${write} BEFORE ${write} ON processed_data ` +
			`BEGIN SELECT RAISE(ABORT, 'no space left'); END;`,
	)
	.join('\n');
const allowWrites = 'DROP TRIGGER IF EXISTS refuse_INSERT; DROP TRIGGER IF EXISTS refuse_UPDATE;';

describe.each(majors)('idempotency keys on n8n %s.x', (major) => {
	const stage = useStage({ major, env: { N8N_GRACEFUL_SHUTDOWN_TIMEOUT: '4' } });

	/** Makes workflows whose items have their title as their key. */
	const keyed = async ({ options, ...others }: SendWorkflowOptions = {}): Promise<SendWorkflow> =>
		await sendWorkflow(stage(), { options: { ...byTitle, ...options }, ...others });

	const acceptedOf = (name: string) =>
		acceptedTitles(stage()).filter((title) => String(title).startsWith(`${name} `));

	/** Retries the execution that n8n's end has cut off. */
	const retryCrashed = async ({ id }: SendWorkflow) => {
		const [crashed] = await stage().client.waitForExecutions({ workflowId: id });
		expect(crashed?.status).toBe('crashed');
		return await stage().client.retryExecution(crashed?.id ?? '');
	};

	/** Calls a workflow whose webhook may not be there yet, as after a restart. */
	const callAgain = async (workflow: SendWorkflow, items: Array<Record<string, unknown>>) => {
		const isThere = ({ status }: WebhookAnswer) => status !== 404;
		const late = () => 'The webhook is not there';
		return await until(() => workflow.call(items), isThere, { within: 30_000, every: 250, late });
	};

	test('no item goes out twice if n8n is killed in the middle of a batch, with keys or by Retry', async () => {
		const one = { options: inOrder };
		const ten = { options: { ...byTitle, maxParallel: 10 }, settings: goesOn };
		const batches = [
			{ name: 'Plain', count: 1, sent: 1, workflow: await sendWorkflow(stage()) },
			{ name: 'Retried', count: 20, sent: 3, workflow: await keyed(one) },
			{ name: 'Again', count: 20, sent: 3, workflow: await keyed(one) },
			// With the third ten in flight, the first ten have been noted as sent.
			{
				name: 'Many plain',
				count: 300,
				sent: 21,
				workflow: await sendWorkflow(stage(), { options: { maxParallel: 10 }, settings: goesOn }),
			},
			{ name: 'Many retried', count: 300, sent: 21, workflow: await keyed(ten) },
			{ name: 'Many again', count: 300, sent: 21, workflow: await keyed(ten) },
		] as const;
		const [plain, retried, runAgain, manyPlain, manyRetried, manyAgain] = batches;
		const neverAnswered: Fault['action'] = { kind: 'hang', process: true };
		for (const title of ['Plain 1', 'Retried 3', 'Again 3']) {
			stage().simulator.addFault(forTitle(title, neverAnswered));
		}
		stage().simulator.setLatency(600);
		const calls = batches.map(
			async ({ name, count, workflow }) =>
				await workflow.call(titled(name, count)).catch(() => undefined),
		);
		await until(
			() => batches.filter(({ name, sent }) => acceptedOf(name).length < sent),
			(behind) => behind.length === 0,
			{ within: 60_000, every: 20, late: (behind) => JSON.stringify(behind) },
		);
		// While others go on, n8n notes what was answered before those that hang.
		await untilRequests(stage(), 60);
		await stage().crash();
		await Promise.all(calls);
		stage().simulator.setLatency(0);

		expect(acceptedOf('Plain')).toEqual(['Plain 1']);
		// n8n was killed before these batches were done.
		expect(acceptedOf('Many').length).toBeLessThan(700);
		// At the same time: each waits half a minute for what the killed n8n has claimed.
		const [plainRetry, retriedRetry, , manyPlainRetry, manyRetriedRetry, manyAgainAnswer] =
			await Promise.all([
				retryCrashed(plain.workflow),
				retryCrashed(retried.workflow),
				callAgain(runAgain.workflow, titled('Again', runAgain.count)),
				retryCrashed(manyPlain.workflow),
				retryCrashed(manyRetried.workflow),
				callAgain(manyAgain.workflow, titled('Many again', manyAgain.count)),
			]);
		// n8n 1 has no token by which a Retry would know what the execution has begun.
		expect(acceptedOf('Plain')).toEqual(major === '1' ? ['Plain 1', 'Plain 1'] : ['Plain 1']);
		expect(plainRetry.status).toBe(major === '1' ? 'success' : 'error');

		const { message, description } = failureOf(retriedRetry);
		expect(description).toContain(' sent earlier, 1 unknown (item 2).');
		expect(message).toContain('under the idempotency key "Retried 3"');
		for (const { name, count } of [retried, runAgain]) {
			expect(acceptedOf(name)).toEqual(titlesOf(name, count));
		}

		for (const [{ name, count }, items] of [
			...(major === '2' ? ([[manyPlain, sentItems(manyPlainRetry)]] as const) : []),
			[manyRetried, sentItems(manyRetriedRetry)],
			[manyAgain, manyAgainAnswer.json],
		] as const) {
			const ends = endsOf(items);
			expect(ends).toHaveLength(count);
			expect(ends.filter((end) => end !== once && end !== again && end !== unknown)).toEqual([]);
			expect(ends).toEqual(expect.arrayContaining([once, again]));
			// At most those that were in flight.
			expect(ends.filter((end) => end === unknown).length).toBeLessThanOrEqual(10);
			const accepted = acceptedOf(name);
			expect(repeated(accepted)).toEqual([]);
			const isLost = (title: string, index: number) =>
				ends[index] !== unknown && !accepted.includes(title);
			expect(titlesOf(name, count).filter(isLost)).toEqual([]);
		}
	});

	test('n8n that is shut down waits for a short batch and cuts off a long one; nothing goes out twice', async () => {
		const short = await sendWorkflow(stage());
		const long = await sendWorkflow(stage(), { options: { maxParallel: 2 }, settings: goesOn });
		const longKeyed = await keyed({
			settings: goesOn,
			// What was claimed is waited for as long as a request may take: here not for as long as by default.
			options: { maxParallel: 2, timeout: 15_000 },
		});
		stage().simulator.setLatency(500);
		const untilSending = async (name: string) =>
			await until(
				() => stage().simulator.requests.filter(({ body }) => body.includes(`"${name} `)).length,
				(count) => count > 0,
				{ within: 300_000, every: 20, late: () => `${name} sends nothing` },
			);
		const begin = async (name: string, { call }: SendWorkflow, count: number) => {
			const answered = call(titled(name, count)).catch(() => undefined);
			await untilSending(name);
			return { answered };
		};
		// Twenty-five seconds each: n8n waits for four, and for four more until it is gone.
		const calls = await Promise.all([begin('Long', long, 100), begin('Keyed', longKeyed, 100)]);
		calls.push(await begin('Short', short, 1));
		await stage().restart();
		await Promise.all(calls.map(({ answered }) => answered));
		stage().simulator.setLatency(0);

		const [ended] = await stage().client.waitForExecutions({ workflowId: short.id });
		expect(ended?.status).toBe('success');
		expect(acceptedOf('Short')).toEqual(['Short 1']);

		const before = acceptedOf('Long');
		expect(before.length).toBeLessThan(100);
		await retryCrashed(long);
		// n8n 1 starts it over and keeps nothing of it: without keys all of it goes out.
		const twice = major === '1' ? before : [];
		expect(repeated(acceptedOf('Long')).sort()).toEqual([...twice].sort());

		const ends = endsOf(sentItems(await retryCrashed(longKeyed)));
		expect(repeated(acceptedOf('Keyed'))).toEqual([]);
		expect(ends).toEqual(expect.arrayContaining([once, again]));
		expect(ends.filter((end) => end === unknown).length).toBeLessThanOrEqual(2);
	});

	// The rest needs no more of a version of n8n than its store, which both have alike.
	if (major === '1') return;

	test.each(stories)('$what', async (story) => {
		await expectStory(stage(), story);
	});

	test.each([
		{
			name: 'Retry On Fail of Execute Workflow sends the rest in a sub-workflow with keys',
			options: byTitle,
			accepted: [1, 2, 3, 4],
		},
		{
			name: 'Retry On Fail of Execute Workflow sends everything again in a sub-workflow without keys',
			options: {},
			accepted: [1, 2, 1, 2, 3, 4],
		},
	])('$name', async ({ name, options, accepted }) => {
		const { client, credential, simulator } = stage();
		const sub = await client.createWorkflow(
			chain(name, [
				node(
					'Called',
					'n8n-nodes-base.executeWorkflowTrigger',
					{ inputSource: 'passthrough' },
					{ typeVersion: 1.1 },
				),
				pushCampaign(
					{ ...content, title: '={{ $json.title }}', options: { ...options, maxParallel: 1 } },
					{ credential },
				),
			]),
		);
		await client.activate(sub.id);
		const call = node(
			'Call',
			'n8n-nodes-base.executeWorkflow',
			{ workflowId: { __rl: true, mode: 'id', value: sub.id }, options: {} },
			{ typeVersion: 1.2, retryOnFail: true, maxTries: 2, waitBetweenTries: 100 },
		);
		simulator.addFault(refusal('Called 3'));
		const { execution } = await runNodes(stage(), [call], titled('Called', 4));
		expect(execution.status).toBe('success');
		expect(acceptedTitles(stage())).toEqual(accepted.map((number) => `Called ${number}`));
	});

	test('a scheduled send whose time is over is alreadySent if it was sent under its key, and refused otherwise', async () => {
		const workflow = await keyed({
			parameters: { additionalFields: { sendAt: '={{ $json.sendAt }}' } },
		});
		const [one, two, three] = titled('Late', 3);
		const [soon, over] = ['2099-01-01T09:00Z', '2020-01-01T09:00Z'];
		await workflow.run([{ ...one, sendAt: soon }]);
		const later = await workflow.run([
			{ ...one, sendAt: over },
			{ ...two, sendAt: soon },
		]);
		expect(endsOf(sentItems(later))).toEqual([again, once]);
		// A new key is refused, and before anything leaves.
		const { requestCount } = stage().simulator;
		const refused = await workflow.run([
			{ title: 'On time', sendAt: soon },
			{ ...one, sendAt: over },
			{ ...three, sendAt: over },
		]);
		expect(failureOf(refused).message).toMatch(/Send At is .* in the past/);
		expect(stage().simulator.requestCount).toBe(requestCount);
		expect(endsOf(sentItems(await workflow.run([{ ...three, sendAt: soon }])))).toEqual([once]);
	});

	test('Remove Duplicates clears no key, and a step that is executed alone knows its keys', async () => {
		const { client, credential, simulator } = stage();
		const clear = (scope: string) =>
			node(
				`Clear ${scope}`,
				'n8n-nodes-base.removeDuplicates',
				{ operation: 'clearDeduplicationHistory', options: { scope } },
				{ typeVersion: 2 },
			);
		const start = node('Start', 'n8n-nodes-base.manualTrigger');
		const sender = pushCampaign({ ...content, options: { idempotencyKey: 'k' } }, { credential });
		const nodes = [start, clear('node'), clear('workflow'), sender];
		const draft = { ...chain('Cleared', nodes), pinData: {} };
		const { id } = await client.createWorkflow(draft);
		const first = await client.runManually(id, 'Start');
		expect(endsOf(sentItems(first))).toEqual([once]);
		// 'Execute step', with what the steps before it returned the last time.
		const { runData } = first.data.resultData;
		const answer = await client.request('POST', `workflows/${id}/run`, {
			workflowData: await client.workflow(id),
			destinationNode: { nodeName: sender.name, mode: 'inclusive' },
			runData,
			dirtyNodeNames: [sender.name],
		});
		const { executionId } = z.object({ executionId: z.string() }).parse(answer);
		const step = await client.waitForExecution(executionId);
		expect(endsOf(sentItems(step))).toEqual([again]);
		expect(endsOf(sentItems(await client.runManually(id, 'Start')))).toEqual([again]);
		// Pinned, n8n puts out what was pinned and does not run the node.
		const pinned = { ...draft, pinData: { [sender.name]: [{ json: { status: 'pinned' } }] } };
		await client.updateWorkflow(id, pinned);
		expect(endsOf(sentItems(await client.runManually(id, 'Start')))).toEqual(['pinned']);
		expect(simulator.campaigns.size).toBe(1);
	});

	test('2,000 items of one run are sent once each, and all keys are remembered', async () => {
		const workflow = await keyed();
		const items = titled('Many', 2_000);
		expect(countsOf((await workflow.call(items)).json)).toEqual({ [once]: 2_000 });
		expect(stage().simulator.campaigns.size).toBe(2_000);
		expect(new Set(acceptedTitles(stage())).size).toBe(2_000);
		expect(countsOf((await workflow.call(items)).json)).toEqual({ [again]: 2_000 });
	});

	test('two executions with the same keys at the same time send each item once, and both succeed', async () => {
		const workflow = await keyed();
		stage().simulator.setLatency(200);
		const items = titled('At once', 20);
		const answers = await Promise.all([workflow.call(items), workflow.call(items)]);
		expect(acceptedTitles(stage()).sort()).toEqual(titlesOf('At once', 20).sort());
		const [one = [], other = []] = answers.map(({ json }) => endsOf(json));
		expect(one.map((end, index) => [end, other[index]].sort())).toEqual(
			items.map(() => [again, once]),
		);
	});

	test('an empty key is refused before anything leaves', async () => {
		const workflow = await keyed({ options: { idempotencyKey: '={{ $json.key }}' } });
		const execution = await workflow.run([
			{ title: 'Given', key: 'given' },
			{ title: 'Empty', key: '' },
		]);
		expect(execution.status).toBe('error');
		expect(failureOf(execution).message).toContain('Idempotency Key');
		expect(stage().simulator.requestCount).toBe(0);
	});

	test('nothing is sent under a key that n8n can not write to its database', async () => {
		// The first has a row of keys already, the second has none.
		const first = await keyed({ settings: goesOn });
		const second = await keyed();
		await first.run(titled('Before', 1));
		stage().simulator.reset();
		await runSql(stage().server, refuseWrites);
		try {
			const refused = sentItems(await first.run(titled('Refused', 3)));
			expect(endsOf(refused)).toEqual(times(3, 'notSent'));
			expect(refused[0]).toMatchObject({
				error: {
					message: textWith('Could not access the idempotency key'),
					description: textWith('n8n'),
				},
			});
			const stopped = await second.run(titled('Refused', 3));
			expect(failureOf(stopped).description).toMatch(/^0 sent, 3 not sent /);
			expect(stage().simulator.requestCount).toBe(0);

			// Without a key, a Retry after a crash would send it twice.
			const withoutKeys = await sendWorkflow(stage());
			expect(failureOf(await withoutKeys.run(titled('Unasked', 1))).message).toContain(
				'Could not record the start of this send',
			);
			expect(stage().simulator.requestCount).toBe(0);
		} finally {
			await runSql(stage().server, allowWrites);
		}
		for (const workflow of [first, second]) {
			expect(endsOf(sentItems(await workflow.run(titled('Refused', 3))))).toEqual(times(3, once));
		}
	});

	test('an item succeeds if n8n can not save that it was sent, and is unknown from then on', async () => {
		const workflow = await keyed({ settings: goesOn });
		// The answer comes when n8n's database refuses to write.
		stage().simulator.setLatency(15_000);
		const running = workflow.run(titled('Noted', 1));
		await untilRequests(stage(), 1);
		await runSql(stage().server, refuseWrites);
		try {
			expect(endsOf(sentItems(await running))).toEqual([once]);
			expect(stage().server.log()).toContain(`in workflow ${workflow.id} stays claimed`);
		} finally {
			await runSql(stage().server, allowWrites);
		}
		stage().simulator.setLatency(0);
		// What was claimed is waited for as long as a request may take.
		await workflow.change({ options: { ...byTitle, timeout: 1_000 } });
		await stage().client.activate(workflow.id);
		expect(endsOf(sentItems(await workflow.run(titled('Noted', 1))))).toEqual([unknown]);
		expect(acceptedTitles(stage())).toEqual(['Noted 1']);
	});
});
