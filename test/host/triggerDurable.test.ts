import { setTimeout as sleep } from 'node:timers/promises';
import { pollEvery, until } from '../../host';
import { randomFrom } from '../unit/delivery/simulatedService';
import { useStage } from './support';
import { untilRequests } from './support/sends';
import { testTrigger } from './support/triggerTests';
import {
	countersOf,
	durableEngine,
	emissionsOf,
	moveCounters,
	sumsOf,
	watch,
	watchWorkflow,
} from './support/watches';

const kills = 5;
const workflows = 2;
const names = ['One', 'Two', 'Three', 'Four', 'Five'];

/** It stands in the title, so that a log gives it: with the same one n8n is killed after the same pauses. */
const seed = Number(process.env['SEED'] ?? Date.now() % 1_000_000);
const random = randomFrom(seed);
const between = (from: number, to: number) => from + random() * (to - from);

describe("in n8n's durable engine", () => {
	const stage = useStage({ env: durableEngine });

	testTrigger('durable', stage);

	test(`ten triggers emit every change exactly once though n8n is killed at random, five times (SEED=${seed})`, async () => {
		const { client, simulator, crash } = stage();
		const ids = [1, 2, 3].map(() => simulator.addCampaign({ counters: { total_attempts: 10 } }));
		const workflowIds: string[] = [];
		for (let made = 0; made < workflows; made += 1) {
			const triggers = names.map((name) =>
				watch(stage(), ids, { pollTimes: pollEvery(5) }, name, `trigger-${name}`),
			);
			const { id } = await client.createWorkflow(watchWorkflow(...triggers));
			await client.activate(id);
			workflowIds.push(id);
		}
		const emitted = async () =>
			(await Promise.all(workflowIds.map((id) => emissionsOf(stage(), id, names)))).flat();
		const moving = setInterval(() => moveCounters(stage(), ids), 900);
		try {
			for (let kill = 1; kill <= kills; kill += 1) {
				await sleep(between(2_000, 15_000));
				await crash(between(500, 6_000));
			}
			// Each trigger has told something since the last kill.
			const before = (await emitted()).map(({ length }) => length);
			await until(emitted, (all) => all.every(({ length }, at) => length > (before[at] ?? 0)), {
				within: 400_000,
				every: 2_000,
				late: (all) => `Emissions: ${all.map(({ length }) => length).join()}`,
			});
		} finally {
			clearInterval(moving);
		}
		const counters = countersOf(stage(), ids);
		const sums = (all: Awaited<ReturnType<typeof emitted>>) =>
			all.map((each) => sumsOf(each.flat()));
		const isReached = (sum: Record<string, number>) =>
			Object.entries(counters).every(([counter, value]) => (sum[counter] ?? 0) >= value);
		await until(
			async () => sums(await emitted()),
			(all) => all.every(isReached),
			{
				within: 400_000,
				every: 2_000,
				late: (all) => `${all.filter(isReached).length} of ${all.length} triggers have told all`,
			},
		);
		// Whoever repeats something does so in one of the next polls.
		await untilRequests(stage(), 3 * workflows * names.length * ids.length);
		const all = await emitted();
		expect(all.length).toBe(workflows * names.length);
		for (const sum of sums(all)) expect(sum).toEqual(counters);
	});
});
