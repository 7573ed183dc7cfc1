import type { Baseline } from './baseline';

interface RunningPolls {
	count: number;
	/** By campaign, what was emitted last. */
	readonly emitted: Map<string, Baseline>;
}

/**
 * What the polls of one trigger that run at the same time tell each other. n8n's durable engine gives
 * each poll a copy of the baselines from before its start, and lets all of them emit.
 */
export class OverlappingPolls {
	private readonly running = new Map<string, RunningPolls>();

	/**
	 * Runs a poll.
	 * @param trigger which trigger polls
	 * @param poll gets what the polls that overlap with it have emitted
	 */
	async run<Value>(trigger: string, poll: (emitted: Map<string, Baseline>) => Promise<Value>) {
		const polls = this.running.get(trigger) ?? { count: 0, emitted: new Map<string, Baseline>() };
		this.running.set(trigger, polls);
		polls.count += 1;
		try {
			return await poll(polls.emitted);
		} finally {
			polls.count -= 1;
			if (polls.count === 0) this.running.delete(trigger);
		}
	}
}

/** Whether an overlapping poll has emitted this campaign, and the baseline does not know of it. */
export function isEmittedElsewhere(
	{ campaignId }: { readonly campaignId: string },
	baseline: Baseline | undefined,
	emitted: ReadonlyMap<string, Baseline>,
): boolean {
	const other = emitted.get(campaignId);
	return other !== undefined && (baseline === undefined || baseline.readAt < other.readAt);
}

/**
 * The baselines of an own emission, with what overlapping polls emitted: n8n saves them whole, and older
 * ones would bring back what was emitted.
 */
export function mergeEmitted(
	baselines: Readonly<Record<string, Baseline>>,
	emitted: ReadonlyMap<string, Baseline>,
): Record<string, Baseline> {
	const merged = { ...baselines };
	for (const [campaignId, other] of emitted) {
		const own = merged[campaignId];
		if (own === undefined || own.readAt < other.readAt) merged[campaignId] = other;
	}
	return merged;
}
