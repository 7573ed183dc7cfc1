import type { Problem } from '../service/failures';
import type { InvalidInput } from '../service/invalidInput';
import type { Window } from './window';

/** How an item ended. Only what is `notStarted` has no reason of its own. */
export type Outcome<Value> =
	| { readonly kind: 'done'; readonly value: Value }
	| { readonly kind: 'failed'; readonly problem: Problem }
	| { readonly kind: 'invalid'; readonly invalid: InvalidInput }
	| { readonly kind: 'notStarted' };

/** One item's request on its way. */
export interface Request<Value> {
	readonly known?: undefined;
	/** Asked right before each request; what it gives ends the item, and nothing is requested. */
	readonly refuse?: () => InvalidInput | undefined;
	/** Makes the request once. Never throws. */
	readonly attempt: () => Promise<Outcome<Value>>;
	/** Requests of the same key are made once and share the outcome. */
	readonly shareKey?: string;
	/** How often a refusal for too many requests is retried. */
	readonly rateLimitRetries: number;
	/** How often an answer that may come later is asked for again; 0 for all that must not happen twice. */
	readonly transientRetries: number;
}

/** An item: a request, or an outcome that is known already. */
export type Shipment<Value> = Request<Value> | { readonly known: Outcome<Value> };

export interface DeliverOptions {
	readonly window: Window;
	/** Whether a first failure keeps everything that has not started from starting. */
	readonly stopOnFailure: boolean;
	/** Waits the given milliseconds; rejects when the user stops the execution. */
	readonly sleep: (milliseconds: number) => Promise<void>;
	/** A number from 0 up to, but not including, 1. */
	readonly random: () => number;
}

/** A service that asks for more patience than this is told to the user instead. */
const longestRetryAfterMs = 10 * 60_000;
const firstRetryMs = 500;
/**
 * After so many starts Node.js gets to write them out: until then none leaves, as long as others are
 * being prepared. Measured in n8n, in milliseconds:
 *
 * | starts at once | poll of 200, 50 ms | 500 sends, 50 ms | 500 sends, 5 ms |
 * |---|---|---|---|
 * | 5 | 190 | 425 | 225 |
 * | 10 | 169 | 443 | 203 |
 * | 25 | 170 | 503 | 170 |
 * | all | 203 | 671 | 333 |
 */
const startsAtOnce = 10;

const isRateLimit = ({ type }: Problem) => type === 'rate_limit';
const isTransient = ({ type, outcome }: Problem) => outcome === 'unknown' || type === 'unspecified';

/** Whether the service dealt with the request, so that it may well be asked faster. */
function isWell<Value>(outcome: Outcome<Value>): boolean {
	if (outcome.kind !== 'failed') return outcome.kind === 'done';
	return !isRateLimit(outcome.problem) && !isTransient(outcome.problem);
}

/**
 * Brings all shipments to the service through the window. Outcomes come in the order of the shipments;
 * every shipment gets one. Never throws.
 */
export async function deliver<Value>(
	shipments: ReadonlyArray<Shipment<Value>>,
	options: DeliverOptions,
): Promise<Array<Outcome<Value>>> {
	const { window, stopOnFailure } = options;
	const outcomes: Array<Outcome<Value> | undefined> = shipments.map(({ known }) => known);
	const shared = new Map<string, number>();
	const underWay = new Set<Promise<void>>();

	const stopAfter = (outcome: Outcome<Value> | undefined) => {
		if (stopOnFailure && outcome !== undefined && outcome.kind !== 'done') window.close();
	};
	outcomes.forEach(stopAfter);

	let started = 0;
	for (const [index, shipment] of shipments.entries()) {
		if (shipment.known !== undefined) continue;
		const { shareKey } = shipment;
		if (shareKey !== undefined) {
			if (shared.has(shareKey)) continue;
			shared.set(shareKey, index);
		}
		if (!(await window.enter())) break;
		const run = request(shipment, options).then((outcome) => {
			outcomes[index] = outcome;
			stopAfter(outcome);
			underWay.delete(run);
		});
		underWay.add(run);
		started += 1;
		if (started % startsAtOnce === 0) await options.sleep(0).catch(() => undefined);
	}
	await Promise.all(underWay);

	return shipments.map((shipment, index) => {
		const shareKey = shipment.known === undefined ? shipment.shareKey : undefined;
		const source = shareKey === undefined ? undefined : shared.get(shareKey);
		return outcomes[index] ?? outcomes[source ?? index] ?? { kind: 'notStarted' };
	});
}

/** Holds a place in the window until the shipment's outcome is final. */
async function request<Value>(
	shipment: Request<Value>,
	{ window, sleep, random, stopOnFailure }: DeliverOptions,
): Promise<Outcome<Value>> {
	const end = (outcome: Outcome<Value>): Outcome<Value> => {
		// Closed before the place is free: whoever waits for it must not start any more.
		if (stopOnFailure && outcome.kind !== 'done') window.close();
		window.leave(isWell(outcome));
		return outcome;
	};
	let refusals = 0;
	let retries = 0;
	for (;;) {
		const invalid = shipment.refuse?.();
		if (invalid !== undefined) return end({ kind: 'invalid', invalid });
		const outcome = await shipment.attempt();
		if (outcome.kind !== 'failed') return end(outcome);
		const { problem } = outcome;
		const { retryAfterMs = 0 } = problem;
		if (isRateLimit(problem) && retryAfterMs <= longestRetryAfterMs) {
			if (refusals >= shipment.rateLimitRetries) {
				window.slowDown(problem.retryAfterMs);
				return end(outcome);
			}
			refusals += 1;
			if (await window.refused(problem.retryAfterMs)) continue;
			// Where another item's failure closed the window, that one is the news.
			return stopOnFailure ? { kind: 'notStarted' } : outcome;
		}
		if (isTransient(problem) && retries < shipment.transientRetries) {
			retries += 1;
			const isAwake = await sleep(firstRetryMs * 2 ** (retries - 1) * (0.5 + random() / 2)).then(
				() => true,
				() => false,
			);
			if (isAwake) continue;
		}
		return end(outcome);
	}
}
