import type { Problem } from '../service/failures';
import type { Kind } from '../service/kinds';
import { clip } from '../service/text';
import { nameItems } from './itemNumbers';

/** An item that failed, and why. */
export interface Failure {
	readonly itemIndex: number;
	readonly problem: Problem;
}

/** How many items of a run of sends did not fail. Each item counts once. */
export interface Counts {
	/** Right away, now or in an earlier try of this execution. */
	readonly sent: number;
	/** Likewise, with a schedule. */
	readonly scheduled: number;
	/** By others under their idempotency keys, or by an execution that was cut off. */
	readonly sentEarlier: number;
	/** Only checked, whatever came of it. */
	readonly dryRun: number;
}

/** How a run ended. */
export interface RunEnd {
	readonly kind: Kind;
	readonly items: number;
	/** In the items' order. */
	readonly failures: readonly Failure[];
	/** Missing if the run only reads. What is neither here nor among the failures never started. */
	readonly counts?: Counts | undefined;
	/** Whether its items have idempotency keys: then executing again sends the rest alone. */
	readonly hasKeys?: boolean;
}

/** A reason, and the items that failed for it. */
interface SharedReason {
	readonly reason: string;
	readonly items: string;
}

/** The reasons of failures, in the order of the first items. */
export function reasonsOf(failures: readonly Failure[]): SharedReason[] {
	const itemsOf = new Map<string, number[]>();
	for (const { itemIndex, problem } of failures) {
		const items = itemsOf.get(problem.message);
		if (items === undefined) itemsOf.set(problem.message, [itemIndex]);
		else items.push(itemIndex);
	}
	return [...itemsOf].map(([reason, items]) => ({ reason: clip(reason), items: nameItems(items) }));
}

/** A sentence names at most this many reasons. */
const mostReasons = 3;

function listReasons(failures: readonly Failure[]): string[] {
	const reasons = reasonsOf(failures).map(({ reason, items }) => `${items}: ${reason}`);
	const left = reasons.length - mostReasons;
	const more = left === 1 ? '1 more reason' : `${left} more reasons`;
	return [...reasons.slice(0, mostReasons), ...(left > 0 ? [more] : [])];
}

const isUnknown = ({ problem }: Failure) => problem.outcome === 'unknown';

/** Whether anything was sent, or may have been. */
export function mayHaveSent({ failures, counts }: RunEnd): boolean {
	if (counts === undefined) return false;
	return counts.sent + counts.scheduled + counts.sentEarlier > 0 || failures.some(isUnknown);
}

/**
 * How the items of a run ended, in numbers that add up, without a full stop: "4 sent, 8 sent earlier, 1 not sent
 * (item 7: Subscriber ID is missing)".
 */
export function describeEnd({ items, failures, counts }: RunEnd): string {
	if (counts === undefined) {
		return `${failures.length} of ${items} failed (${listReasons(failures).join('; ')})`;
	}
	const { sent, scheduled, sentEarlier, dryRun } = counts;
	const notStarted = items - failures.length - sent - scheduled - sentEarlier - dryRun;
	const unknown = failures.filter(isUnknown);
	const failed = failures.filter((failure) => !isUnknown(failure));
	const notSent = failed.length + notStarted;
	const why = [...listReasons(failed), ...(notStarted > 0 ? [`${notStarted} not started`] : [])];
	const unknownItems = nameItems(unknown.map(({ itemIndex }) => itemIndex));
	return [
		...(sent > 0 || scheduled === 0 ? [`${sent} sent`] : []),
		...(scheduled > 0 ? [`${scheduled} scheduled`] : []),
		...(sentEarlier > 0 ? [`${sentEarlier} sent earlier`] : []),
		...(dryRun > 0 ? [`${dryRun} in a dry run`] : []),
		...(notSent > 0 ? [`${notSent} not sent (${why.join('; ')})`] : []),
		...(unknown.length > 0 ? [`${unknown.length} unknown (${unknownItems})`] : []),
	].join(', ');
}
