import { appendFile } from 'node:fs/promises';
import { join } from 'node:path';
import { artifactsFolder, type N8nServer } from '../../host';
import { rememberKeys, useCluster } from './support/queueCluster';
import {
	acceptedTitles,
	byTitle,
	endsOfCalls,
	goesOn,
	repeated,
	sendWorkflow,
	times,
	type SendWorkflow,
} from './support/reliabilityWorkflow';

// A webhook that is delivered twice, to two workers that share nothing but n8n's database: one of both sends.
// PAIRS=50 makes more pairs of each kind; how they ended is added to .artifacts/key-pairs.log.

const pairs = Number(process.env['PAIRS'] ?? 3);
const distancesMs = [0, 5, 20, 100, 200, 500];
/** How long the pairs of a test may take on a busy machine, in milliseconds. */
const patienceMs = 600_000 + pairs * distancesMs.length * 10_000;
jest.setTimeout(patienceMs);

const pause = async (ms: number) => await new Promise((resolve) => setTimeout(resolve, ms));

/** Counts how pairs ended, and notes it for whoever measures. */
async function tally(what: string, ends: readonly string[]): Promise<Record<string, number>> {
	const counts: Record<string, number> = {};
	for (const end of ends) counts[end] = (counts[end] ?? 0) + 1;
	await appendFile(join(artifactsFolder, 'key-pairs.log'), `${what}: ${JSON.stringify(counts)}\n`);
	return counts;
}

describe('a webhook that is delivered twice, to two workers', () => {
	const cluster = useCluster({ major: '2', env: {}, workers: 2 });

	const keyedWorkflow = async () =>
		await sendWorkflow(cluster(), { options: byTitle, settings: goesOn });

	/** Delivers an item for each of these titles, and tells how they ended. */
	const deliver = async (workflow: SendWorkflow, titles: string[], distanceMs = 0) => {
		const batches = titles.map((title) => [{ title }]);
		return (await endsOfCalls(cluster(), workflow, batches, distanceMs)).join(' + ');
	};

	beforeEach(() => cluster().simulator.setLatency(50));

	test.each([
		{ name: 'one key', remembered: 1 },
		{ name: '10,000 keys', remembered: 10_000 },
	])(
		'one of two deliveries of a webhook is sent, the other one is alreadySent or unknown, with $name remembered',
		async ({ remembered }) => {
			const workflow = await keyedWorkflow();
			await rememberKeys(cluster(), workflow, remembered);
			const all: string[] = [];
			for (const distanceMs of distancesMs) {
				const ends: string[] = [];
				for (let pair = 0; pair < pairs; pair += 1) {
					const title = `${distanceMs} ms ${pair}`;
					ends.push(await deliver(workflow, [title, title], distanceMs));
				}
				await tally(`${remembered} remembered, ${distanceMs} ms apart`, ends);
				all.push(...ends);
			}
			expect(repeated(acceptedTitles(cluster()))).toEqual([]);
			// On a machine that is too slow to know, the second one is unknown.
			expect(new Set(all)).toContain('alreadySent + success');
			expect(
				all.filter((end) => !/^(alreadySent \+ success|success \+ unknown)$/.test(end)),
			).toEqual([]);
		},
	);

	test('a key that was sent before is alreadySent for both of two deliveries at the same time', async () => {
		const workflow = await keyedWorkflow();
		const ends: string[] = [];
		for (let pair = 0; pair < 2 * pairs; pair += 1) {
			const title = `Known ${pair}`;
			await deliver(workflow, [title]);
			ends.push(await deliver(workflow, [title, title]));
		}
		await tally('known keys', ends);
		expect(ends).toEqual(times(ends.length, 'alreadySent + alreadySent'));
	});

	test('the first two items of a new workflow are both sent, by two workers at the same time', async () => {
		const ends: string[] = [];
		for (let pair = 0; pair < pairs; pair += 1) {
			const workflow = await keyedWorkflow();
			ends.push(await deliver(workflow, [`First ${pair} one`, `First ${pair} two`]));
		}
		await tally('first two sends', ends);
		expect(ends).toEqual(times(ends.length, 'success + success'));
	});

	test('no item is sent twice if one of two workers stands still for seconds in the middle of its claims', async () => {
		const workflow = await keyedWorkflow();
		const { workers } = cluster();
		const stop = async (worker: N8nServer | undefined, afterMs: number, forMs: number) => {
			if (worker === undefined) throw new Error('There is no worker');
			await pause(afterMs);
			process.kill(worker.pid, 'SIGSTOP');
			await pause(forMs);
			process.kill(worker.pid, 'SIGCONT');
		};
		const ends: string[] = [];
		for (let pair = 0; pair < 2 * pairs; pair += 1) {
			const stopping = stop(workers[pair % 2], (pair * 37) % 250, 1000 + ((pair * 700) % 3000));
			const title = `Stopped ${pair}`;
			ends.push(await deliver(workflow, [title, title], (pair * 11) % 60));
			await stopping;
		}
		await tally('one worker stopped', ends);
		expect(repeated(acceptedTitles(cluster()))).toEqual([]);
		expect(ends.filter((end) => !end.includes('success') && !end.includes('unknown'))).toEqual([]);
	});
});
