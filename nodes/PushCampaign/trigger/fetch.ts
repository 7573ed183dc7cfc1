import type { IPollFunctions } from 'n8n-workflow';
import { sleep } from 'n8n-workflow';

import { readAttempt } from '../delivery/attempts';
import type { Job } from '../delivery/queue';
import { runQueue } from '../delivery/queue';
import type { Connection } from '../n8n/connection';
import { connect } from '../n8n/connection';
import { campaignStatusOf, subscriberCount, toRates } from '../service/answers';
import type { Client, Result } from '../service/client';
import { untilAborted } from '../service/client';
import type { Problem } from '../service/problems';
import { unknownProblem } from '../service/problems';
import { campaignStatusPath, subscriberCountPath } from '../service/rules';
import { Unavailable } from '../service/thrown';
import type { Reading } from './compare';

/** What a trigger watches: fetches it once, and never throws. */
export type Subject = (client: Client, id: string, timeoutMs: number) => Promise<Result<Reading>>;

const named = { what: 'such campaign', fix: "Correct 'Campaign IDs'." };

// The numbers that are wanted most come first, so that they are on the screen.

export const fetchCampaign: Subject = async (client, id, timeoutMs) => {
	const request = { isSend: false, path: campaignStatusPath(id), named };
	const reading = campaignStatusOf(id).transform(({ status, counters: given }): Reading => {
		const { delivered = null, clicked = null, closed = null } = given;
		const counters = { delivered, clicked, closed, ...given };
		return { id, status, counters, rates: toRates(given), observedAt: Date.now() };
	});
	return await client.request(request, reading, timeoutMs);
};

/** The ID of the site: no campaign has one with a blank. */
export const siteId = 'the site';

export const fetchSite: Subject = async (client, id, timeoutMs) => {
	const reading = subscriberCount.transform((given): Reading => {
		const { activeSubscribers = null } = given;
		const counters = { activeSubscribers, ...given };
		return { id, counters, rates: {}, observedAt: Date.now() };
	});
	return await client.request({ isSend: false, path: subscriberCountPath }, reading, timeoutMs);
};

/** Why something was not read, though nothing is known against it. */
export const timeIsOver = unknownProblem(
	'the time of this poll was over before the push service answered',
	{ isSend: false },
);

/** Connects to the site. n8n may take any time to open a credential, and takes no signal. */
export async function connectInTime(
	context: IPollFunctions,
	signal: AbortSignal,
): Promise<Connection> {
	return await untilAborted(connect(context, signal), signal).catch((error: unknown) => {
		if (error !== signal.reason) throw error;
		throw new Unavailable(
			'n8n did not open the credential in the time of this poll',
			"Check n8n's database, and the vault if the credential is in one.",
		);
	});
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
 * Fetches all in parallel. When the signal ends, what was read until then is returned.
 * @param timeoutMs how long one request may take, in milliseconds
 */
export async function fetchAll(
	client: Client,
	{ subject, ids }: { readonly subject: Subject; readonly ids: readonly string[] },
	timeoutMs: number,
	signal: AbortSignal,
): Promise<Readings> {
	// From a random place on: what hangs, or is too much for one poll, stands in front of other IDs in each poll.
	const start = Math.floor(Math.random() * ids.length);
	const order = [...ids.slice(start), ...ids.slice(0, start)];
	const results = new Map<string, Result<Reading>>();
	const jobs = order.map((id): Job<Result<Reading>> => async () => {
		const startedAt = performance.now();
		const result = await subject(client, id, timeoutMs);
		const wasSlow = performance.now() - startedAt > timeoutMs / 2;
		// A request that was cut short says nothing.
		if (result.answered || !signal.aborted) results.set(id, result);
		const attempt = readAttempt(result);
		// What hangs is not asked again: it holds up the poll once, not three times.
		if (!wasSlow || attempt.then !== 'again') return attempt;
		return { then: 'end', outcome: result, isAccepted: false };
	});
	await runQueue(jobs, { stopOnFailure: false, signal, sleep });

	const problems = [...results.values()].flatMap((each) => (each.answered ? [] : [each.problem]));
	// What did not get its turn in time because of refusals was refused, too.
	const unread = problems.find(({ cause }) => cause === 'rate-limited') ?? timeIsOver;
	const readings: Reading[] = [];
	const failures = new Map<string, Problem>();
	for (const id of ids) {
		const result = results.get(id);
		if (result?.answered) readings.push(result.value);
		else failures.set(id, result?.problem ?? unread);
	}
	return { readings, failures };
}
