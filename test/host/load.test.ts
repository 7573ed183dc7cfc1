import { setTimeout as sleep } from 'node:timers/promises';
import { median } from '../../bench/report';
import { bytesInUse, collectorVariables } from '../../host';
import { useStage } from './support';
import {
	allExecutions,
	changesOf,
	countersOf,
	emittedBy,
	moveCounters,
	untilCaughtUp,
} from './support/reliabilityEvents';
import { watchWorkflow } from './support/reliabilityWorkflow';

const durationMs = 60_000;
const workflowCount = 50;
const campaignsEach = 20;
const campaignCount = 100;
/**
 * Twice as often as n8n's editor allows, and each trigger at a second of its own, as n8n lays them. At ten
 * seconds n8n itself is at its end on two cores: a fifth of its time goes into the sandbox that it makes for
 * each poll and each execution, and where its database lets an execution wait for a minute, it drops it.
 */
const pollSeconds = 30;
const moveEveryMs = 12_000;
const sampleEveryMs = 5_000;
/** How much the memory in use may differ between the first and the second half. */
const slackMb = 25;

describe('under load', () => {
	const stage = useStage({ env: collectorVariables });

	test('fifty workflows that watch twenty campaigns each emit every change once, in flat memory', async () => {
		const { client, server, simulator, credential } = stage();
		const ids = Array.from({ length: campaignCount }, () =>
			simulator.addCampaign({ counters: { total_attempts: 1 } }),
		);
		const watched = new Map<string, string[]>();
		for (let index = 0; index < workflowCount; index++) {
			const first = (index * campaignsEach) % campaignCount;
			const mine = ids.slice(first, first + campaignsEach);
			const draft = watchWorkflow(credential, mine, ['Trigger'], pollSeconds, index % pollSeconds);
			const { id } = await client.createWorkflow(draft);
			// One at a time: several at once have not been seen to work on a slow machine.
			await client.activate(id);
			watched.set(id, mine);
		}

		// What is in use: what a process holds rises and falls by hundreds of megabytes with its garbage.
		const memory: number[] = [];
		const start = Date.now();
		let moved = start;
		while (Date.now() - start < durationMs) {
			await sleep(sampleEveryMs);
			memory.push((await bytesInUse(server)) / 2 ** 20);
			if (Date.now() - moved >= moveEveryMs) {
				moveCounters(stage(), ids);
				moved = Date.now();
			}
		}

		for (const [id, mine] of watched) await untilCaughtUp(stage(), id, mine);
		// Each trigger polls once more: whoever repeats something does so now.
		await sleep((pollSeconds + 10) * 1000);
		for (const [id, mine] of watched) {
			const events = await emittedBy(stage(), id);
			for (const campaignId of mine) {
				expect(changesOf(events, campaignId)).toEqual(countersOf(stage(), campaignId));
			}
		}
		expect(await allExecutions(client, { status: ['error', 'crashed'] })).toEqual([]);

		const half = Math.floor(memory.length / 2);
		const growth = median(memory.slice(half)) - median(memory.slice(0, half));
		process.stderr.write(`Memory in use: ${memory.map(Math.round).join(', ')} MB\n`);
		expect(growth).toBeLessThan(slackMb);
	}, 1_200_000);
});
