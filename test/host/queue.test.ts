import { jsonParse } from 'n8n-workflow';
import { z } from 'zod';
import { until } from '../../host';
import type { Fault } from '../../simulator';
import {
	countWorkers,
	rememberKeys,
	takenBy,
	untilShared,
	useCluster,
	type Cluster,
} from './support/queueCluster';
import {
	changesOf,
	countersOf,
	emittedBy,
	errorsOf,
	moveCounters,
	untilCaughtUp,
} from './support/reliabilityEvents';
import {
	acceptedTitles,
	byTitle,
	durableEngine,
	endsOfCalls,
	failureOf,
	forTitle,
	goesOn,
	repeated,
	sendWorkflow,
	sentItems,
	times,
	titled,
	titlesOf,
	untilRequests,
	watchWorkflow,
	type SendWorkflow,
	type SendWorkflowOptions,
} from './support/reliabilityWorkflow';

/** A dead worker's job is noticed after this: here in seconds, by default after a minute and a half. */
const quickLocks = {
	QUEUE_WORKER_LOCK_DURATION: '6000',
	QUEUE_WORKER_LOCK_RENEW_TIME: '2000',
	QUEUE_WORKER_STALLED_INTERVAL: '2000',
};

const sentAndNeverAnswered: Fault = {
	match: { method: 'POST', path: '/send/' },
	action: { kind: 'hang', process: true },
};

/** How many keys n8n keeps as sent for a workflow. */
const sentKeysOf = ({ id }: SendWorkflow) =>
	`count(*)::int AS "number" FROM processed_data WHERE "workflowId" = '${id}' AND context LIKE 'n:push-campaign-key:%:sent'`;

/** How many rows the journals of a workflow's executions have. */
const journalOf = ({ id }: SendWorkflow) =>
	`count(*)::int AS "number" FROM processed_data WHERE "workflowId" = '${id}' AND context LIKE 'n:push-campaign-journal:%'`;

/** Waits until n8n's database has counted so many. */
async function untilCounted({ query }: Cluster, what: string, wanted: number) {
	const schema = z.tuple([z.object({ number: z.number() })]);
	return await until(
		async () => schema.parse(jsonParse(await query(`SELECT ${what}`)))[0].number,
		(number) => number === wanted,
		// Each look starts a process, which takes the time of those that are waited for.
		{ within: 300_000, every: 2_000, late: (number) => `${number} of ${wanted}` },
	);
}

/** Runs a workflow on so many items, and kills the worker that has it when some are sent. */
async function killWhileSending(
	cluster: Cluster,
	options: SendWorkflowOptions,
	{ items, sent }: { items: number; sent: number },
) {
	const { client, simulator, workers } = cluster;
	const workflow = await sendWorkflow(cluster, {
		...options,
		options: { maxParallel: 1, ...options.options },
	});
	simulator.addFault({ ...sentAndNeverAnswered, skip: sent - 1 });
	// n8n answers it long after the execution has ended.
	workflow.call(titled('Killed', items)).catch(() => undefined);
	await untilRequests(cluster, sent);
	if (options.options?.['idempotencyKey'] !== undefined)
		await untilCounted(cluster, sentKeysOf(workflow), sent - 1);
	const [running] = await client.executions({ workflowId: workflow.id });
	const worker = workers.find((each) => takenBy(each).includes(running?.id ?? ''));
	if (worker === undefined) throw new Error('No worker has the execution');
	await worker.kill('SIGKILL');
	const ended = await client.waitForExecutions({ workflowId: workflow.id, timeout: 300_000 });
	return { workflow, ended };
}

describe('queue mode on n8n 2.x with two workers', () => {
	const cluster = useCluster({ major: '2', env: {}, workers: 2 });

	test('200 executions at the same time are spread over both workers, and each sends once', async () => {
		const workflow = await sendWorkflow(cluster());
		// A busy n8n leaves a call unanswered now and then, though its execution has ended.
		for (const item of titled('Queued', 200)) workflow.call([item]).catch(() => undefined);
		const succeeded = `count(*)::int AS "number" FROM execution_entity WHERE "workflowId" = '${workflow.id}' AND status = 'success'`;
		await untilCounted(cluster(), succeeded, 200);
		expect(await errorsOf(cluster(), workflow.id)).toEqual([]);
		expect(acceptedTitles(cluster()).sort()).toEqual(titlesOf('Queued', 200).sort());
		const taken = cluster().workers.map(takenBy);
		expect(taken.every((executions) => executions.length > 0)).toBe(true);
		expect(new Set(taken.flat()).size).toBe(200);
		expect(taken.flat()).toHaveLength(200);
	});

	test('two workers that run twelve executions each under different keys at the same time remember all keys', async () => {
		const workflow = await sendWorkflow(cluster(), { options: byTitle, settings: goesOn });
		await rememberKeys(cluster(), workflow, 10_000);
		cluster().simulator.setLatency(50);
		const batches = Array.from({ length: 24 }, (_, index) =>
			titled(`Execution ${index}, item`, 60),
		);
		const { value: ends, took } = await countWorkers(cluster(), async () =>
			endsOfCalls(cluster(), workflow, batches),
		);
		const sent = batches.flat();
		expect(ends).toEqual(times(sent.length, 'success'));
		expect(took).toBe(2);
		await untilCounted(cluster(), sentKeysOf(workflow), 10_000 + sent.length);
		const again = await endsOfCalls(cluster(), workflow, [sent]);
		expect(again).toEqual(times(sent.length, 'alreadySent'));
		expect(repeated(acceptedTitles(cluster()))).toEqual([]);
	});

	test('two workers that send under the same keys send each item once, the second while the first waits for answers', async () => {
		const workflow = await sendWorkflow(cluster(), { options: byTitle, settings: goesOn });
		await untilShared(cluster(), async (round) => {
			cluster().simulator.reset();
			cluster().simulator.setLatency(3000);
			const items = titled(`Same ${round}`, 50);
			const first = endsOfCalls(cluster(), workflow, [items]);
			await untilRequests(cluster(), 50);
			expect(await endsOfCalls(cluster(), workflow, [items])).toEqual(times(50, 'alreadySent'));
			expect(await first).toEqual(times(50, 'success'));
			expect(acceptedTitles(cluster()).sort()).toEqual(titlesOf(`Same ${round}`, 50).sort());
		});
	});

	test('the journals of executions that have ended, or wait, are taken away', async () => {
		const failing = await sendWorkflow(cluster(), { options: { maxParallel: 1 } });
		cluster().simulator.addFault(forTitle('Fails 60', { kind: 'failure', description: 'No' }));
		await failing.run(titled('Fails', 60));
		const working = await sendWorkflow(cluster());
		await working.run(titled('Works', 120));
		for (const workflow of [failing, working]) {
			expect(await untilCounted(cluster(), journalOf(workflow), 0)).toBe(0);
		}
	});
});

describe('queue mode on n8n 2.x where a process dies', () => {
	// A worker for each that is killed, and one that is left.
	const cluster = useCluster({ major: '2', env: { ...quickLocks, ...durableEngine }, workers: 4 });

	test('a worker that is killed in the middle of a send leaves no second send', async () => {
		const { ended } = await killWhileSending(
			cluster(),
			{ settings: { retryOnFail: true, maxTries: 3 } },
			{ items: 6, sent: 4 },
		);
		expect(ended).toHaveLength(1);
		expect(ended[0]?.status).not.toBe('success');
		expect(acceptedTitles(cluster())).toEqual(titlesOf('Killed', 4));
	});

	test('Retry of an execution whose worker was killed runs no node, and sends nothing', async () => {
		const { ended } = await killWhileSending(
			cluster(),
			{ settings: goesOn },
			{ items: 6, sent: 4 },
		);
		// n8n's main process saves it as failed, without what was to run.
		const retried = await cluster().client.retryExecution(ended[0]?.id ?? '');
		expect(sentItems(retried)).toEqual([]);
		expect(acceptedTitles(cluster())).toEqual(titlesOf('Killed', 4));
	});

	test('with keys, executing again after a worker was killed sends no item twice', async () => {
		const { workflow } = await killWhileSending(
			cluster(),
			{ options: byTitle },
			{ items: 6, sent: 4 },
		);
		// A claim is waited for as long as a request may take: here not for as long as by default.
		await workflow.change({ options: { ...byTitle, maxParallel: 1, timeout: 15_000 } });
		await cluster().client.activate(workflow.id);
		const again = await workflow.run(titled('Killed', 6));
		expect(acceptedTitles(cluster())).toEqual(titlesOf('Killed', 6));
		expect(failureOf(again).description).toMatch(/^\d sent, \d sent earlier, 1 unknown /);
	});

	test('the trigger loses and repeats nothing if the main process restarts or is killed, in the durable engine', async () => {
		const { client, simulator, credential } = cluster();
		const ids = [1, 2, 3].map(() => simulator.addCampaign({ counters: { total_attempts: 5 } }));
		const { id } = await client.createWorkflow(watchWorkflow(credential, ids));
		await client.activate(id);
		await untilCaughtUp(cluster(), id, ids);

		for (const how of ['stopped', 'killed'] as const) {
			moveCounters(cluster(), ids);
			simulator.addFault({
				match: { method: 'GET', path: '/status/' },
				times: 0,
				action: { kind: 'delay', ms: 3000 },
			});
			await untilRequests(cluster(), ids.length);
			// Those that came are delayed all the same; the polls after the restart are not to be.
			simulator.clearFaults();
			await (how === 'killed' ? cluster().crash() : cluster().restart());
			moveCounters(cluster(), ids);
			await untilCaughtUp(cluster(), id, ids);
		}
		await untilRequests(cluster(), 3 * ids.length);
		const events = await emittedBy(cluster(), id);
		for (const campaignId of ids) {
			expect(changesOf(events, campaignId)).toEqual(countersOf(cluster(), campaignId));
		}
		expect(events.filter(({ firstSeen }) => firstSeen)).toHaveLength(ids.length);
	});
});

describe('queue mode on n8n 1.x', () => {
	const cluster = useCluster({ major: '1', workers: 0, env: quickLocks });

	const [one, two] = titlesOf('Killed', 2);

	test.each([
		{
			name: 'n8n starts an execution over whose worker was killed, and sends everything again',
			variables: {},
			options: {},
			accepted: [one, two, one, two],
			status: 'success',
		},
		{
			name: 'with keys, nothing goes out twice if n8n starts an execution over whose worker was killed',
			variables: {},
			options: byTitle,
			accepted: [one, two],
			// The one whose answer never came is unknown.
			status: 'error',
		},
		{
			name: 'with QUEUE_WORKER_MAX_STALLED_COUNT=0, n8n does not start an execution over whose worker was killed',
			variables: { QUEUE_WORKER_MAX_STALLED_COUNT: '0' },
			options: {},
			accepted: [one, two],
			status: 'error',
		},
	])('$name', async ({ variables, options, accepted, status }) => {
		await Promise.all(cluster().workers.map(async (worker) => await worker.stop()));
		// One that is killed, and one that is left.
		await Promise.all([variables, variables].map(async (own) => await cluster().addWorker(own)));
		const { ended } = await killWhileSending(cluster(), { options }, { items: 2, sent: 2 });
		expect(acceptedTitles(cluster())).toEqual(accepted);
		expect(ended[0]?.status).toBe(status);
	});
});
