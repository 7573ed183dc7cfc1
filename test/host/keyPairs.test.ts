import { setTimeout as sleep } from 'node:timers/promises';
import type { N8nServer } from '../../host';
import { countWorkers, untilShared, useCluster } from './support/queueCluster';
import {
	acceptedTitles,
	byTitle,
	endsOfCalls,
	goesOn,
	lostAnswers,
	repeated,
	sendWorkflow,
	times,
	titled,
	type SendWorkflow,
} from './support/reliabilityWorkflow';

// A webhook that is delivered several times, to workers that share nothing but n8n's database: one of them sends.

const rounds = 3;
const distancesMs = [0, 5, 20, 100, 200, 500];
jest.setTimeout(960_000);

describe('a webhook that is delivered several times, to several workers', () => {
	const cluster = useCluster({ major: '2', env: {}, workers: 4 });

	const options = { ...byTitle, timeout: 15_000 };
	const keyedWorkflow = async (timeout = options.timeout) =>
		await sendWorkflow(cluster(), { options: { ...options, timeout }, settings: goesOn });

	/** Delivers each of these batches of titles at the same time, or so far apart, and gives how all items ended. */
	const deliver = async (workflow: SendWorkflow, batches: string[][], distanceMs = 0) =>
		await endsOfCalls(
			cluster(),
			workflow,
			batches.map((titles) => titles.map((title) => ({ title }))),
			distanceMs,
		);

	beforeEach(() => cluster().simulator.setLatency(50));

	test.each([2, 3])(
		'is sent by one of %i deliveries of one key, and all others know it',
		async (count) => {
			const workflow = await keyedWorkflow();
			const expected = [...times(count - 1, 'alreadySent'), 'success'].join(' + ');
			const { value: ends, took } = await countWorkers(cluster(), async () => {
				const all: string[] = [];
				for (const distanceMs of distancesMs) {
					for (let round = 0; round < rounds; round += 1) {
						const title = `${distanceMs} ms ${round}`;
						const batches = Array.from({ length: count }, () => [title]);
						all.push((await deliver(workflow, batches, distanceMs)).sort().join(' + '));
					}
				}
				return all;
			});
			expect(repeated(acceptedTitles(cluster()))).toEqual([]);
			expect(ends).toEqual(times(ends.length, expected));
			expect(took).toBeGreaterThan(1);
		},
	);

	test('leaves keys with an unknown outcome unknown, asked for by several at once beside other sends', async () => {
		const workflow = await keyedWorkflow();
		const others = await keyedWorkflow();
		const lost = titled('Unknown', 16).map(({ title }) => title);
		cluster().simulator.addFault(lostAnswers('Unknown'));
		expect(await deliver(workflow, [lost])).toEqual(times(16, 'unknown'));
		cluster().simulator.clearFaults();
		const accepted = acceptedTitles(cluster());

		const traffic = titled('Other', 40 * rounds).map(({ title }) => title);
		const { value, took } = await countWorkers(cluster(), async () =>
			Promise.all([
				deliver(workflow, [lost, lost, lost]),
				deliver(
					others,
					Array.from({ length: 4 }, () => traffic),
				),
			]),
		);
		const [ends, otherEnds] = value;
		expect(ends).toEqual(times(48, 'unknown'));
		expect(otherEnds.filter((end) => end === 'success')).toHaveLength(traffic.length);
		expect(acceptedTitles(cluster()).sort()).toEqual([...accepted, ...traffic].sort());
		expect(took).toBeGreaterThan(1);
	});

	test('sends what is unknown once under Resend Unknown, asked for by three at once', async () => {
		await untilShared(cluster(), async (round) => {
			cluster().simulator.reset();
			cluster().simulator.setLatency(50);
			const workflow = await keyedWorkflow();
			const lost = titled(`Again ${round}, item`, 8).map(({ title }) => title);
			cluster().simulator.addFault(lostAnswers(`Again ${round}, item`));
			expect(await deliver(workflow, [lost])).toEqual(times(8, 'unknown'));
			cluster().simulator.clearFaults();
			await workflow.change({ options: { ...options, resendUnknown: true } });
			await cluster().client.activate(workflow.id);
			const ends = await deliver(workflow, [lost, lost, lost]);
			expect(ends.sort()).toEqual([...times(16, 'alreadySent'), ...times(8, 'success')]);
			expect(acceptedTitles(cluster()).sort()).toEqual([...lost, ...lost].sort());
		});
	});

	test('sends nothing twice if workers stand still for seconds, one or several at once', async () => {
		// Requests may take two seconds: a key that somebody else has claimed is waited for seven.
		const workflow = await keyedWorkflow(2_000);
		const reportedAsSent: string[] = [];
		const stop = async (worker: N8nServer, afterMs: number, forMs: number) => {
			await sleep(afterMs);
			process.kill(worker.pid, 'SIGSTOP');
			await sleep(forMs);
			process.kill(worker.pid, 'SIGCONT');
		};
		const { took } = await countWorkers(cluster(), async () => {
			for (let round = 0; round < 2 * rounds; round += 1) {
				const stopped = cluster().workers.filter(
					(_, index) => (index + round) % 2 === 0 || round % 3 === 0,
				);
				// Longer than a key is waited for, now and then.
				const forMs = 1_000 + ((round * 2_900) % 9_000);
				const stops = stopped.map(async (worker, index) => {
					await stop(worker, (round * 37 + index * 23) % 250, forMs);
				});
				const title = `Stopped ${round}`;
				const ends = await deliver(workflow, [[title], [title], [title]], (round * 11) % 60);
				if (ends.includes('success') || ends.includes('alreadySent')) reportedAsSent.push(title);
				await Promise.all(stops);
			}
		});
		expect(took).toBeGreaterThan(1);
		const accepted = acceptedTitles(cluster());
		expect(repeated(accepted)).toEqual([]);
		// None is reported as sent that was not. A worker that stands still between its claim and its request sends
		// nothing if that lasts longer than the request may take, and the others have given up by then.
		expect(reportedAsSent).not.toEqual([]);
		expect(accepted).toEqual(expect.arrayContaining(reportedAsSent));
	});
});
