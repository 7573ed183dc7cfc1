import { jsonParse } from 'n8n-workflow';
import { z } from 'zod';
import { until, type N8nServer } from '../../host';
import type { Fault } from '../../simulator';
import { startCluster, type Cluster } from './support/queueCluster';
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
	durableEngine,
	endsOf,
	failureOf,
	repeated,
	sendWorkflow,
	sentItems,
	titled,
	untilRequests,
	watchWorkflow,
	type SendWorkflow,
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

/** The executions that a worker took, by its own log. */
const takenBy = (worker: N8nServer) =>
	[...worker.log().matchAll(/Worker started execution (\d+)/g)].map(([, id]) => id ?? '');

const goesOn = { onError: 'continueRegularOutput' } as const;
const times = (count: number, end: string) => Array.from({ length: count }, () => end);
const titlesOf = (name: string, count: number) => titled(name, count).map(({ title }) => title);

/** Kills the worker that has taken an execution. */
async function killWorkerOf(cluster: Cluster, executionId: string): Promise<void> {
	const worker = cluster.workers.find((each) => takenBy(each).includes(executionId));
	if (worker === undefined) throw new Error(`No worker has execution ${executionId}`);
	await worker.kill('SIGKILL');
}

async function newestExecution({ client }: Cluster, workflowId: string): Promise<string> {
	const [newest] = await client.executions({ workflowId });
	if (newest === undefined) throw new Error('There is no execution');
	return newest.id;
}

describe('queue mode on n8n 2.x with two workers, and n8n’s own locks', () => {
	let cluster: Cluster;

	beforeAll(async () => {
		cluster = await startCluster();
	}, 600_000);
	beforeEach(() => {
		cluster.simulator.reset();
	});
	afterAll(async () => {
		await cluster.close();
	}, 120_000);

	test('200 executions at once are spread over both workers, and each sends once', async () => {
		const workflow = await sendWorkflow(cluster);
		const items = titled('Queued', 200);
		const answers = await Promise.all(items.map((item) => workflow.call([item])));

		expect(await errorsOf(cluster, workflow.id)).toEqual([]);
		expect(answers.filter(({ status }) => status !== 200)).toEqual([]);
		expect(acceptedTitles(cluster).sort()).toEqual(titlesOf('Queued', 200).sort());
		const taken = cluster.workers.map(takenBy);
		expect(taken.every((executions) => executions.length > 0)).toBe(true);
		expect(new Set(taken.flat()).size).toBe(200);
		expect(taken.flat()).toHaveLength(200);
	}, 600_000);

	/** How many entries n8n keeps for the keys of a workflow's node: one for each key, and one for each open claim. */
	const entriesOf = async (workflowId: string): Promise<number> => {
		const rows = await cluster.query(
			`SELECT jsonb_array_length(value::jsonb -> 'data') AS "entries" FROM processed_data WHERE "workflowId" = '${workflowId}'`,
		);
		return z.tuple([z.object({ entries: z.number() })]).parse(jsonParse(rows))[0].entries;
	};

	/** A workflow that has sent under so many keys before, each item's title being its key. */
	const withKeysRemembered = async (count: number): Promise<SendWorkflow> => {
		const workflow = await sendWorkflow(cluster, {
			options: { idempotencyKey: '={{ $json.title }}' },
			settings: goesOn,
		});
		await workflow.run(titled('First', 1));
		await cluster.query(
			`UPDATE processed_data SET value = jsonb_set(value::jsonb, '{data}', (SELECT jsonb_agg(encode(decode(md5('key:Old ' || i), 'hex'), 'base64')) FROM generate_series(1, ${count}) AS i) || (value::jsonb -> 'data'))::text WHERE "workflowId" = '${workflow.id}'`,
		);
		cluster.simulator.reset();
		return workflow;
	};

	test.each([
		['two processes that send 200 items each', 2, 200],
		['two processes that run twelve executions each', 24, 60],
	])(
		'%s under different keys at once: all keys are remembered',
		async (_name, executions, size) => {
			const workflow = await withKeysRemembered(10_000);
			const before = await entriesOf(workflow.id);
			cluster.simulator.setLatency(50);
			const taken = () => cluster.workers.map((worker) => takenBy(worker).length);
			for (let round = 1, shared = 0; shared < 3; round++) {
				const takenBefore = taken();
				const batches = Array.from({ length: executions }, (_, index) =>
					titled(`Round ${round}, execution ${index}, item`, size),
				);
				const answers = await Promise.all(batches.map((items) => workflow.call(items)));
				expect(answers.flatMap(({ json }) => endsOf(json))).toEqual(
					times(executions * size, 'success'),
				);
				await until(
					() => entriesOf(workflow.id),
					(entries) => entries === before + round * executions * size,
					{ within: 30_000, every: 500, late: (entries) => `${entries} entries are there` },
				).catch(() => undefined);
				if (taken().every((count, worker) => count > (takenBefore[worker] ?? 0))) shared += 1;
				const again = await workflow.call(batches.flat());
				expect(endsOf(again.json)).toEqual(times(executions * size, 'alreadySent'));
			}
			expect(repeated(acceptedTitles(cluster))).toEqual([]);
		},
		600_000,
	);

	test('two processes that send under the same keys, the second while the first waits for answers: each item goes out once', async () => {
		const workflow = await withKeysRemembered(1);
		cluster.simulator.setLatency(5000);
		const items = titled('Same', 50);
		const first = workflow.call(items);
		await untilRequests(cluster, 50);
		const second = await workflow.call(items);
		expect(endsOf((await first).json)).toEqual(times(50, 'success'));
		// In the same process it waits; in another one it can't know what is under way.
		expect(endsOf(second.json).filter((end) => !/alreadySent|unknown/.test(end))).toEqual([]);
		cluster.simulator.setLatency(0);
		await until(
			async () => endsOf((await workflow.call(items)).json),
			(ends) => ends.every((end) => end === 'alreadySent'),
			{ within: 30_000, every: 500, late: (ends) => `They ended as ${[...new Set(ends)].join()}` },
		);
		expect(acceptedTitles(cluster).sort()).toEqual(titlesOf('Same', 50).sort());
	}, 600_000);
});

describe('queue mode on n8n 2.x with two workers', () => {
	let cluster: Cluster;

	beforeAll(async () => {
		cluster = await startCluster({ env: { ...quickLocks, ...durableEngine } });
	}, 600_000);
	beforeEach(() => {
		cluster.simulator.reset();
	});
	afterAll(async () => {
		await cluster.close();
	}, 120_000);

	test('a worker killed in the middle of a send leaves no second send', async () => {
		const workflow = await sendWorkflow(cluster, {
			options: { maxParallel: 1 },
			settings: { retryOnFail: true, maxTries: 3 },
		});
		cluster.simulator.addFault({ ...sentAndNeverAnswered, skip: 3 });
		const call = workflow.call(titled('Killed', 6)).catch(() => undefined);
		await untilRequests(cluster, 4);
		const id = await newestExecution(cluster, workflow.id);
		await killWorkerOf(cluster, id);
		await cluster.addWorker();

		const ended = await cluster.client.waitForExecutions({
			workflowId: workflow.id,
			timeout: 120_000,
		});
		expect(ended).toHaveLength(1);
		expect(ended[0]?.status).not.toBe('success');
		expect(acceptedTitles(cluster)).toEqual(titlesOf('Killed', 4));
		await call;
	}, 600_000);

	test.each([
		['a worker killed in the middle of a send, run again with keys: each item goes out once', {}],
		['the same with Continue', goesOn],
	] as const)(
		'%s',
		async (_how, settings) => {
			const workflow = await sendWorkflow(cluster, {
				options: { maxParallel: 1, idempotencyKey: '={{ $json.title }}' },
				settings,
			});
			cluster.simulator.addFault({ ...sentAndNeverAnswered, skip: 3 });
			const call = workflow.call(titled('Keyed', 6)).catch(() => undefined);
			await untilRequests(cluster, 4);
			await killWorkerOf(cluster, await newestExecution(cluster, workflow.id));
			await cluster.addWorker();
			await cluster.client.waitForExecutions({ workflowId: workflow.id, timeout: 120_000 });
			await call;

			const again = await workflow.run(titled('Keyed', 6));
			expect(acceptedTitles(cluster)).toEqual(titlesOf('Keyed', 6));
			if ('onError' in settings) {
				const ends = [...times(3, 'alreadySent'), 'unknown', ...times(2, 'success')];
				expect(endsOf(sentItems(again))).toEqual(ends);
			} else expect(failureOf(again).description).toMatch(/^5 of 6 were sent\./);
		},
		600_000,
	);

	test('the durable trigger loses and repeats nothing across a restart of the main and its death', async () => {
		const { client, simulator, credential } = cluster;
		const ids = [1, 2, 3].map(() => simulator.addCampaign({ counters: { total_attempts: 5 } }));
		const { id } = await client.createWorkflow(watchWorkflow(credential, ids));
		await client.activate(id);
		await untilCaughtUp(cluster, id, ids);

		for (const how of ['stopped', 'killed'] as const) {
			moveCounters(cluster, ids);
			simulator.addFault({
				match: { method: 'GET', path: '/status/' },
				times: 0,
				action: { kind: 'delay', ms: 3000 },
			});
			await untilRequests(cluster, ids.length);
			// Those that came are delayed all the same; the polls after the restart are not to be.
			simulator.clearFaults();
			await (how === 'killed' ? cluster.crash() : cluster.restart());
			moveCounters(cluster, ids);
			await untilCaughtUp(cluster, id, ids);
		}
		await untilRequests(cluster, 3 * ids.length);
		const events = await emittedBy(cluster, id);
		for (const campaignId of ids) {
			expect(changesOf(events, campaignId)).toEqual(countersOf(cluster, campaignId));
		}
		expect(events.filter(({ firstSeen }) => firstSeen)).toHaveLength(ids.length);
	}, 600_000);
});

describe('queue mode on n8n 1.x', () => {
	let cluster: Cluster;

	beforeAll(async () => {
		cluster = await startCluster({ major: '1', workers: 1, env: quickLocks });
	}, 600_000);
	afterAll(async () => {
		await cluster.close();
	}, 120_000);

	/** Sends two campaigns through a worker that dies when it has sent the second. */
	const sendAndKill = async (
		name: string,
		variables: Record<string, string>,
		options: Record<string, unknown> = {},
	) => {
		cluster.simulator.reset();
		const workflow = await sendWorkflow(cluster, { options: { maxParallel: 1, ...options } });
		cluster.simulator.addFault({ ...sentAndNeverAnswered, skip: 1 });
		const call = workflow.call(titled(name, 2)).catch(() => undefined);
		await untilRequests(cluster, 2);
		await killWorkerOf(cluster, await newestExecution(cluster, workflow.id));
		const worker = await cluster.addWorker(variables);
		const [ended] = await cluster.client.waitForExecutions({
			workflowId: workflow.id,
			timeout: 120_000,
		});
		await call;
		return { worker, ended };
	};

	test('a worker killed in the middle of a send: n8n starts over, and sends again', async () => {
		const { worker } = await sendAndKill('Default', {});
		const sent = titlesOf('Default', 2);
		expect(acceptedTitles(cluster)).toEqual([...sent, ...sent]);
		await worker.stop();
	}, 600_000);

	test('a worker killed in the middle of a send, with keys: n8n starts over, and nothing goes out twice', async () => {
		await cluster.addWorker();
		const options = { idempotencyKey: '={{ $json.title }}' };
		const { worker, ended } = await sendAndKill('Keyed', {}, options);
		expect(acceptedTitles(cluster)).toEqual(titlesOf('Keyed', 2));
		// The one whose answer never came is unknown.
		expect(ended?.status).toBe('error');
		await worker.stop();
	}, 600_000);

	test('a worker killed in the middle of a send, with QUEUE_WORKER_MAX_STALLED_COUNT=0: no second send', async () => {
		const never = { QUEUE_WORKER_MAX_STALLED_COUNT: '0' };
		await cluster.addWorker(never);
		await sendAndKill('Never', never);
		expect(acceptedTitles(cluster)).toEqual(titlesOf('Never', 2));
	}, 600_000);
});
