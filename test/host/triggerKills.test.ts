import { randomInt } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import fc from 'fast-check';
import { useStage, type Stage } from './support';
import {
	brokenChains,
	changesOf,
	countersOf,
	emissionsBy,
	type Emission,
} from './support/reliabilityEvents';
import { durableVariables, watchWorkflow } from './support/reliabilityWorkflow';

// The server is killed at random, while all its triggers poll and all counters move. `KILLS_SEED` repeats
// a run as far as a real server lets itself be repeated.
const seed = Number(process.env['KILLS_SEED'] ?? randomInt(2 ** 31));

type Engine = 'durable' | 'classic';

const kills = 5;
const workflows = 2;
const names = ['One', 'Two', 'Three', 'Four', 'Five'];
const triggers = workflows * names.length;
const pollSeconds = 5;
/** Between being ready and being killed, in milliseconds. */
const upMs = { min: 2_000, max: 15_000 };
/** Between being killed and being started again, in milliseconds. */
const downMs = { min: 500, max: 20_000 };
/** While other triggers poll already, a slow machine needs a while. */
const activationMs = 240_000;
/** How long a slow machine may take to poll as often as the test wants. */
const patienceMs = 200_000;
/** The time in which every trigger has polled again, and whoever repeats something has done so. */
const quietMs = 3 * pollSeconds * 1_000;
/**
 * After this time without an emission, what is missing does not come any more. The durable engine takes a
 * poll of a dead server over when its lease of a minute has ended; the classic one has nothing to take over.
 */
const hopeMs: Record<Engine, number> = { durable: patienceMs, classic: quietMs };

const say = (text: string) => process.stderr.write(`${text}\n`);

/** Moves a counter of each campaign every now and then, until it is told to stop. */
function keepMoving({ simulator }: Stage, ids: readonly string[]): () => void {
	const timer = setInterval(() => {
		for (const id of ids) {
			const counters = simulator.campaign(id)?.counters;
			if (counters === undefined) continue;
			simulator.setCounters(id, {
				total_attempts: counters.total_attempts + 3,
				successfully_sent: counters.successfully_sent + 2,
				delivered: counters.delivered + 1,
				clicked: counters.clicked + Math.round(Math.random()),
			});
		}
	}, 900);
	return () => clearInterval(timer);
}

interface Emitted {
	readonly workflowId: string;
	readonly trigger: string;
	readonly emissions: Emission[];
}

async function emittedSoFar(stage: Stage, workflowIds: readonly string[]): Promise<Emitted[]> {
	const found: Emitted[] = [];
	for (const workflowId of workflowIds) {
		const emissions = await emissionsBy(stage, workflowId, names);
		found.push(
			...names.map((trigger, index) => ({
				workflowId,
				trigger,
				emissions: emissions[index] ?? [],
			})),
		);
	}
	return found;
}

const countEmissions = (emitted: readonly Emitted[]) =>
	emitted.reduce((sum, { emissions }) => sum + emissions.length, 0);

/** What all triggers emitted, once none has anything left to tell, or nothing comes any more. */
async function emittedAfterwards(
	stage: Stage,
	engine: Engine,
	workflowIds: readonly string[],
	ids: readonly string[],
): Promise<Emitted[]> {
	const isBehind = ({ emissions }: Emitted) =>
		ids.some((id) => {
			const sums = changesOf(emissions.flat(), id);
			return Object.entries(countersOf(stage, id)).some(([name, to]) => (sums[name] ?? 0) < to);
		});
	let emitted = await emittedSoFar(stage, workflowIds);
	let emittedAt = Date.now();
	while (emitted.some(isBehind) && Date.now() - emittedAt < hopeMs[engine]) {
		await sleep(2_000);
		const before = countEmissions(emitted);
		emitted = await emittedSoFar(stage, workflowIds);
		if (countEmissions(emitted) > before) emittedAt = Date.now();
	}
	await sleep(quietMs);
	return await emittedSoFar(stage, workflowIds);
}

/** Lets the triggers watch moving counters while the server dies again and again. */
async function dieAgainAndAgain(stage: Stage, engine: Engine) {
	const times = fc.sample(
		fc.record({ up: fc.noBias(fc.integer(upMs)), down: fc.noBias(fc.integer(downMs)) }),
		{ seed, numRuns: kills },
	);
	const ids = [1, 2, 3].map(() =>
		stage.simulator.addCampaign({ counters: { total_attempts: 10 } }),
	);
	const workflowIds: string[] = [];
	for (let count = 0; count < workflows; count++) {
		const draft = watchWorkflow(stage.credential, ids, names, pollSeconds);
		const { id } = await stage.client.createWorkflow(draft);
		await stage.client.activate(id, activationMs);
		workflowIds.push(id);
	}
	const stop = keepMoving(stage, ids);
	try {
		for (const [index, { up, down }] of times.entries()) {
			await sleep(up);
			const killedAt = Date.now();
			await stage.crash(down);
			const seconds = Math.round((Date.now() - killedAt - down) / 1000);
			say(`Kill ${index + 1}: gone for ${down} ms, ready ${seconds} s after its start`);
		}
		// A slow machine has not yet told much: the counters move on until it has.
		const deadline = Date.now() + patienceMs;
		const enough = triggers * kills;
		while (
			countEmissions(await emittedSoFar(stage, workflowIds)) <= enough &&
			Date.now() < deadline
		) {
			await sleep(pollSeconds * 1_000);
		}
		await sleep(2 * pollSeconds * 1_000);
	} finally {
		stop();
	}
	return { ids, emitted: await emittedAfterwards(stage, engine, workflowIds, ids) };
}

const engines: Array<[Engine, Record<string, string>]> = [
	['durable', durableVariables],
	['classic', {}],
];

describe.each(engines)('killed at random, in the %s engine', (engine, env) => {
	const stage = useStage({ env });

	const title =
		engine === 'durable'
			? 'ten triggers emit every change exactly once though n8n is killed at random, five times'
			: 'each kill of n8n at random loses or repeats at most one emission of a trigger';
	test(
		title,
		async () => {
			say(`KILLS_SEED=${seed} (${engine} engine)`);
			const { ids, emitted } = await dieAgainAndAgain(stage(), engine);
			const counters = Object.fromEntries(ids.map((id) => [id, countersOf(stage(), id)]));
			const outcomes = emitted.map(({ workflowId, trigger, emissions }) => ({
				workflowId,
				trigger,
				sums: Object.fromEntries(ids.map((id) => [id, changesOf(emissions.flat(), id)])),
				...brokenChains(emissions),
			}));
			const total = (of: 'lost' | 'repeated') =>
				outcomes.reduce((sum, outcome) => sum + outcome[of], 0);
			const emissions = countEmissions(emitted);
			say(
				`${engine} engine: ${kills} kills, ${triggers} triggers, ${emissions} emissions, ` +
					`${total('lost')} lost, ${total('repeated')} repeated`,
			);
			expect(emissions).toBeGreaterThan(triggers * kills);
			for (const { lost, repeated, sums } of outcomes) {
				if (engine === 'durable')
					expect({ lost, repeated, sums }).toEqual({ lost: 0, repeated: 0, sums: counters });
				else expect(lost + repeated).toBeLessThanOrEqual(kills);
			}
		},
		1_800_000,
	);
});
