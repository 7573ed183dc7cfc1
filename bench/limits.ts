import { setTimeout as sleep } from 'node:timers/promises';
import type { RateLimit } from '../simulator';
import type { Case } from './contest';
import {
	campaigns,
	compete,
	expectSuccess,
	judge,
	nodeMs,
	prepare,
	rival,
	seconds,
	timesOf,
} from './contest';
import { median, summarize } from './report';
import { bothOf, ours, type Contestant, type Stage } from './stage';

interface Limited {
	readonly id: string;
	readonly title: string;
	readonly count: number;
	readonly limit: RateLimit;
	/** What the limit itself needs, in milliseconds. */
	readonly neededMs: number;
	/** Another limit, from so many arrived sends on. */
	readonly then?: { readonly after: number; readonly limit: RateLimit };
}

/** Sends against a service with a rate limit: all must arrive, once, in the time that the limit needs. */
const limited = ({ id, title, count, limit, neededMs, then }: Limited): Case => ({
	id,
	title,
	async measure(options) {
		const { stage } = options;
		const items = campaigns(count);
		const lost: Record<Contestant, number[]> = { ours: [], other: [] };
		const refusals: number[] = [];
		let twice = 0;
		const runs = await compete(options, {
			benches: await bothOf(stage),
			itemsOf: () => items,
			limit,
			warmUps: 0,
			async around(contestant, run) {
				const end = new AbortController();
				const changing = then === undefined ? undefined : changeLimit(stage, then, end.signal);
				const made = await run();
				end.abort();
				await changing;
				const { requestCount, campaigns: arrived } = await stage.simulator.state();
				const titles = new Set(arrived.map(({ body }) => body['title']));
				lost[contestant].push(count - titles.size);
				if (contestant === 'other') return made;
				twice += arrived.length - titles.size;
				refusals.push(requestCount - arrived.length);
				return made;
			},
		});
		const most = Math.max(...lost.ours);
		const ratio = median(runs.ours.map(nodeMs)) / neededMs;
		const judged = judge(ratio, 1.1, 'of what the limit needs');
		return {
			...timesOf(runs),
			limit: { name: 'the limit', ms: neededMs },
			...judged,
			target: `all arrive, ${judged.target}`,
			passed: most === 0 && twice === 0 && judged.passed,
			notes: [
				`lost ${most}, sent twice ${twice}, refused and sent again ${median(refusals)}`,
				`${rival} loses ${Math.round(median(lost.other))} of ${count}`,
			],
		};
	},
});

/** Changes the limit as soon as so many sends have arrived. */
async function changeLimit(
	{ simulator }: Stage,
	{ after, limit }: NonNullable<Limited['then']>,
	signal: AbortSignal,
): Promise<void> {
	while (!signal.aborted) {
		const { campaignCount } = await simulator.state(0);
		if (campaignCount >= after) {
			await simulator.configure({ rateLimit: limit });
			return;
		}
		await sleep(10);
	}
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
		await prepare(stage, 50);
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
		// Once: nearly all of it is waiting.
		tell('one run');
		const continuing = await ours(stage, undefined, {}, { onError: 'continueRegularOutput' });
		const run = await continuing(items);
		expectSuccess(run, items.length);
		const { campaigns: arrived, requestCount } = await simulator.state();
		const titles = new Set(arrived.map(({ body }) => body['title']));
		const at = arrived.map(({ createdAt }) => createdAt);
		const othersMs = Math.max(...at) - Math.min(...at);
		await simulator.reset();
		return {
			ours: summarize([run.nodeMs]),
			limit: { name: 'the five pauses', ms: 85_250 },
			measure: 'for the others',
			value: seconds(othersMs),
			target: `${taken} arrive, < 10 s`,
			passed: titles.size === taken && arrived.length === taken && othersMs < 10_000,
			notes: [`all of it ${seconds(run.nodeMs)}`, `${requestCount - arrived.length} refusals`],
		};
	},
};

const perHundred: RateLimit = { perSecond: 100, burst: 100 };

export const limits: readonly Case[] = [
	limited({
		id: 'limit',
		title: '2,000 sends, 100 per second allowed',
		count: 2000,
		limit: perHundred,
		neededMs: 19_000,
	}),
	limited({
		id: 'limit-retry-after',
		title: 'The same with Retry-After',
		count: 2000,
		limit: { ...perHundred, retryAfter: 'seconds' },
		neededMs: 19_000,
	}),
	limited({
		id: 'limit-falls',
		title: '800 sends, 200 per second allowed, then 20',
		count: 800,
		limit: { perSecond: 200, burst: 100 },
		then: { after: 400, limit: { perSecond: 20, burst: 20 } },
		// 100 at once and 300 at the first pace; then 20 at once at most and 380 at the second.
		neededMs: 1500 + 19_000,
	}),
	fewRefused,
];
