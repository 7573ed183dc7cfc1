import type { Problem } from '../service/failures';
import { longestRetryAfterMs, notRequestedProblem } from '../service/failures';
import type { InvalidInput } from '../service/invalidInput';
import { pauseAfter } from './pace';
import type { Window } from './window';

/** How an item ended. Only what is `notStarted` has no reason of its own. */
export type Outcome<Value> =
	| {
			readonly kind: 'done';
			readonly value: Value;
			/** False where the service was not asked: such an answer says nothing of its pace. */
			readonly wasRequested?: boolean;
	  }
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
	/**
	 * Whether an item that is refused again and again waits for itself, longer and longer, so that it holds
	 * up no other. Not where there is no time for that.
	 */
	readonly waitsAlone?: boolean;
	/** Waits the given milliseconds; rejects when the user stops the execution. */
	readonly sleep: (milliseconds: number) => Promise<void>;
	/** A number from 0 up to, but not including, 1. */
	readonly random: () => number;
}

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

/**
 * An item that is refused more often than this, with others accepted in between, waits for itself from then
 * on and holds up no other: under a limit for all an item is hardly ever refused so often.
 */
const generalRefusals = 2;

const isRateLimit = ({ type }: Problem) => type === 'rate_limit';
const isTransient = ({ type, outcome }: Problem) => outcome === 'unknown' || type === 'unspecified';

/** Whether the service dealt with the request, so that it may well be asked faster. */
function isWell<Value>(outcome: Outcome<Value>): boolean {
	if (outcome.kind === 'done') return outcome.wasRequested !== false;
	if (outcome.kind !== 'failed') return false;
	return !isRateLimit(outcome.problem) && !isTransient(outcome.problem);
}

/** What the items of one run know of each other. */
interface Run extends DeliverOptions {
	/** How many requests the service has dealt with. */
	accepted: number;
	/** How often items were refused that don't wait for themselves. */
	refusals: number;
	/** Why nothing further is requested of a service that refuses everything. */
	givenUp?: Problem;
}

/**
 * Brings all shipments to the service through the window. Outcomes come in the order of the shipments;
 * every shipment gets one. Never throws.
 *
 * When the service refuses for too many requests so often in a row that an item's retries are used up,
 * or asks for more than ten minutes, nothing further is requested: what is left failed as that did.
 */
export async function deliver<Value>(
	shipments: ReadonlyArray<Shipment<Value>>,
	options: DeliverOptions,
): Promise<Array<Outcome<Value>>> {
	const { window, stopOnFailure } = options;
	const run: Run = { ...options, accepted: 0, refusals: 0 };
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
		const request = deliverOne(shipment, run).then((outcome) => {
			outcomes[index] = outcome;
			stopAfter(outcome);
			underWay.delete(request);
		});
		underWay.add(request);
		started += 1;
		if (started % startsAtOnce === 0) await options.sleep(0).catch(() => undefined);
	}
	await Promise.all(underWay);

	const left: Outcome<Value> =
		run.givenUp === undefined || stopOnFailure
			? { kind: 'notStarted' }
			: { kind: 'failed', problem: notRequestedProblem(run.givenUp) };
	return shipments.map((shipment, index) => {
		const shareKey = shipment.known === undefined ? shipment.shareKey : undefined;
		const source = shareKey === undefined ? undefined : shared.get(shareKey);
		return outcomes[index] ?? outcomes[source ?? index] ?? left;
	});
}

/** Holds a place in the window until the shipment's outcome is final. */
async function deliverOne<Value>(shipment: Request<Value>, run: Run): Promise<Outcome<Value>> {
	const { window, sleep, random, stopOnFailure, waitsAlone = true } = run;
	const end = (outcome: Outcome<Value>): Outcome<Value> => {
		// Closed before the place is free: whoever waits for it must not start any more.
		if (stopOnFailure && outcome.kind !== 'done') window.close();
		if (isWell(outcome)) run.accepted += 1;
		window.leave(isWell(outcome));
		return outcome;
	};
	let refusals = 0;
	let retries = 0;
	let acceptedBefore = run.accepted;
	let isOwn = false;
	for (;;) {
		const invalid = shipment.refuse?.();
		if (invalid !== undefined) return end({ kind: 'invalid', invalid });
		const outcome = await shipment.attempt();
		if (outcome.kind !== 'failed') return end(outcome);
		const { problem } = outcome;
		if (isRateLimit(problem)) {
			refusals += 1;
			// Others were accepted since: it is this item alone that the service does not take.
			const wasOwn = isOwn;
			isOwn ||=
				waitsAlone &&
				refusals > generalRefusals &&
				run.accepted > acceptedBefore &&
				problem.retryAfterMs === undefined &&
				!window.isSingle;
			acceptedBefore = run.accepted;
			if (!isOwn) run.refusals += 1;
			else if (!wasOwn) run.refusals -= refusals - 1;
			if (isOwn && !wasOwn && run.refusals === 0) window.speedUp();
			const decision = decide(shipment, problem, refusals, isOwn, run);
			if (decision === 'giveUp') {
				run.givenUp ??= problem;
				window.close();
			}
			if (decision !== 'retry') return end(outcome);
			window.leave(false);
			if (isOwn) await sleep(pauseAfter(refusals, random())).catch(() => window.close());
			if (await window.enterAgain()) continue;
			// Where another item's failure closed the window, that one is the news.
			return stopOnFailure ? { kind: 'notStarted' } : outcome;
		}
		if (isTransient(problem) && retries < shipment.transientRetries && !window.closed) {
			retries += 1;
			const isAwake = await sleep(firstRetryMs * 2 ** (retries - 1) * (0.5 + random() / 2)).then(
				() => !window.closed,
				() => false,
			);
			if (isAwake) continue;
		}
		return end(outcome);
	}
}

/** What follows from a refusal for too many requests; slows all others down where it concerns them. */
function decide(
	{ rateLimitRetries }: Pick<Request<unknown>, 'rateLimitRetries'>,
	{ retryAfterMs }: Problem,
	refusals: number,
	isOwn: boolean,
	{ window }: Run,
): 'retry' | 'fail' | 'giveUp' {
	if (retryAfterMs !== undefined && retryAfterMs > longestRetryAfterMs) return 'giveUp';
	if (!isOwn) {
		window.slowDown(retryAfterMs);
		// Without retries a first refusal is that item's alone: the service may take the next one.
		if (window.refusalsInARow > Math.max(1, rateLimitRetries)) return 'giveUp';
	}
	return refusals > rateLimitRetries ? 'fail' : 'retry';
}
