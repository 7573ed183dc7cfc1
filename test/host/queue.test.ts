import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { projectFolder, until, type Execution, type N8nServer } from '../../host';
import {
	acceptedTitles,
	byTitle,
	expectRetrySendsRest,
	expectSent,
	goesOn,
	neverAnswered,
	notTheFirst,
	refusal,
	repeated,
	sendWorkflow,
	statusesOf,
	stopNewest,
	titled,
	titlesOf,
	untilRequests,
	wordsOf,
	type PublishedWorkflow,
} from './support';
import { takenBy, useCluster } from './support/cluster';

// A webhook that is delivered several times, to workers that share nothing but n8n's database: one of them sends.

const cluster = useCluster(4);

const timeout = 10_000;
const keyed = async (own = {}) => {
	const options = { ...byTitle, timeout, ...own };
	return await sendWorkflow(cluster(), { options, settings: goesOn });
};

/** Delivers the same items several times, so many milliseconds apart; gives how they ended, sorted. */
async function deliver(
	{ id, call }: PublishedWorkflow,
	titles: readonly string[],
	times: number,
	distanceMs: number,
): Promise<unknown[]> {
	const { client } = cluster();
	const list = async () => await client.executions({ workflowId: id });
	const before = new Set((await list()).map((each) => each.id));
	const items = titles.map((title) => ({ title }));
	for (let delivered = 0; delivered < times; delivered += 1) {
		if (delivered > 0) await sleep(distanceMs);
		call(items).catch(() => undefined);
	}
	const begun = await until(
		async () => (await list()).filter((each) => !before.has(each.id)),
		(found) => found.length === times,
		{ within: 180_000, late: (found) => `${found.length} of ${times} executions began` },
	);
	const ended = await Promise.all(begun.map((each) => client.waitForExecution(each.id)));
	return ended.flatMap(statusesOf).sort();
}

/** The end of all deliveries but one, and of that one. */
const once = (times: number, items = 1): unknown[] => [
	...Array.from({ length: items * (times - 1) }, () => 'alreadySent'),
	...Array.from({ length: items }, () => 'success'),
];

test.each([2, 3])(
	'of %i deliveries with the same key, 0 to 500 ms apart, one sends and the others report it',
	async (times) => {
		const { simulator } = cluster();
		simulator.setLatency(50);
		const workflow = await keyed();
		const before = takenBy(cluster());
		for (const distanceMs of [0, 5, 20, 100, 200, 500]) {
			for (const round of [1, 2]) {
				const title = `${distanceMs} ms, round ${round}`;
				expect(await deliver(workflow, [title], times, distanceMs)).toEqual(once(times));
			}
		}
		expect(repeated(acceptedTitles(cluster()))).toEqual([]);
		expect(simulator.campaigns.size).toBe(12);
		const took = takenBy(cluster()).filter((taken, worker) => taken > (before[worker] ?? 0));
		expect(took.length).toBeGreaterThan(1);
	},
);

test('of three deliveries of 100 items at once, one sends each item', async () => {
	cluster().simulator.setLatency(50);
	const workflow = await keyed();
	const titles = titlesOf('Batch', 100);
	expect(await deliver(workflow, titles, 3, 0)).toEqual(once(3, 100));
	expectSent(cluster(), ...titles);
});

test('of three deliveries at once of what is unknown, none sends it, and all are green', async () => {
	const workflow = await keyed();
	const titles = titlesOf('Lost', 8);
	const lost = { match: { method: 'POST' }, times: 0, action: { kind: 'reset-after' } } as const;
	cluster().simulator.addFault(lost);
	expect(await deliver(workflow, titles, 1, 0)).toEqual(titles.map(() => 'unknown'));
	cluster().simulator.clearFaults();
	const unknown = Array.from({ length: 24 }, () => 'unknown');
	expect(await deliver(workflow, titles, 3, 0)).toEqual(unknown);
	expectSent(cluster(), ...titles);
});

test('workers that freeze for seconds send nothing twice, and report nothing as sent that was not', async () => {
	const { workers, simulator } = cluster();
	simulator.setLatency(50);
	// Whoever waits for a claim of somebody else gives up after seven seconds, sooner than some freezes end.
	const workflow = await keyed({ timeout: 2_000 });
	const freeze = async (worker: N8nServer, afterMs: number, forMs: number) => {
		await sleep(afterMs);
		process.kill(worker.pid, 'SIGSTOP');
		await sleep(forMs);
		process.kill(worker.pid, 'SIGCONT');
	};
	const told: string[] = [];
	for (let round = 0; round < 6; round += 1) {
		const title = `Frozen ${round}`;
		const freezes = workers
			.filter((_, index) => (index + round) % 2 === 0 || round % 3 === 0)
			.map((worker, index) =>
				freeze(worker, (round * 37 + index * 23) % 250, 1_000 + ((round * 2_900) % 9_000)),
			);
		const ends = await deliver(workflow, [title], 3, (round * 11) % 60);
		await Promise.all(freezes);
		if (ends.includes('success') || ends.includes('alreadySent')) told.push(title);
	}
	const accepted = acceptedTitles(cluster());
	expect(repeated(accepted)).toEqual([]);
	expect(told).not.toEqual([]);
	expect(accepted).toEqual(expect.arrayContaining(told));
});

test('the workflow that is run again after it was stopped sends the rest, and nothing twice that has a key', async () => {
	const { simulator } = cluster();
	const workflow = await keyed({ timeout: 5_000 });
	const items = titled('Stopped', 40);
	simulator.addFault(neverAnswered);
	workflow.call(items).catch(() => undefined);
	await untilRequests(cluster(), 20);
	await stopNewest(cluster(), workflow.id);
	const inFlight = acceptedTitles(cluster());
	simulator.clearFaults();
	// n8n's editor offers no Retry for an execution that was stopped.
	const again = await workflow.run(items);
	expectSent(cluster(), ...titlesOf('Stopped', 40));
	expect(statusesOf(again)).toEqual(
		items.map(({ title }) => (inFlight.includes(title) ? 'unknown' : 'success')),
	);
});

test('an administrator removes the keys that were last used before a date, and no others', async () => {
	const { execute } = cluster();
	const page = await readFile(join(projectFolder, 'docs/administration.md'), 'utf8');
	const [, statement = ''] = /```sql\n([^]*?)```/.exec(page) ?? [];
	const workflow = await keyed();
	const age = async (rows: string) =>
		await execute(
			`UPDATE processed_data SET "updatedAt" = '2025-12-01' WHERE context LIKE 'n:push-campaign-key:%${rows}'`,
		);
	await workflow.run(titled('Long ago', 1));
	await age('');
	await workflow.run(titled('Lately', 1));
	// It was claimed long ago, and sent since.
	await age(':claim:1');
	await execute(statement);
	const items = [...titled('Long ago', 1), ...titled('Lately', 1)];
	expect(statusesOf(await workflow.run(items))).toEqual(['success', 'alreadySent']);
});

/** An execution of 60 items without keys, of which one is refused in it and in its first Retry. */
async function failTwice(name: string): Promise<Execution> {
	cluster().simulator.addFault({ ...refusal(`${name} 2`), times: 2 });
	return await (await sendWorkflow(cluster())).run(titled(name, 60));
}

/** Two Retries of an execution at once; gives those that sent, and those that were refused. */
async function retryTwice({ id, workflowId = '' }: Execution) {
	const { client } = cluster();
	const filter = { workflowId, mode: 'retry' };
	const before = (await client.executions(filter)).length;
	const retry = async () =>
		await client.request('POST', `executions/${id}/retry`, { loadWorkflow: false });
	// n8n's executions tell, not its answer: now and then it leaves one out.
	for (const _ of [1, 2]) retry().catch(() => undefined);
	const ended = await client.waitForExecutions({ ...filter, count: before + 2 });
	const both = await Promise.all(
		ended.slice(0, 2).map(async (each) => await client.waitForExecution(each.id)),
	);
	const refused = both.filter((each) => notTheFirst.test(wordsOf(each)));
	return { refused, others: both.filter((each) => !refused.includes(each)) };
}

test('of two Retries at once one sends the rest, whichever workers they are in; after a restart the newest alone does', async () => {
	const { simulator, restartWorkers } = cluster();
	const names = ['A', 'B', 'C', 'D'];
	const failed = await Promise.all(names.map(failTwice));
	simulator.setLatency(100);
	const newest: Execution[] = [];
	for (const each of failed) {
		const { others, refused } = await retryTwice(each);
		expect(refused).toHaveLength(1);
		newest.push(...others);
	}
	await restartWorkers(2);
	for (const each of failed) expect((await retryTwice(each)).refused).toHaveLength(2);
	for (const each of newest) expect((await retryTwice(each)).refused).toHaveLength(1);
	expectSent(cluster(), ...names.flatMap((name) => titlesOf(name, 60)));
});

test('a database that is down when a run first needs keys sends nothing, and the Retry sends all when it is back', async () => {
	const { execute, simulator, restartWorkers } = cluster();
	await restartWorkers(1);
	const workflow = await sendWorkflow(cluster(), { options: byTitle });
	await execute('ALTER TABLE processed_data RENAME TO away');
	const failed = await workflow.run(titled('Item', 3));
	await execute('ALTER TABLE away RENAME TO processed_data');
	expect(wordsOf(failed)).toMatch(
		/^n8n's database did not answer: .*"?processed_data"? does not exist\. None of these 3 was sent\.$/m,
	);
	expect(simulator.requestCount).toBe(0);
	await expectRetrySendsRest(cluster(), failed, ...titlesOf('Item', 3));
});

test('three Retries, each of the newest execution, send each of 200 items without keys once, whichever of two workers they are in', async () => {
	const { client, simulator } = cluster();
	await cluster().restartWorkers(2);
	simulator.setLatency(20);
	const before = takenBy(cluster());
	const chains = ['A', 'B', 'C'];
	for (const chain of chains) {
		const workflow = await sendWorkflow(cluster());
		// One item that is refused three times. Two could both be in flight in one run, and a Retry less would do.
		simulator.addFault({ ...refusal(`${chain} 40`), times: 3 });
		let newest = await workflow.run(titled(chain, 200));
		for (const status of ['error', 'error', 'success']) {
			expect(newest.status).toBe('error');
			newest = await client.retryExecution(newest.id);
			expect(newest.status).toBe(status);
		}
		expect(statusesOf(newest)).toEqual(titlesOf(chain, 200).map(() => 'success'));
	}
	expectSent(cluster(), ...chains.flatMap((chain) => titlesOf(chain, 200)));
	const taken = takenBy(cluster()).map((count, worker) => count - (before[worker] ?? 0));
	expect(taken.filter((count) => count > 0)).toHaveLength(2);
});

test('executing again after a worker was killed sends nothing twice that has a key', async () => {
	const { workers, simulator } = cluster();
	const workflow = await keyed({ timeout: 5_000 });
	simulator.setLatency(100);
	const before = takenBy(cluster());
	const items = titled('Killed', 200);
	workflow.call(items).catch(() => undefined);
	await untilRequests(cluster(), 50);
	const worker = takenBy(cluster()).findIndex((taken, index) => taken > (before[index] ?? 0));
	await workers[worker]?.kill();
	const statuses = statusesOf(await workflow.run(items));
	expect(statuses).toHaveLength(200);
	expect(statuses).toContain('alreadySent');
	expect(repeated(acceptedTitles(cluster()))).toEqual([]);
});
