import { isDeepStrictEqual } from 'node:util';
import type { Case } from './contest';
import {
	campaigns,
	compete,
	judge,
	nodeMs,
	prepare,
	ratioOf,
	rival,
	times,
	timesOf,
} from './contest';
import { watchCollectedMemory } from './memory';
import { median } from './report';
import { bothOf, ours, personal, plain, type Contestant } from './stage';

const count = 500;

/** Sends against a service that is only slow: the time of the node against that of HTTP Request. */
export const sends = (id: string, latencyMs: number, target: number): Case => ({
	id,
	title: `${count} sends, latency ${latencyMs} ms`,
	async measure(options) {
		const { stage } = options;
		const items = campaigns(count);
		const runs = await compete(options, {
			benches: await bothOf(stage),
			itemsOf: () => items,
			latencyMs,
		});
		return {
			...timesOf(runs),
			...judge(ratioOf(runs, nodeMs), target, `of ${rival}`),
			notes: [`the whole call of the workflow: ${times(ratioOf(runs, ({ callMs }) => callMs))}`],
		};
	},
});

/** Four parameters with text around expressions: the time of the node against that of HTTP Request. */
export const personalSends: Case = {
	id: 'sends-personal',
	title: '500 personal notifications, latency 50 ms',
	async measure(options) {
		const { stage } = options;
		const items = Array.from({ length: count }, (_, index) => ({
			name: `Reader ${index}`,
			city: `Town ${index}`,
			offer: `offer-${index}`,
			group: index % 7,
		}));
		const bodies: Partial<Record<Contestant, string[]>> = {};
		const runs = await compete(options, {
			benches: await bothOf(stage, personal),
			itemsOf: () => items,
			async around(contestant, run) {
				const made = await run();
				const { campaigns: arrived } = await stage.simulator.state();
				// In an order that does not depend on when they arrived.
				const sorted = arrived.map(({ body }) => JSON.stringify(Object.entries(body).sort()));
				bodies[contestant] = sorted.sort();
				return made;
			},
		});
		if (!isDeepStrictEqual(bodies.ours, bodies.other)) {
			throw new Error('The two nodes sent different notifications');
		}
		return {
			...timesOf(runs),
			...judge(ratioOf(runs, nodeMs), 0.4, `of ${rival}`),
			notes: ['title, message, target URL and name, each a text around an expression'],
		};
	},
};

/**
 * Sends with an idempotency key each: their time against that of the same sends without.
 * @param remembered how many keys the node has sent under before
 */
export function keyedSends(id: string, title: string, remembered: number, target: number): Case {
	const filledAtOnce = 2500;
	return {
		id,
		title,
		async measure(options) {
			const { stage, tell } = options;
			await prepare(stage, 0);
			const keyed = await ours(stage, plain, { idempotencyKey: '={{ $json.key }}' });
			const benches = { ours: keyed, other: await ours(stage) };
			let used = 0;
			const withNewKeys = (wanted: number) =>
				campaigns(wanted).map((item) => ({ ...item, key: `${id}-${used++}` }));
			for (let filled = 0; filled < remembered; filled += filledAtOnce) {
				tell(`filling, ${filled} of ${remembered} keys`);
				await keyed(withNewKeys(Math.min(filledAtOnce, remembered - filled)));
			}
			const runs = await compete(options, {
				benches,
				itemsOf: () => withNewKeys(count),
				async around(_contestant, run) {
					const made = await run();
					const { campaignCount } = await stage.simulator.state(0);
					if (campaignCount !== count) throw new Error(`${campaignCount} of ${count} arrived`);
					return made;
				},
			});
			return {
				ours: timesOf(runs).ours,
				limit: { name: 'without keys', ms: timesOf(runs).other.median },
				...judge(ratioOf(runs, nodeMs), target, 'of the same without keys'),
				notes: [],
			};
		},
	};
}

/** What 10,000 sends really take up in the server, its garbage collected all the time. */
export const memoryInUse: Case = {
	id: 'memory-10000',
	title: '10,000 sends, memory in use after collection',
	async measure(options) {
		const { stage } = options;
		const items = campaigns(10_000);
		const memory: Record<Contestant, number[]> = { ours: [], other: [] };
		const runs = await compete(
			{ ...options, pairs: Math.min(2, options.pairs) },
			{
				benches: await bothOf(stage),
				itemsOf: () => items,
				warmUps: 0,
				async around(contestant, run) {
					const { result, megabytes } = await watchCollectedMemory(stage.server, run);
					memory[contestant].push(megabytes);
					return result;
				},
			},
		);
		const [ours, others] = [median(memory.ours), median(memory.other)];
		return {
			...timesOf(runs),
			...judge(ours / others, 1, `of the memory with ${rival}`),
			notes: [
				`it rises by ${ours.toFixed(0)} MB at its peak, with ${rival} by ${others.toFixed(0)} MB; the workflow's items included`,
				'the times hold the collections',
			],
		};
	},
};
