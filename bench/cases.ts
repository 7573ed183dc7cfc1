import { setTimeout as sleep } from 'node:timers/promises';
import type { RateLimit } from '../simulator';
import { timeLoading } from './loading';
import { requestPlainly } from './plain';
import { watchMemory } from './process';
import type { Result } from './result';
import type { Contestant, Run, Stage } from './stage';
import { median, summarize } from './statistics';

export interface CaseOptions {
	readonly stage: Stage;
	/** How often each contestant runs. */
	readonly pairs: number;
	/** Told before each run. */
	readonly tell: (what: string) => void;
}

export interface Case {
	readonly id: string;
	readonly title: string;
	readonly measure: (options: CaseOptions) => Promise<Omit<Result, 'id' | 'title'>>;
}

const maxParallel = 100;
const other = 'HTTP Request';

const campaigns = (count: number) =>
	Array.from({ length: count }, (_, index) => ({
		title: `Offer ${index}`,
		message: `Everything must go, part ${index}`,
		targetUrl: `https://example.com/offers/${index}`,
	}));

const times = (value: number) => `${value.toFixed(2)} ×`;

/** Runs both contestants alternately, each going first every other time. */
async function alternate(
	pairs: number,
	run: (contestant: Contestant, pair: number) => Promise<void>,
): Promise<void> {
	for (let pair = 1; pair <= pairs; pair += 1) {
		const order: Contestant[] = pair % 2 === 0 ? ['other', 'ours'] : ['ours', 'other'];
		for (const contestant of order) await run(contestant, pair);
	}
}

const medianOf = (runs: readonly Run[], pick: (run: Run) => number) => median(runs.map(pick));

function expectSuccess({ status, items }: Run, count: number): void {
	if (status !== 200 || items.length !== count) {
		throw new Error(`The workflow answered ${status} with ${items.length} of ${count} items`);
	}
}

/** Sends against a service that is only slow: the time of the node against that of HTTP Request. */
function sends(id: string, latencyMs: number, target: number): Case {
	const count = 500;
	return {
		id,
		title: `${count} sends, latency ${latencyMs} ms`,
		async measure({ stage, pairs, tell }) {
			const { simulator } = stage;
			await simulator.reset();
			await simulator.setLatency(latencyMs);
			const items = campaigns(count);
			const benches = { ours: await stage.sends('ours'), other: await stage.sends('other') };
			const oneExpression = await stage.sends('other', 'json');
			const runs: Record<Contestant, Run[]> = { ours: [], other: [] };
			const withOneExpression: Run[] = [];
			const plain: number[] = [];
			await alternate(pairs + 1, async (contestant, pair) => {
				tell(pair === 1 ? 'warming up' : `pair ${pair - 1} of ${pairs}`);
				await simulator.clearRequests();
				const run = await benches[contestant].run(items);
				expectSuccess(run, count);
				if (pair === 1) return;
				runs[contestant].push(run);
				if (contestant === 'ours') {
					plain.push(await requestPlainly(stage.plainSends(items), maxParallel));
				} else {
					withOneExpression.push(await oneExpression.run(items));
				}
			});
			const ratio = medianOf(runs.ours, nodeMs) / medianOf(runs.other, nodeMs);
			const whole = medianOf(runs.ours, callMs) / medianOf(runs.other, callMs);
			return {
				ours: summarize(runs.ours.map(nodeMs)),
				other: summarize(runs.other.map(nodeMs)),
				limit: { name: 'plain requests', ms: median(plain) },
				measure: `of ${other}`,
				value: times(ratio),
				target: `≤ ${times(target)}`,
				passed: ratio <= target,
				notes: [
					`processor time of the whole server: ${(medianOf(runs.ours, processorMs) / medianOf(runs.other, processorMs)).toFixed(2)} ×`,
					`the whole call of the workflow: ${whole.toFixed(2)} × (${seconds(medianOf(runs.ours, callMs))} and ${seconds(medianOf(runs.other, callMs))})`,
					`${other} with its whole body as one expression instead of one for each field: ${seconds(medianOf(withOneExpression, nodeMs))}`,
				],
			};
		},
	};
}

const nodeMs = (run: Run) => run.nodeMs;
const callMs = (run: Run) => run.callMs;
const processorMs = (run: Run) => run.processorMs;
const seconds = (ms: number) => `${(ms / 1000).toFixed(2)} s`;

interface Limited {
	readonly id: string;
	readonly title: string;
	readonly count: number;
	readonly limit: RateLimit;
	/** What the limit itself needs, in milliseconds. */
	readonly neededMs: number;
	readonly target: number;
	/** Another limit, from so many arrived sends on. */
	readonly then?: { readonly after: number; readonly limit: RateLimit };
}

/** Sends against a service with a rate limit: all must arrive, once, in the time that the limit needs. */
function limited({ id, title, count, limit, neededMs, target, then }: Limited): Case {
	return {
		id,
		title,
		async measure({ stage, pairs, tell }) {
			const { simulator } = stage;
			await simulator.reset();
			await simulator.setLatency(50);
			const items = campaigns(count);
			const benches = { ours: await stage.sends('ours'), other: await stage.sends('other') };
			const runs: Record<Contestant, Run[]> = { ours: [], other: [] };
			const lost: Record<Contestant, number[]> = { ours: [], other: [] };
			const refusals: Record<Contestant, number[]> = { ours: [], other: [] };
			let twice = 0;

			await alternate(pairs, async (contestant, pair) => {
				tell(`pair ${pair} of ${pairs}, ${contestant === 'ours' ? 'this node' : other}`);
				await simulator.reset();
				await simulator.setLatency(50);
				await simulator.setRateLimit(limit);
				const end = new AbortController();
				const changing = then === undefined ? undefined : changeLimit(stage, then, end.signal);
				const run = await benches[contestant].run(items);
				end.abort();
				await changing;
				const { requestCount, campaigns: arrived } = await simulator.state();
				const titles = new Set(arrived.map(({ body }) => String(body['title'])));
				if (contestant === 'ours') twice += arrived.length - titles.size;
				runs[contestant].push(run);
				lost[contestant].push(count - titles.size);
				refusals[contestant].push(requestCount - arrived.length);
			});
			await simulator.reset();

			const ratio = medianOf(runs.ours, nodeMs) / neededMs;
			const most = Math.max(...lost.ours);
			return {
				ours: summarize(runs.ours.map(nodeMs)),
				other: summarize(runs.other.map(nodeMs)),
				limit: { name: 'the limit', ms: neededMs },
				measure: 'of what the limit needs',
				value: times(ratio),
				target: `all arrive, ≤ ${times(target)}`,
				passed: most === 0 && twice === 0 && ratio <= target,
				notes: [
					`lost ${most}, sent twice ${twice}, refused and sent again ${median(refusals.ours)}`,
					`${other} loses ${median(lost.other)} of ${count}`,
				],
			};
		},
	};
}

/** Changes the limit as soon as so many sends have arrived. */
async function changeLimit(
	{ simulator }: Stage,
	{ after, limit }: NonNullable<Limited['then']>,
	signal: AbortSignal,
): Promise<void> {
	while (!signal.aborted) {
		const { campaignCount } = await simulator.state(0);
		if (campaignCount >= after) {
			await simulator.setRateLimit(limit);
			return;
		}
		await sleep(10);
	}
}

const sameReads: Case = {
	id: 'reads-identical',
	title: '500 identical status reads',
	async measure({ stage, pairs, tell }) {
		const count = 500;
		const { simulator } = stage;
		await simulator.reset();
		await simulator.setLatency(50);
		const campaignId = await simulator.addCampaign();
		const benches = {
			ours: await stage.reads('ours', campaignId),
			other: await stage.reads('other', campaignId),
		};
		const runs: Record<Contestant, Run[]> = { ours: [], other: [] };
		const requests: Record<Contestant, number[]> = { ours: [], other: [] };
		const items = Array.from({ length: count }, () => ({}));
		await alternate(pairs + 1, async (contestant, pair) => {
			tell(pair === 1 ? 'warming up' : `pair ${pair - 1} of ${pairs}`);
			await simulator.clearRequests();
			const run = await benches[contestant].run(items);
			expectSuccess(run, count);
			if (pair === 1) return;
			runs[contestant].push(run);
			requests[contestant].push((await simulator.state(0)).requestCount);
		});
		const most = Math.max(...requests.ours);
		return {
			ours: summarize(runs.ours.map(nodeMs)),
			other: summarize(runs.other.map(nodeMs)),
			measure: most === 1 ? 'request' : 'requests',
			value: String(most),
			target: '1',
			passed: most === 1,
			notes: [`${other} makes ${median(requests.other)}`],
		};
	},
};

const manySends: Case = {
	id: 'sends-10000',
	title: '10,000 sends, latency 50 ms',
	async measure({ stage, pairs, tell }) {
		const { simulator } = stage;
		await simulator.reset();
		await simulator.setLatency(50);
		const sizes = { few: campaigns(500), many: campaigns(10_000) };
		const benches = { ours: await stage.sends('ours'), other: await stage.sends('other') };
		const few: Run[] = [];
		const many: Record<Contestant, Run[]> = { ours: [], other: [] };
		const memory: Record<Contestant, number[]> = { ours: [], other: [] };
		await alternate(pairs, async (contestant, pair) => {
			tell(`pair ${pair} of ${pairs}, ${contestant === 'ours' ? 'this node' : other}`);
			await simulator.reset();
			await simulator.setLatency(50);
			if (contestant === 'ours') {
				if (pair === 1) await benches.ours.run(sizes.few);
				few.push(await benches.ours.run(sizes.few));
			}
			const { result, megabytes } = await watchMemory(
				stage.pid,
				async () => await benches[contestant].run(sizes.many),
			);
			if (contestant === 'ours') expectSuccess(result, sizes.many.length);
			many[contestant].push(result);
			memory[contestant].push(megabytes);
		});
		const perItem = (runs: readonly Run[], count: number) => medianOf(runs, nodeMs) / count;
		const perItemOfFew = perItem(few, sizes.few.length);
		const perItemOfMany = perItem(many.ours, sizes.many.length);
		const ratio = perItemOfMany / perItemOfFew;
		const megabytes = (values: readonly number[]) =>
			`${median(values).toFixed(0)} MB (${Math.min(...values).toFixed(0)} to ${Math.max(...values).toFixed(0)})`;
		return {
			ours: summarize(many.ours.map(nodeMs)),
			other: summarize(many.other.map(nodeMs)),
			measure: 'of the time per item with 500',
			value: times(ratio),
			target: `≤ ${times(1.15)}`,
			passed: ratio <= 1.15,
			notes: [
				`per item ${perItemOfMany.toFixed(2)} ms, with 500 items ${perItemOfFew.toFixed(2)} ms`,
				`the server's memory rises by ${megabytes(memory.ours)} at its peak, with ${other} by ${megabytes(memory.other)}; the workflow's items included`,
			],
		};
	},
};

const oneItem: Case = {
	id: 'one-item',
	title: 'One send, latency 5 ms',
	async measure({ stage, pairs, tell }) {
		const { simulator } = stage;
		await simulator.reset();
		await simulator.setLatency(5);
		const items = campaigns(1);
		const benches = { ours: await stage.sends('ours'), other: await stage.sends('other') };
		const runs: Record<Contestant, Run[]> = { ours: [], other: [] };
		const rounds = pairs * 8;
		await alternate(rounds + 5, async (contestant, pair) => {
			if (pair === 6) tell(`${rounds} pairs`);
			const run = await benches[contestant].run(items);
			expectSuccess(run, 1);
			if (pair > 5) runs[contestant].push(run);
		});
		const ratio = medianOf(runs.ours, nodeMs) / medianOf(runs.other, nodeMs);
		return {
			ours: summarize(runs.ours.map(nodeMs)),
			other: summarize(runs.other.map(nodeMs)),
			measure: `of ${other}`,
			value: times(ratio),
			target: `≤ ${times(1)}`,
			passed: ratio <= 1,
			notes: [
				`the whole call: ${medianOf(runs.ours, callMs).toFixed(1)} ms and ${medianOf(runs.other, callMs).toFixed(1)} ms`,
			],
		};
	},
};

/** Milliseconds without a request after which a poll is over; polls are five seconds apart. */
const quietMs = 1500;

const poll: Case = {
	id: 'poll-200',
	title: 'Poll of 200 campaigns, latency 50 ms',
	async measure({ stage, pairs, tell }) {
		const count = 200;
		const { simulator } = stage;
		await simulator.reset();
		await simulator.setLatency(50);
		const ids: string[] = [];
		for (let index = 0; index < count; index += 1) ids.push(await simulator.addCampaign());

		/** From the first request's arrival to the last one's answer, as the service sees it. */
		const spanOfRequests = async () => {
			const requests = await simulator.requests();
			if (requests.length < count) return undefined;
			const latest = requests.slice(-count);
			const ends = latest.map(({ answered }) => answered?.at ?? Infinity);
			const span = Math.max(...ends) - Math.min(...latest.map(({ at }) => at));
			return Number.isFinite(span) ? span : undefined;
		};

		const ours: number[] = [];
		const plain: number[] = [];
		await simulator.clearRequests();
		const watching = await stage.watch(ids);
		try {
			// The first poll is n8n's own test on activation.
			for (let turn = 0; turn <= pairs; turn += 1) {
				tell(turn === 0 ? 'warming up' : `poll ${turn} of ${pairs}`);
				const until = Date.now() + 30_000;
				let span = await spanOfRequests();
				while (span === undefined && Date.now() < until) {
					await sleep(200);
					span = await spanOfRequests();
				}
				if (span === undefined) throw new Error('No poll came within 30 s');
				await simulator.clearRequests();
				await requestPlainly(stage.plainReads(ids), maxParallel);
				const plainSpan = (await spanOfRequests()) ?? NaN;
				await simulator.clearRequests();
				if (turn === 0) continue;
				ours.push(span);
				plain.push(plainSpan);
			}
		} finally {
			await watching.end();
		}
		await sleep(quietMs);
		const ratio = median(ours) / median(plain);
		return {
			ours: summarize(ours),
			limit: { name: 'plain requests', ms: median(plain) },
			measure: 'of plain requests',
			value: times(ratio),
			target: `≤ ${times(1.5)}`,
			passed: ratio <= 1.5,
			notes: [`from the first request to the last answer, ${maxParallel} at once`],
		};
	},
};

const loading: Case = {
	id: 'loading',
	title: 'require() of both nodes and the credential',
	async measure({ stage, pairs, tell }) {
		tell('requiring');
		const { ours, empty } = await timeLoading(stage.tarball, Math.max(5, pairs));
		const added = median(ours) - median(empty);
		return {
			ours: summarize(ours),
			limit: { name: 'an empty node', ms: median(empty) },
			measure: 'over an empty node',
			value: `${added.toFixed(1)} ms`,
			target: '< 15 ms',
			passed: added < 15,
			notes: ['in a process that has loaded what n8n has loaded already'],
		};
	},
};

const perHundred: RateLimit = { perSecond: 100, burst: 100 };

export const cases: readonly Case[] = [
	sends('sends-50ms', 50, 0.5),
	sends('sends-5ms', 5, 0.45),
	limited({
		id: 'limit',
		title: '2,000 sends, 100 per second allowed',
		count: 2000,
		limit: perHundred,
		neededMs: 19_000,
		target: 1.1,
	}),
	limited({
		id: 'limit-retry-after',
		title: 'The same with Retry-After',
		count: 2000,
		limit: { ...perHundred, retryAfter: 'seconds' },
		neededMs: 19_000,
		target: 1.1,
	}),
	limited({
		id: 'limit-falls',
		title: '800 sends, 200 per second allowed, then 20',
		count: 800,
		limit: { perSecond: 200, burst: 100 },
		then: { after: 400, limit: { perSecond: 20, burst: 20 } },
		// 100 at once and 300 at the first pace; then 20 at once at most and 380 at the second.
		neededMs: 1500 + 19_000,
		target: 1.2,
	}),
	sameReads,
	manySends,
	oneItem,
	poll,
	loading,
];
