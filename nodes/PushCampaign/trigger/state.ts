import type { IPollFunctions } from 'n8n-workflow';
import { z } from 'zod';

import type { Baselines } from './compare';
import { baselineSchema } from './compare';

/** What n8n saves of a trigger: its static data. */
const savedSchema = z.object({
	/** Grows with each emission. */
	revision: z.number(),
	/** What the baselines belong to. */
	site: z.string(),
	/** One that can't be read counts as never emitted: all of it is reported again, and nothing is lost. */
	baselines: z
		.array(baselineSchema.nullable().catch(null))
		.transform((all) => all.filter((baseline) => baseline !== null)),
});
type Saved = Readonly<z.infer<typeof savedSchema>>;

/** The state of a trigger that has emitted nothing. */
const nothingSaved: Saved = { revision: 0, site: '', baselines: [] };

/**
 * How long after an emission a poll may still begin with a cursor that does not show it, in milliseconds.
 *
 * n8n's durable engine reads the cursor when the task of a poll begins (n8n 2.41.1: `poll-trigger-task-handler.js`,
 * `execute`). The poll itself may take 45 s, and a task is taken from a process whose lease of 60 s has ended, checked
 * every 30 s. After that, n8n did not save an emission that no cursor shows.
 */
export const staleCursorMs = 120_000;

/** The last emission of a trigger in this process. */
interface LastEmission {
	readonly revision: number;
	/** Until when a poll may begin with an older cursor, by `performance.now()`, a clock that nobody sets. */
	readonly staleUntil: number;
}

const lastEmissions = new Map<string, LastEmission>();

/**
 * A trigger's state during one poll.
 *
 * What is saved together with an emission is all that a restart needs. But several polls can begin with the same old
 * cursor: after a restart, the durable engine starts all that were missed at once. So a poll whose cursor lacks the last
 * emission of this process is stale: it emits nothing, and leaves its changes to the next poll. It does not go on from
 * that emission, because n8n may have failed to save it.
 */
export class TriggerState {
	private readonly openedAt = performance.now();
	/** Copies of a workflow share the IDs of its nodes. */
	readonly key: string;
	/** The classic engine's data notice only what is set at their first level, the durable engine's are a plain copy. */
	private readonly data;
	private readonly saved: Saved;

	constructor(context: Pick<IPollFunctions, 'getNode' | 'getWorkflow' | 'getWorkflowStaticData'>) {
		this.key = `${context.getWorkflow().id} ${context.getNode().id}`;
		this.data = context.getWorkflowStaticData('node');
		// The schema makes a copy.
		this.saved = savedSchema.safeParse(this.data).data ?? nothingSaved;
	}

	/** Whether nothing was emitted yet, as far as n8n knows. */
	get isNew(): boolean {
		return this.saved.revision === 0;
	}

	/** Whether another poll of this process has emitted what this one does not know of. */
	get isStale(): boolean {
		const last = lastEmissions.get(this.key);
		if (last === undefined) return false;
		return this.saved.revision < last.revision && this.openedAt < last.staleUntil;
	}

	/** What was emitted of a site: of another one than the last, nothing. */
	baselinesOf(site: string): Baselines {
		if (site !== this.saved.site) return new Map();
		return new Map(this.saved.baselines.map((baseline) => [baseline.id, baseline]));
	}

	/** Hands the baselines after an emission to n8n, which saves them with it. */
	save(site: string, baselines: Baselines): void {
		// Never the revision of an emission that was lost: a cursor that shows the one would pass for the other.
		const lost = lastEmissions.get(this.key)?.revision ?? 0;
		const revision = Math.max(this.saved.revision, lost) + 1;
		lastEmissions.set(this.key, { revision, staleUntil: performance.now() + staleCursorMs });
		const saved: Saved = { revision, site, baselines: [...baselines.values()] };
		Object.assign(this.data, saved);
	}
}
