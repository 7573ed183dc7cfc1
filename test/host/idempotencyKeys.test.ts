import { chain, node, pushCampaign, until, type Major, type WebhookAnswer } from '../../host';
import type { Fault } from '../../simulator';
import { runNodes, useStage } from './support';
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

describe.each(majors)('idempotency keys on n8n %s.x', (major) => {
	const stage = useStage({ major, env: { N8N_GRACEFUL_SHUTDOWN_TIMEOUT: '2' } });

	/** A workflow whose items have their title as their key, or what else `idempotencyKey` says. */
	const keyed = async ({ options, ...others }: SendWorkflowOptions = {}): Promise<SendWorkflow> =>
		await sendWorkflow(stage(), {
			options: { idempotencyKey: '={{ $json.title }}', ...options },
			...others,
		});

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

	test('another node with the same key sends', async () => {
		for (const workflow of [await keyed(), await keyed()]) {
			expect(endsOf(sentItems(await workflow.run(titled('Each', 1))))).toEqual(['success']);
		}
		expect(acceptedTitles(stage())).toEqual(['Each 1', 'Each 1']);
	});

	test('the same key on three items of one run sends the first', async () => {
		const workflow = await keyed({ options: { idempotencyKey: 'today' } });
		const execution = await workflow.run(titled('Same', 3));
		expect(endsOf(sentItems(execution))).toEqual(['success', 'alreadySent', 'alreadySent']);
		expect(acceptedTitles(stage())).toEqual(['Same 1']);
	});

	test('the same key on three items of one run fails as the first did', async () => {
		const workflow = await keyed({ options: { idempotencyKey: 'today' }, settings: goesOn });
		stage().simulator.addFault(lostAnswer('Lost 1'));
		const execution = await workflow.run(titled('Lost', 3));
		expect(endsOf(sentItems(execution))).toEqual(times(3, 'unknown'));
		expect(acceptedTitles(stage())).toEqual(['Lost 1']);
	});

	test('a batch that failed half way, executed again with keys, sends the rest', async () => {
		const workflow = await keyed({
			options: { idempotencyKey: '={{ $json.title }}', maxParallel: 1 },
		});
		stage().simulator.addFault(refusal('Half 4'));
		expect((await workflow.run(titled('Half', 6))).status).toBe('error');
		expect(acceptedTitles(stage())).toEqual(titlesOf('Half', 3));
		expect(endsOf(sentItems(await workflow.run(titled('Half', 6))))).toEqual([
			...times(3, 'alreadySent'),
			...times(3, 'success'),
		]);
		expect(acceptedTitles(stage())).toEqual(titlesOf('Half', 6));
	});

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

	test('what was not sent frees its key', async () => {
		const workflow = await keyed();
		stage().simulator.addFault(refusal('Freed 1'));
		expect((await workflow.run(titled('Freed', 1))).status).toBe('error');
		expect(endsOf(sentItems(await workflow.run(titled('Freed', 1))))).toEqual(['success']);
		expect(acceptedTitles(stage())).toEqual(['Freed 1']);
	});

	test('an unknown outcome holds its key until Resend Unknown is on', async () => {
		const workflow = await keyed({ settings: goesOn });
		stage().simulator.addFault(lostAnswer('Held 1'));
		expect(endsOf(sentItems(await workflow.run(titled('Held', 2))))).toEqual([
			'unknown',
			'success',
		]);
		expect(endsOf(sentItems(await workflow.run(titled('Held', 2))))).toEqual([
			'unknown',
			'alreadySent',
		]);
		expect(acceptedTitles(stage()).sort()).toEqual(titlesOf('Held', 2));

		await workflow.change({
			options: { idempotencyKey: '={{ $json.title }}', resendUnknown: true },
		});
		await stage().client.activate(workflow.id);
		expect(endsOf(sentItems(await workflow.run(titled('Held', 2))))).toEqual([
			'success',
			'alreadySent',
		]);
		expect(endsOf(sentItems(await workflow.run(titled('Held', 2))))).toEqual(
			times(2, 'alreadySent'),
		);
		expect(acceptedTitles(stage()).sort()).toEqual(['Held 1', 'Held 1', 'Held 2']);
	});

	test('inside one execution Retry gives the first answer again', async () => {
		const workflow = await keyed({
			options: { idempotencyKey: '={{ $json.title }}', maxParallel: 1 },
		});
		stage().simulator.addFault(refusal('Retried 3'));
		const failed = await workflow.run(titled('Retried', 4));
		expect(failed.status).toBe('error');
		const ids = [...stage().simulator.campaigns.keys()];
		const retried = await stage().client.retryExecution(failed.id);
		expect(endsOf(sentItems(retried))).toEqual(times(4, 'success'));
		expect(
			sentItems(retried)
				.map((item) => item['campaignId'])
				.slice(0, 2),
		).toEqual(ids);
		expect(acceptedTitles(stage())).toEqual(titlesOf('Retried', 4));
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

	test('a dry run neither claims a key nor asks for it', async () => {
		const workflow = await keyed({ options: { dryRun: true } });
		for (let turn = 0; turn < 2; turn++) {
			expect(sentItems(await workflow.run(titled('Dry', 1)))).toMatchObject([{ dryRun: true }]);
		}
		await workflow.change({ options: { idempotencyKey: '={{ $json.title }}' } });
		await stage().client.activate(workflow.id);
		expect(endsOf(sentItems(await workflow.run(titled('Dry', 1))))).toEqual(['success']);
		expect(acceptedTitles(stage())).toEqual(['Dry 1']);
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
