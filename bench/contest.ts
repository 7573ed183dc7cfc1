import type { RateLimit } from '../simulator';
import { median, summarize, type Measured } from './report';
import type { Bench, Contestant, Run, Stage } from './stage';

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
	readonly measure: (options: CaseOptions) => Promise<Measured>;
}

export type Runs = Record<Contestant, Run[]>;

export const rival = 'HTTP Request';
export const nodeMs = (run: Run) => run.nodeMs;
export const times = (value: number) => `${value.toFixed(2)} ×`;
export const seconds = (ms: number) => `${(ms / 1000).toFixed(2)} s`;

export const campaigns = (count: number) =>
	Array.from({ length: count }, (_, index) => ({
		title: `Offer ${index}`,
		message: `Everything must go, part ${index}`,
		targetUrl: `https://example.com/offers/${index}`,
	}));

/** Our value as a multiple of the other's, by their medians. */
export const ratioOf = ({ ours, other: others }: Runs, pick: (run: Run) => number) =>
	median(ours.map(pick)) / median(others.map(pick));

export function expectSuccess({ status, items }: Run, count: number): void {
	if (status !== 200 || items.length !== count) {
		throw new Error(`The workflow answered ${status} with ${items.length} of ${count} items`);
	}
}

/** The simulator as it began, with a latency and perhaps a limit. */
export async function prepare(
	{ simulator }: Stage,
	latencyMs: number,
	limit?: RateLimit,
): Promise<void> {
	await simulator.reset();
	await simulator.configure({ latencyMs, rateLimit: limit });
}

interface Contest {
	readonly benches: Record<Contestant, Bench>;
	readonly itemsOf: () => ReadonlyArray<Record<string, unknown>>;
	readonly latencyMs?: number;
	readonly limit?: RateLimit;
	/** Runs of each that don't count; 1 when left out. */
	readonly warmUps?: number;
	/** Makes a run, and takes down beside it what is to be measured. */
	readonly around?: (contestant: Contestant, run: () => Promise<Run>) => Promise<Run>;
}

/** Runs both alternately, each going first every other time, on a service that begins anew each time. */
export async function compete(
	{ stage, pairs, tell }: CaseOptions,
	{ benches, itemsOf, latencyMs = 50, limit, warmUps = 1, around }: Contest,
): Promise<Runs> {
	const runs: Runs = { ours: [], other: [] };
	for (let pair = 1 - warmUps; pair <= pairs; pair += 1) {
		const order: Contestant[] = pair % 2 === 0 ? ['other', 'ours'] : ['ours', 'other'];
		for (const contestant of order) {
			const who = contestant === 'ours' ? 'this node' : rival;
			tell(pair < 1 ? 'warming up' : `pair ${pair} of ${pairs}, ${who}`);
			await prepare(stage, latencyMs, limit);
			const items = itemsOf();
			const run = async () => await benches[contestant](items);
			const made = await (around === undefined ? run() : around(contestant, run));
			expectSuccess(made, items.length);
			if (pair > 0) runs[contestant].push(made);
		}
	}
	await stage.simulator.reset();
	return runs;
}

/** The judgement of our time as a multiple of another. */
export const judge = (ratio: number, target: number, measure: string) => ({
	measure,
	value: times(ratio),
	target: `≤ ${times(target)}`,
	passed: ratio <= target,
});

export const timesOf = ({ ours, other: others }: Runs) => ({
	ours: summarize(ours.map(nodeMs)),
	other: summarize(others.map(nodeMs)),
});
