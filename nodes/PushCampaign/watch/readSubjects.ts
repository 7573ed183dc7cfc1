import type { Job, RunOptions } from '../delivery/job';
import type { Outcome } from '../delivery/outcome';
import { isRateLimit, readRetries } from '../delivery/retry';
import { runJobs } from '../delivery/runJobs';
import type { Client } from '../service/client';
import type { Problem } from '../service/failures';
import type { Observation } from './compare';
import type { Watched } from './watched';

const rateLimitRetries = 5;

/** What a poll found out about what it watches. */
export interface Readings {
	/** In the order of the IDs. */
	readonly observations: readonly Observation[];
	/** By ID. */
	readonly failures: ReadonlyMap<string, Problem>;
	/** IDs to read first the next time: not reached in time, or refused for too many requests. */
	readonly unread: readonly string[];
}

export interface ReadRequest extends Pick<Watched, 'subject' | 'ids'> {
	/** IDs that are read before the others. */
	readonly first: ReadonlySet<string>;
	/** How long one request may take, in milliseconds. */
	readonly timeoutMs: number;
}

/** Reads one campaign, or the site. */
function readJob(
	id: string,
	{ subject, timeoutMs }: ReadRequest,
	client: Client,
	{ now, signal }: RunOptions,
): Job<Observation> {
	let wasSlow = false;

	async function attempt(): Promise<Outcome<Observation>> {
		const startedAt = now();
		const result = await subject.read(client, id, timeoutMs);
		if (result.kind === 'done') {
			return { kind: 'done', value: { id, ...result.value, observedAt: Date.now() } };
		}
		// When the poll's time is over, the failure says nothing about the campaign.
		if (signal?.aborted) return { kind: 'notStarted' };
		wasSlow = now() - startedAt > timeoutMs / 2;
		return result;
	}

	return {
		rateLimitRetries,
		// A slow failure is not tried again: a campaign that hangs holds up the poll once, not three times.
		get transientRetries() {
			return wasSlow ? 0 : readRetries;
		},
		attempt,
	};
}

/** Reads all in parallel. When the signal ends, what was read until then is returned. */
export async function readSubjects(
	options: ReadRequest,
	client: Client,
	runOptions: RunOptions & { readonly signal: AbortSignal },
): Promise<Readings> {
	const { ids, first } = options;
	const ordered = [...ids.filter((id) => first.has(id)), ...ids.filter((id) => !first.has(id))];
	const jobs = ordered.map((id) => readJob(id, options, client, runOptions));
	const results = await runJobs(jobs, runOptions);
	const outcomes = new Map(ordered.map((id, index) => [id, results[index]] as const));

	const observations: Observation[] = [];
	const failures = new Map<string, Problem>();
	const unread: string[] = [];
	for (const id of ids) {
		const outcome = outcomes.get(id);
		if (outcome?.kind === 'done') observations.push(outcome.value);
		if (outcome?.kind === 'notStarted') unread.push(id);
		if (outcome?.kind === 'failed') {
			failures.set(id, outcome.problem);
			if (isRateLimit(outcome.problem)) unread.push(id);
		}
	}
	return { observations, failures, unread };
}
