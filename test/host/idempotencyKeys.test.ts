import type { INodeParameters } from 'n8n-workflow';
import { z } from 'zod';
import { chain, node, pushCampaign, until, type Major, type WebhookAnswer } from '../../host';
import type { Fault } from '../../simulator';
import { runNodes, useStage, type Stage } from './support';
import { content } from './support/fixtures';
import { textWith } from './support/matchers';
import {
	acceptedTitles,
	endsOf,
	failureOf,
	repeated,
	sendWorkflow,
	sentItems,
	titled,
	untilRequests,
	type SendWorkflow,
	type SendWorkflowOptions,
} from './support/reliabilityWorkflow';
import { runSql } from './support/sqlite';

const majors: Major[] = ['2', '1'];
const send = { method: 'POST', path: '/send/' };
const goesOn: SendWorkflowOptions['settings'] = { onError: 'continueRegularOutput' };
const byTitle = { idempotencyKey: '={{ $json.title }}' };
const inOrder = { ...byTitle, maxParallel: 1 };

const titlesOf = (name: string, count: number) => titled(name, count).map(({ title }) => title);
const times = (count: number, end: string) => Array.from({ length: count }, () => end);

const forTitle = (title: string, fault: Omit<Fault, 'match'>): Fault => ({
	match: { ...send, bodyIncludes: `"${title}"` },
	...fault,
});
const lostAnswer = (title: string) => forTitle(title, { action: { kind: 'reset-after' } });
const refusal = (title: string) =>
	forTitle(title, { action: { kind: 'failure', description: 'Something went wrong' } });

/** n8n keeps the keys in this table. */
const refuseWrites = ['INSERT', 'UPDATE']
	.map(
		(write) =>
			`CREATE TRIGGER refuse_${write} BEFORE ${write} ON processed_data ` +
			`BEGIN SELECT RAISE(ABORT, 'no space left'); END;`,
	)
	.join('\n');
const allowWrites = 'DROP TRIGGER IF EXISTS refuse_INSERT; DROP TRIGGER IF EXISTS refuse_UPDATE;';

/** Makes workflows whose items have their title as their key, or what else `idempotencyKey` says. */
const keyedOn =
	(stage: () => Stage) =>
	async ({ options, ...others }: SendWorkflowOptions = {}): Promise<SendWorkflow> =>
		await sendWorkflow(stage(), { options: { ...byTitle, ...options }, ...others });

/** What needs no more of a version of n8n than its store, which both have alike. */
describe('idempotency keys', () => {
	const stage = useStage({});
	const keyed = keyedOn(stage);

	/** An execution of so many items, perhaps after a change of the node's options. */
	interface Step {
		items: number;
		options?: INodeParameters;
		fault?: Fault;
		/** Missing where the execution fails. */
		ends?: string[];
	}
	const [once, again, unknown] = ['success', 'alreadySent', 'unknown'];

	test.each<[what: string, workflow: SendWorkflowOptions, steps: Step[], accepted: number[]]>([
		[
			'the same key on three items of one run sends the first',
			{ options: { idempotencyKey: 'today' } },
			[{ items: 3, ends: [once, again, again] }],
			[1],
		],
		[
			'the same key on three items of one run fails as the first did',
			{ options: { idempotencyKey: 'today' }, settings: goesOn },
			[{ items: 3, fault: lostAnswer('Item 1'), ends: times(3, unknown) }],
			[1],
		],
		[
			'a batch that failed half way, executed again with keys, sends the rest',
			{ options: inOrder },
			[
				{ items: 6, fault: refusal('Item 4') },
				{ items: 6, ends: [...times(3, again), ...times(3, once)] },
			],
			[1, 2, 3, 4, 5, 6],
		],
		[
			'what was not sent frees its key',
			{ options: byTitle },
			[
				{ items: 1, fault: refusal('Item 1') },
				{ items: 1, ends: [once] },
			],
			[1],
		],
		[
			'an unknown outcome holds its key until Resend Unknown is on',
			{ options: inOrder, settings: goesOn },
			[
				{ items: 2, fault: lostAnswer('Item 1'), ends: [unknown, once] },
				{ items: 2, ends: [unknown, again] },
				{ items: 2, options: { ...inOrder, resendUnknown: true }, ends: [once, again] },
				{ items: 2, ends: [again, again] },
			],
			[1, 2, 1],
		],
		[
			'an unknown outcome of an earlier execution keeps nothing else from going out',
			{ options: inOrder },
			[{ items: 2, fault: lostAnswer('Item 2') }, { items: 4 }, { items: 5 }],
			[1, 2, 3, 4, 5],
		],
		[
			'a dry run neither claims a key nor asks for it',
			{ options: { ...byTitle, dryRun: true } },
			[
				{ items: 1, ends: ['dryRun'] },
				{ items: 1, options: byTitle, ends: [once] },
				{ items: 1, options: { ...byTitle, dryRun: true }, ends: ['dryRun'] },
			],
			[1],
		],
	])('%s', async (_what, options, steps, accepted) => {
		const workflow = await sendWorkflow(stage(), options);
		for (const { items, options: changed, fault, ends } of steps) {
			if (fault !== undefined) stage().simulator.addFault(fault);
			if (changed !== undefined) {
				await workflow.change({ options: changed });
				await stage().client.activate(workflow.id);
			}
			const execution = await workflow.run(titled('Item', items));
			expect(execution.status).toBe(ends === undefined ? 'error' : 'success');
			if (ends !== undefined) expect(endsOf(sentItems(execution))).toEqual(ends);
		}
		expect(acceptedTitles(stage())).toEqual(accepted.map((number) => `Item ${number}`));
	});

	test('an error says first how many were sent, now and earlier under their keys', async () => {
		const workflow = await sendWorkflow(stage(), { options: inOrder });
		await workflow.run(titled('Item', 2));
		stage().simulator.addFault(refusal('Item 4'));
		const { description } = failureOf(await workflow.run(titled('Item', 6)));
		expect(description).toMatch(
			/^3 of 6 were sent\. Sent: 1, sent earlier under their keys: 2, not sent: 3, unknown: 0\. First to fail: item 3\. /,
		);
	});

	test('a scheduled send whose time is over is asked for by its key before it is refused', async () => {
		const workflow = await sendWorkflow(stage(), {
			options: byTitle,
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
		expect(failureOf(refused).message).toMatch(/^Send At is .* in the past$/);
		expect(stage().simulator.requestCount).toBe(requestCount);
		expect(endsOf(sentItems(await workflow.run([{ ...three, sendAt: soon }])))).toEqual([once]);
	});

	test("n8n's Remove Duplicates clears no key, and a keyed step that is executed on its own sends once", async () => {
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
		// 'Execute step', with what the steps before it put out the last time.
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
		expect(simulator.campaigns.size).toBe(1);
		// Pinned, n8n puts out what was pinned and does not run the node.
		const pinned = { ...draft, pinData: { [sender.name]: [{ json: { status: 'pinned' } }] } };
		await client.updateWorkflow(id, pinned);
		expect(endsOf(sentItems(await client.runManually(id, 'Start')))).toEqual(['pinned']);
		expect(simulator.campaigns.size).toBe(1);
	});

	test('20,000 items of one run go out once each, and the newest 10,000 keys are remembered', async () => {
		const workflow = await sendWorkflow(stage(), { options: byTitle });
		const items = titled('Many', 20_000);
		expect(endsOf((await workflow.call(items)).json)).toEqual(times(20_000, once));
		expect(stage().simulator.campaigns.size).toBe(20_000);
		expect(new Set(acceptedTitles(stage())).size).toBe(20_000);
		expect(endsOf((await workflow.call(items.slice(10_000))).json)).toEqual(times(10_000, again));
	}, 600_000);

	test('an execution that is stopped, executed again with keys, sends the rest', async () => {
		const workflow = await keyed({
			options: { idempotencyKey: '={{ $json.title }}', maxParallel: 2 },
			settings: goesOn,
		});
		stage().simulator.setLatency(15_000);
		const call = workflow.call(titled('Stopped', 6)).catch(() => undefined);
		await untilRequests(stage(), 2);
		const [running] = await stage().client.executions({ workflowId: workflow.id });
		await stage().client.stopExecution(running?.id ?? '');
		await stage().client.waitForExecution(running?.id ?? '');
		await call;
		stage().simulator.setLatency(0);
		// Those that were under way arrived; their answers did not.
		expect(endsOf(sentItems(await workflow.run(titled('Stopped', 6))))).toEqual([
			...times(2, 'unknown'),
			...times(4, 'success'),
		]);
		expect(acceptedTitles(stage()).sort()).toEqual(titlesOf('Stopped', 6));
	});

	test('two executions at once send each key once, and both get a result', async () => {
		const workflow = await keyed();
		stage().simulator.setLatency(200);
		const items = titled('At once', 20);
		const answers = await Promise.all([workflow.call(items), workflow.call(items)]);
		expect(acceptedTitles(stage()).sort()).toEqual(titlesOf('At once', 20).sort());
		const [one = [], other = []] = answers.map(({ json }) => endsOf(json));
		expect(one.map((end, index) => [end, other[index]].sort())).toEqual(
			items.map(() => ['alreadySent', 'success']),
		);
	});

	test.each([
		['an empty key', { key: '' }],
		['a blank key', { key: ' \n' }],
		['a key that is null', { key: null }],
		['a key that is missing', {}],
	])('%s is refused before anything leaves', async (_name, last) => {
		const options = { idempotencyKey: '={{ $json.key }}' };
		const items = [
			{ title: 'Given', key: 'given' },
			{ title: 'Blank', ...last },
		];
		const stops = await (await keyed({ options })).run(items);
		expect(stops.status).toBe('error');
		expect(failureOf(stops).message).toContain('Idempotency Key');
		expect(stage().simulator.requestCount).toBe(0);

		const continues = await (await keyed({ options, settings: goesOn })).run(items);
		expect(sentItems(continues)).toMatchObject([
			{ status: 'success' },
			{ error: { type: 'validation', outcome: 'notSent' } },
		]);
		expect(acceptedTitles(stage())).toEqual(['Given']);
	});

	test('where n8n can not write the claim, nothing leaves', async () => {
		// One has a row of keys already, the other has none.
		const workflows = [
			await keyed({ settings: goesOn }),
			await keyed({ settings: goesOn }),
			await keyed(),
		] as const;
		await workflows[0].run(titled('Before', 1));
		stage().simulator.reset();
		await runSql(stage().server, refuseWrites);
		try {
			for (const workflow of workflows.slice(0, 2)) {
				const refused = await workflow.run(titled('Refused', 3));
				expect(endsOf(sentItems(refused))).toEqual(times(3, 'notSent'));
				expect(sentItems(refused)[0]).toMatchObject({
					error: { message: textWith('Idempotency Key'), description: textWith('n8n') },
				});
			}
			const stopped = await workflows[2].run(titled('Refused', 3));
			expect(stopped.status).toBe('error');
			expect(failureOf(stopped).description).toContain('Sent: 0, not sent: 3, unknown: 0.');
			expect(stage().simulator.requestCount).toBe(0);

			const withoutKeys = await sendWorkflow(stage());
			expect(endsOf(sentItems(await withoutKeys.run(titled('Unasked', 1))))).toEqual(['success']);
		} finally {
			await runSql(stage().server, allowWrites);
		}
		for (const workflow of workflows) {
			expect(endsOf(sentItems(await workflow.run(titled('Refused', 3))))).toEqual(
				times(3, 'success'),
			);
		}
	});

	test('where n8n can not note that it was sent, the item is sent and its key stays claimed', async () => {
		const workflow = await keyed({ settings: goesOn });
		stage().simulator.setLatency(8000);
		const running = workflow.run(titled('Noted', 1));
		await untilRequests(stage(), 1);
		await runSql(stage().server, refuseWrites);
		try {
			expect(endsOf(sentItems(await running))).toEqual(['success']);
		} finally {
			await runSql(stage().server, allowWrites);
		}
		stage().simulator.setLatency(0);
		expect(endsOf(sentItems(await workflow.run(titled('Noted', 1))))).toEqual(['unknown']);
		expect(acceptedTitles(stage())).toEqual(['Noted 1']);
	});
});

describe.each(majors)('idempotency keys on n8n %s.x', (major) => {
	const stage = useStage({ major, env: { N8N_GRACEFUL_SHUTDOWN_TIMEOUT: '2' } });
	const keyed = keyedOn(stage);

	/** Calls a workflow whose webhook may not be there yet, as after a restart. */
	const callAgain = async (workflow: SendWorkflow, items: Array<Record<string, unknown>>) => {
		const isThere = ({ status }: WebhookAnswer) => status !== 404;
		const late = () => 'The webhook is not there';
		return await until(() => workflow.call(items), isThere, { within: 30_000, every: 250, late });
	};

	test('a later execution with the same key sends nothing, and says so', async () => {
		const workflow = await keyed();
		const first = await workflow.run(titled('Once', 3));
		expect(first.status).toBe('success');
		expect(sentItems(first)).toMatchObject(
			titlesOf('Once', 3).map((title) => ({ status: 'success', title, idempotencyKey: title })),
		);

		const later = await workflow.run(titled('Once', 4));
		expect(later.status).toBe('success');
		const [again, , , fresh] = sentItems(later);
		expect(endsOf(sentItems(later))).toEqual([...times(3, 'alreadySent'), 'success']);
		expect(again).toMatchObject({ audience: 'all', title: 'Once 1', idempotencyKey: 'Once 1' });
		expect(again).not.toHaveProperty('campaignId');
		expect(fresh).toHaveProperty('campaignId');
		expect(acceptedTitles(stage()).sort()).toEqual(titlesOf('Once', 4));
	});

	test.each([
		['a sub-workflow with keys', true],
		['a sub-workflow without keys', false],
	])('%s, started again by Retry On Fail of Execute Workflow', async (name, hasKeys) => {
		const { client, credential } = stage();
		const options = hasKeys ? { idempotencyKey: '={{ $json.title }}' } : {};
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
		// n8n 1.x has nothing to activate in it, n8n 2.x calls none that is not active.
		if (major === '2') await client.activate(sub.id);
		const call = node(
			'Call',
			'n8n-nodes-base.executeWorkflow',
			{ workflowId: { __rl: true, mode: 'id', value: sub.id }, options: {} },
			{ typeVersion: 1.2, retryOnFail: true, maxTries: 2, waitBetweenTries: 100 },
		);
		stage().simulator.addFault(refusal('Called 3'));
		const { execution } = await runNodes(stage(), [call], titled('Called', 4));
		expect(execution.status).toBe('success');
		const before = titlesOf('Called', 2);
		expect(acceptedTitles(stage())).toEqual([
			...before,
			...(hasKeys ? [] : before),
			'Called 3',
			'Called 4',
		]);
	});

	test('a server killed at one item of many: the rest goes out, by Retry or executed again', async () => {
		const [workflow, retriedWorkflow] = [
			await keyed({ options: { maxParallel: 1 } }),
			await keyed({ options: { maxParallel: 1 } }),
		];
		stage().simulator.addFault({
			...forTitle('Killed 6', { action: { kind: 'hang', process: true } }),
			times: 2,
		});
		const calls = [workflow, retriedWorkflow].map(
			async (each) => await each.call(titled('Killed', 20)).catch(() => undefined),
		);
		await until(
			() => stage().simulator.requestCount,
			(requests) => requests >= 12,
			{ within: 60_000, every: 50, late: (requests) => `${requests} of 12 requests came` },
		);
		await stage().crash();
		await Promise.all(calls);
		const [crashed] = await stage().client.waitForExecutions({ workflowId: retriedWorkflow.id });
		const retried = await stage().client.retryExecution(crashed?.id ?? '');
		expect(failureOf(retried).description).toContain('19 of 20 were sent.');
		expect(failureOf(retried).message).toContain('under the idempotency key "Killed 6"');
		await callAgain(workflow, titled('Killed', 20));
		// Every item of both workflows, the unknown one too, and none twice.
		expect(acceptedTitles(stage()).sort()).toEqual(
			[...titlesOf('Killed', 20), ...titlesOf('Killed', 20)].sort(),
		);
	});

	test('a server killed in the middle of a batch: what was claimed goes out once, however it is run again', async () => {
		const options = { idempotencyKey: '={{ $json.title }}', maxParallel: 10 };
		const workflow = await keyed({ options, settings: goesOn });
		const retriedWorkflow = await keyed({ options, settings: goesOn });
		const count = 60;
		stage().simulator.setLatency(600);
		const calls = [
			workflow.call(titled('Run again', count)),
			retriedWorkflow.call(titled('Retried', count)),
		].map((call) => call.catch(() => undefined));
		// With the third ten of a workflow under way, its first ten have been noted as sent.
		const sentOf = (name: string) =>
			acceptedTitles(stage()).filter((title) => String(title).startsWith(name)).length;
		await until(
			() => Math.min(sentOf('Run again'), sentOf('Retried')),
			(sent) => sent > 20,
			{ within: 60_000, every: 20, late: (sent) => `${sent} of 20 were sent` },
		);
		await stage().crash();
		await Promise.all(calls);
		expect(acceptedTitles(stage()).length).toBeLessThan(2 * count);
		stage().simulator.setLatency(0);

		const [crashed] = await stage().client.waitForExecutions({ workflowId: retriedWorkflow.id });
		expect(crashed?.status).toBe('crashed');
		const retried = await stage().client.retryExecution(crashed?.id ?? '');
		const again = await callAgain(workflow, titled('Run again', count));

		const accepted = acceptedTitles(stage());
		expect(repeated(accepted)).toEqual([]);
		for (const [name, items] of [
			['Run again', again.json],
			['Retried', sentItems(retried)],
		] as const) {
			const ends = endsOf(items);
			expect(ends).toHaveLength(count);
			expect(new Set(ends)).toEqual(new Set(['success', 'alreadySent', 'unknown']));
			const lost = titlesOf(name, count).filter(
				(title, index) => ends[index] !== 'unknown' && !accepted.includes(title),
			);
			expect(lost).toEqual([]);
			// No more is left open than what was under way.
			expect(ends.filter((end) => end === 'unknown').length).toBeLessThanOrEqual(20);
		}
	});

	test('n8n ended in order waits for a short batch, and cuts a long one off: with keys nothing goes out twice', async () => {
		const settings = goesOn;
		const short = await sendWorkflow(stage(), { settings });
		const long = await sendWorkflow(stage(), { settings, options: { maxParallel: 2 } });
		const longKeyed = await keyed({
			settings,
			options: { maxParallel: 2, idempotencyKey: '={{ $json.title }}' },
		});
		stage().simulator.setLatency(500);
		const calls = [
			short.call(titled('Short', 1)),
			// Ten seconds each: n8n waits for two, and for two more until it is gone.
			long.call(titled('Long', 40)),
			longKeyed.call(titled('Keyed', 40)),
		].map((call) => call.catch(() => undefined));
		await untilRequests(stage(), 5);
		await stage().restart();
		await Promise.all(calls);
		stage().simulator.setLatency(0);
		const acceptedOf = (name: string) =>
			acceptedTitles(stage()).filter((title) => String(title).startsWith(name));

		const [ended] = await stage().client.waitForExecutions({ workflowId: short.id });
		expect(ended?.status).toBe('success');
		expect(acceptedOf('Short')).toEqual(['Short 1']);

		const [cut] = await stage().client.waitForExecutions({ workflowId: long.id });
		expect(cut?.status).toBe('crashed');
		const before = acceptedOf('Long');
		expect(before.length).toBeLessThan(40);
		await stage().client.retryExecution(cut?.id ?? '');
		// n8n starts it over and keeps nothing of it: without keys all of it goes out.
		expect(repeated(acceptedOf('Long')).sort()).toEqual(before.sort());

		const [cutKeyed] = await stage().client.waitForExecutions({ workflowId: longKeyed.id });
		expect(cutKeyed?.status).toBe('crashed');
		const ends = endsOf(sentItems(await stage().client.retryExecution(cutKeyed?.id ?? '')));
		expect(repeated(acceptedOf('Keyed'))).toEqual([]);
		expect(new Set(ends)).toEqual(new Set(['alreadySent', 'unknown', 'success']));
		// The two that were under way, and answers that were not yet noted.
		expect(ends.filter((end) => end === 'unknown').length).toBeLessThanOrEqual(4);
	});
});
