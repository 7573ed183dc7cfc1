import type { IPollFunctions } from 'n8n-workflow';
import { sleep } from 'n8n-workflow';

import { readAttempt } from '../delivery/attempts';
import type { Attempt, Job } from '../delivery/queue';
import { runQueue } from '../delivery/queue';
import type { Connection } from '../n8n/connection';
import { connect } from '../n8n/connection';
import { campaignStatusOf, subscriberCount, toRates } from '../service/answers';
import type { Client, Result } from '../service/client';
import type { Problem } from '../service/problems';
import { campaignStatusPath, subscriberCountPath } from '../service/rules';
import { Unavailable } from '../service/thrown';
import type { Reading } from './compare';

/** What a trigger watches: reads it once, and never throws. */
export type Subject = (client: Client, id: string, timeoutMs: number) => Promise<Result<Reading>>;

export const readCampaign: Subject = async (client, id, timeoutMs) => {
	// The message about all campaigns that can't be read names their IDs.
	const about = { of: 'campaign', label: "'Campaign IDs'", id: 'with this ID' } as const;
	const request = { isSend: false, path: campaignStatusPath(id), about };
	const result = await client.request(request, campaignStatusOf(id), timeoutMs);
	if (!result.answered) return result;
	const { status, counters: given } = result.value;
	// The numbers that are wanted most come first, so that they are on the screen.
	const { delivered = null, clicked = null, closed = null } = given;
	const counters = { delivered, clicked, closed, ...given };
	const fields = { campaignId: id, status, ...counters, ...toRates(given) };
	return { ...result, value: { id, status, counters, fields, observedAt: Date.now() } };
};

/** The ID of the site: no campaign has one with a blank. */
export const siteId = 'the site';

export const readSite: Subject = async (client, id, timeoutMs) => {
	const request = { isSend: false, path: subscriberCountPath };
	const result = await client.request(request, subscriberCount, timeoutMs);
	if (!result.answered) return result;
	const { activeSubscribers = null } = result.value;
	const counters = { activeSubscribers, ...result.value };
	return {
		...result,
		value: { id, status: null, counters, fields: counters, observedAt: Date.now() },
	};
};

/** Why something was not read, though nothing is known against it. */
export const timeIsOver: Problem = {
	type: 'network',
	outcome: 'unknown',
	message: 'The time of this poll was over before the push service answered',
	remedy: 'wait',
	cause: 'temporarily-unavailable',
};

/** Connects to the site. n8n may take any time to open a credential, and takes no signal. */
export async function connectInTime(
	context: IPollFunctions,
	signal: AbortSignal,
): Promise<Connection> {
	const late = new Unavailable(
		'n8n did not open the credential in the time of this poll',
		"Check n8n's database, and the vault if the credential is in one.",
	);
	const over = new Promise<never>((_resolve, reject) => {
		signal.addEventListener('abort', () => reject(late));
	});
	return await Promise.race([connect(context, signal), over]);
}

/** What follows an answer. What hangs is not asked again: it holds up the poll once, not three times. */
function toAttempt(result: Result<Reading>, wasSlow: boolean): Attempt<Result<Reading>> {
	const attempt = readAttempt(result);
	if (!wasSlow || attempt.then !== 'again') return attempt;
	return { then: 'end', outcome: result, isAccepted: false };
}

/** In random order: nothing that hangs stands in front of the same others in each poll. */
function shuffle<Value>(values: readonly Value[]): Value[] {
	return values
		.map((value) => ({ value, place: Math.random() }))
		.sort((one, other) => one.place - other.place)
		.map(({ value }) => value);
}

/** By ID. */
export type Failures = ReadonlyMap<string, Problem>;

/** What a poll read. Each ID is in one of the two. */
export interface Readings {
	/** In the order of the list. */
	readonly readings: readonly Reading[];
	readonly failures: Failures;
}

/**
 * Reads all in parallel. When the signal ends, what was read until then is returned.
 * @param timeoutMs how long one request may take, in milliseconds
 */
export async function readAll(
	client: Client,
	{ subject, ids }: { readonly subject: Subject; readonly ids: readonly string[] },
	timeoutMs: number,
	signal: AbortSignal,
): Promise<Readings> {
	const order = shuffle(ids);
	let refusal: Problem | undefined;
	const jobs = order.map((id): Job<Result<Reading>> => async () => {
		const startedAt = performance.now();
		const result = await subject(client, id, timeoutMs);
		const wasSlow = performance.now() - startedAt > timeoutMs / 2;
		if (!result.answered && result.problem.cause === 'rate-limited') refusal = result.problem;
		const isCut = !result.answered && signal.aborted;
		return toAttempt(isCut ? { answered: false, problem: timeIsOver } : result, wasSlow);
	});
	const { outcomes } = await runQueue(jobs, { stopOnFailure: false, signal, sleep });

	const results = new Map(order.map((id, index) => [id, outcomes[index]]));
	// What was not asked for in time because of refusals was refused, too.
	const unread = refusal ?? timeIsOver;
	const readings: Reading[] = [];
	const failures = new Map<string, Problem>();
	for (const id of ids) {
		const result = results.get(id);
		if (result?.answered) readings.push(result.value);
		else failures.set(id, result?.problem ?? unread);
	}
	return { readings, failures };
}
