import { setTimeout as sleep } from 'node:timers/promises';
import { until } from '../host';
import type { RateLimit } from '../simulator';
import { timeLoading } from './loading';
import { requestPlainly } from './plain';
import { watchCollectedMemory, watchMemory } from './process';
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

/** Four parameters with text around expressions: the time of the node against that of HTTP Request. */
const personalSends: Case = {
	id: 'sends-personal',
	title: '500 personal notifications, latency 50 ms',
	async measure({ stage, pairs, tell }) {
		const count = 500;
		const target = 0.4;
		const { simulator } = stage;
		await simulator.reset();
		await simulator.setLatency(50);
		const items = Array.from({ length: count }, (_, index) => ({
			name: `Reader ${index}`,
			city: `Town ${index}`,
			offer: `offer-${index}`,
			group: index % 7,
		}));
		const benches = {
			ours: await stage.personalSends('ours'),
			other: await stage.personalSends('other'),
		};
		const runs: Record<Contestant, Run[]> = { ours: [], other: [] };
		const bodies: Record<Contestant, unknown> = { ours: undefined, other: undefined };
		await alternate(pairs + 1, async (contestant, pair) => {
			tell(pair === 1 ? 'warming up' : `pair ${pair - 1} of ${pairs}`);
			await simulator.reset();
			await simulator.setLatency(50);
			const run = await benches[contestant].run(items);
			expectSuccess(run, count);
			bodies[contestant] = await sortedBodies(stage);
			if (pair > 1) runs[contestant].push(run);
		});
		if (JSON.stringify(bodies.ours) !== JSON.stringify(bodies.other)) {
			throw new Error('The two nodes sent different notifications');
		}
		const ratio = medianOf(runs.ours, nodeMs) / medianOf(runs.other, nodeMs);
		return {
			ours: summarize(runs.ours.map(nodeMs)),
			other: summarize(runs.other.map(nodeMs)),
			measure: `of ${other}`,
			value: times(ratio),
			target: `≤ ${times(target)}`,
			passed: ratio <= target,
			notes: ['title, message, target URL and name, each a text around an expression'],
		};
	},
};

/** What arrived, in an order that does not depend on when. */
async function sortedBodies({ simulator }: Stage): Promise<string[]> {
	const { campaigns: arrived } = await simulator.state();
	return arrived.map(({ body }) => JSON.stringify(Object.entries(body).sort())).sort();
}

/**
 * Sends with an idempotency key each: their time against that of the same sends without.
 *
 * @param remembered how many keys the node has sent under before
 */
function keyedSends(id: string, title: string, remembered: number, target: number): Case {
	const count = 500;
	const filledAtOnce = 2500;
	return {
		id,
		title,
		async measure({ stage, pairs, tell }) {
			const { simulator } = stage;
			await simulator.reset();
			const benches = { ours: await stage.keyedSends(), other: await stage.sends('ours') };
			let used = 0;
			const withNewKeys = (wanted: number) =>
				campaigns(wanted).map((item) => ({ ...item, key: `${id}-${used++}` }));
			for (let filled = 0; filled < remembered; filled += filledAtOnce) {
				tell(`filling, ${filled} of ${remembered} keys`);
				await benches.ours.run(withNewKeys(Math.min(filledAtOnce, remembered - filled)));
			}
			const runs: Record<Contestant, Run[]> = { ours: [], other: [] };
			await alternate(pairs + 1, async (contestant, pair) => {
				tell(pair === 1 ? 'warming up' : `pair ${pair - 1} of ${pairs}`);
				await simulator.reset();
				await simulator.setLatency(50);
				const run = await benches[contestant].run(withNewKeys(count));
				expectSuccess(run, count);
				const { campaignCount } = await simulator.state(0);
				if (campaignCount !== count) throw new Error(`${campaignCount} of ${count} arrived`);
				if (pair > 1) runs[contestant].push(run);
			});
			const without = medianOf(runs.other, nodeMs);
			const ratio = medianOf(runs.ours, nodeMs) / without;
			return {
				ours: summarize(runs.ours.map(nodeMs)),
				limit: { name: 'without keys', ms: without },
				measure: 'of the same without keys',
				value: times(ratio),
				target: `≤ ${times(target)}`,
				passed: ratio <= target,
				notes: [
					`processor time of the whole server: ${(medianOf(runs.ours, processorMs) / medianOf(runs.other, processorMs)).toFixed(2)} ×`,
				],
			};
		},
	};
}

/** A few items that the service refuses for good (too many for one subscriber) among many that it takes. */
const fewRefused: Case = {
	id: 'few-refused',
	title: '500 sends, 5 of them refused for too many requests again and again',
	async measure({ stage, tell }) {
		const { simulator } = stage;
		const items = campaigns(500).map((item, index) =>
			index % 100 === 50 ? { ...item, title: `Capped ${index}` } : item,
		);
		const taken = items.length - 5;
		await simulator.reset();
		await simulator.setLatency(50);
		await simulator.addFault({
			match: { bodyIncludes: '"Capped ' },
			times: 0,
			action: {
				kind: 'failure',
				type: 'rate_limit',
				description: 'Too many requests',
				status: 429,
			},
		});
		const bench = await stage.continuingSends();
		// Once: nearly all of it is waiting.
		tell('one run');
		const run = await bench.run(items);
		expectSuccess(run, items.length);
		const { campaigns: arrived, requestCount } = await simulator.state();
		const titles = new Set(arrived.map(({ body }) => body['title']));
		const lastAt = Math.max(...arrived.map(({ createdAt }) => createdAt));
		const firstAt = Math.min(...arrived.map(({ createdAt }) => createdAt));
		await simulator.reset();
		return {
			ours: summarize([run.nodeMs]),
			limit: { name: 'the five pauses', ms: 85_250 },
			measure: 'for all of it',
			value: seconds(run.nodeMs),
			target: `${taken} arrive, < 90 s`,
			passed: titles.size === taken && arrived.length === taken && run.nodeMs < 90_000,
			notes: [
				`${arrived.length} arrived within ${seconds(lastAt - firstAt)}`,
				`${requestCount - arrived.length} refusals`,
			],
		};
	},
};

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

/** What 10,000 sends really take up in the server, its garbage collected all the time. */
const memoryInUse: Case = {
	id: 'memory-10000',
	title: '10,000 sends, memory in use after collection',
	async measure({ stage, pairs, tell }) {
		const { simulator } = stage;
		const items = campaigns(10_000);
		const benches = { ours: await stage.sends('ours'), other: await stage.sends('other') };
		const runs: Record<Contestant, Run[]> = { ours: [], other: [] };
		const memory: Record<Contestant, number[]> = { ours: [], other: [] };
		const turns = Math.min(2, pairs);
		await alternate(turns, async (contestant, pair) => {
			tell(`pair ${pair} of ${turns}, ${contestant === 'ours' ? 'this node' : other}`);
			await simulator.reset();
			await simulator.setLatency(50);
			const { result, megabytes } = await watchCollectedMemory(
				stage.collecting,
				async () => await benches[contestant].run(items),
			);
			if (contestant === 'ours') expectSuccess(result, items.length);
			runs[contestant].push(result);
			memory[contestant].push(megabytes);
		});
		const ratio = median(memory.ours) / median(memory.other);
		return {
			ours: summarize(runs.ours.map(nodeMs)),
			other: summarize(runs.other.map(nodeMs)),
			measure: `of the memory with ${other}`,
			value: times(ratio),
			target: `≤ ${times(1)}`,
			passed: ratio <= 1,
			notes: [
				`it rises by ${median(memory.ours).toFixed(0)} MB at its peak, with ${other} by ${median(memory.other).toFixed(0)} MB; the workflow's items included`,
				'the times hold the collections',
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
				const span = await until(spanOfRequests, (seen) => seen !== undefined, {
					within: 30_000,
					every: 200,
					late: () => 'No poll came within 30 s',
				});
				await simulator.clearRequests();
				await requestPlainly(stage.plainReads(ids), maxParallel);
				const plainSpan = (await spanOfRequests()) ?? NaN;
				await simulator.clearRequests();
				if (turn === 0) continue;
				ours.push(span ?? NaN);
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
			target: `≤ ${times(1.4)}`,
			passed: ratio <= 1.4,
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
	sends('sends-50ms', 50, 0.25),
	sends('sends-5ms', 5, 0.2),
	personalSends,
	keyedSends('keys', '500 sends with idempotency keys, latency 50 ms', 0, 2),
	keyedSends('keys-10000', 'The same with 10,000 keys remembered', 10_000, 2.5),
	limited({
		id: 'limit',
		title: '2,000 sends, 100 per second allowed',
		count: 2000,
		limit: perHundred,
		neededMs: 19_000,
		target: 1.03,
	}),
	limited({
		id: 'limit-retry-after',
		title: 'The same with Retry-After',
		count: 2000,
		limit: { ...perHundred, retryAfter: 'seconds' },
		neededMs: 19_000,
		target: 1.03,
	}),
	limited({
		id: 'limit-falls',
		title: '800 sends, 200 per second allowed, then 20',
		count: 800,
		limit: { perSecond: 200, burst: 100 },
		then: { after: 400, limit: { perSecond: 20, burst: 20 } },
		// 100 at once and 300 at the first pace; then 20 at once at most and 380 at the second.
		neededMs: 1500 + 19_000,
		target: 1.03,
	}),
	fewRefused,
	sameReads,
	manySends,
	memoryInUse,
	oneItem,
	poll,
	loading,
];
