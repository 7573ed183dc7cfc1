import type { Problem } from '../service/problems';
import type { FailedEnd, ItemEnd, Tally } from './tally';
import { failuresIn, nameItems, subscriberOf, tallyOf } from './tally';

// What a person reads when a send failed. A message says what happened. A description begins with what was sent, and
// then says the one thing to do.

/** How a run can go on. */
export interface Circumstances {
	/** Whether its items have Send Only Once: then running the workflow again sends the rest alone. */
	readonly hasKeys: boolean;
	/** Whether it went on after a failure: then n8n calls it a success, and offers no Retry. */
	readonly isContinuing: boolean;
	/** Whether it sends to one subscriber each, which the dashboard does not list. */
	readonly isToOne: boolean;
}

/** "2 of 3 were sent, 1 not sent." */
function sayWhatWasSent({ items, sent, sentEarlier, repeated, notSent, unknown }: Tally): string {
	const done = sent + sentEarlier + repeated;
	if (done === 0 && unknown === 0) return 'Nothing was sent.';
	if (items === 1) return '';
	const parts: string[] = [];
	if (sentEarlier + repeated === 0)
		parts.push(`${sent} of ${items} ${sent === 1 ? 'was' : 'were'} sent`);
	else parts.push(`${sent} sent now`);
	if (sentEarlier > 0) parts.push(`${sentEarlier} sent earlier`);
	if (repeated > 0) parts.push(`${repeated} sent by another item of this run`);
	if (notSent > 0) parts.push(`${notSent} not sent`);
	if (unknown > 0) parts.push(`${unknown} unknown`);
	return `${parts.join(', ')}.`;
}

/** What to do about a send that may have arrived. */
function lookFirst({ hasKeys, isContinuing, isToOne }: Circumstances): string {
	const look = isToOne
		? 'Do not run it again yet. The dashboard of your push service does not list a notification to one subscriber, so ask the subscriber.'
		: 'Do not run it again yet. Look for the campaign in the dashboard of your push service.';
	if (isContinuing && !hasKeys) {
		return `${look} Only if it did not arrive, run the workflow for this item alone.`;
	}
	const choose = isToOne
		? 'If it did not arrive, choose Send Again under Unknown Outcome in the options, if it did, Count as Sent.'
		: 'If it is not there, choose Send Again under Unknown Outcome in the options, if it is, Count as Sent.';
	const then = hasKeys
		? 'Then run the workflow again, and take the option out afterwards.'
		: "Then use 'Retry with currently saved workflow' in the list of executions, and take the option out afterwards.";
	return `${look} ${choose} ${then}`;
}

/** What to do about an item that was not sent because of what was entered, once that is corrected. */
function correctFirst({ hasKeys }: Circumstances, isNothingSent: boolean): string {
	const sameData = "'Retry' has the same data";
	if (hasKeys) {
		return `Then run the workflow again: ${sameData}, and what was sent is not sent again.`;
	}
	if (isNothingSent) return `Then run the workflow again: ${sameData}.`;
	return `Then run the workflow for these items alone: ${sameData}.`;
}

/** What to do about items that the service or the network did not let through. */
function sendTheRest({ hasKeys, isContinuing }: Circumstances, isNothingSent: boolean): string {
	const again = 'run the workflow again: what was sent is not sent again.';
	if (isContinuing) {
		return hasKeys
			? `Then ${again}`
			: 'Then run the workflow again for the items that were not sent.';
	}
	if (hasKeys) return `Then use 'Retry' in the list of executions, or ${again}`;
	if (isNothingSent) return "Then use 'Retry' in the list of executions.";
	return "Then use 'Retry' in the list of executions: it sends the rest alone. Running the workflow again would send all again.";
}

function nextStep(problem: Problem, circumstances: Circumstances, isNothingSent: boolean): string {
	if (problem.outcome === 'unknown') return lookFirst(circumstances);
	if (problem.remedy === 'correct') return correctFirst(circumstances, isNothingSent);
	return sendTheRest(circumstances, isNothingSent);
}

const join = (...sentences: Array<string | undefined>) =>
	sentences.filter((sentence) => sentence !== undefined && sentence !== '').join(' ');

/** What comes before the next step. */
function fixOf({ fix, remedy }: Problem): string | undefined {
	if (fix !== undefined || remedy === 'mend') return fix;
	return remedy === 'wait' ? 'Wait a moment.' : 'Correct the data.';
}

/** The failure that decides what to do: one that is unknown, or else the first. */
export function mainFailure(ends: readonly ItemEnd[]): FailedEnd | undefined {
	const failures = failuresIn(ends);
	return failures.find(({ problem }) => problem.outcome === 'unknown') ?? failures[0];
}

/** What was sent by a run that failed, and the one thing to do. */
export function describeRun(
	ends: readonly ItemEnd[],
	{ problem }: FailedEnd,
	circumstances: Circumstances,
): string {
	const tally = tallyOf(ends);
	const isNothingSent = tally.sent + tally.sentEarlier + tally.repeated === 0;
	const step = nextStep(problem, circumstances, isNothingSent);
	if (problem.outcome === 'unknown') return join(sayWhatWasSent(tally), step);
	return join(sayWhatWasSent(tally), problem.said, fixOf(problem), step);
}

/** The same for one item, where its run went on. */
export function describeItem(problem: Problem, circumstances: Circumstances): string {
	const step = nextStep(problem, circumstances, true);
	if (problem.outcome === 'unknown') return step;
	return join('It was not sent.', problem.said, fixOf(problem), step);
}

/**
 * How many items are not valid, the first one's reason, and which others; of one item, and of what fails once for all, no
 * more than the reason.
 */
export function messageOfRun(ends: readonly ItemEnd[], failure: FailedEnd): string {
	const { message, type } = failure.problem;
	const failures = failuresIn(ends);
	const isForAll = failures.every(({ problem }) => problem === failure.problem);
	if (ends.length === 1 || (failures.length > 1 && isForAll)) return message;
	const subscriber = subscriberOf(failure);
	if (type !== 'validation') {
		const isNamed = subscriber === undefined || message.includes(subscriber);
		return isNamed ? message : `${message} (subscriber ${subscriber})`;
	}
	const notValid = failures.filter(({ problem }) => problem.type === 'validation');
	const others = notValid.filter((each) => each !== failure);
	const are = notValid.length === 1 ? 'is' : 'are';
	const first = `item ${failure.index}${subscriber === undefined ? '' : `, subscriber ${subscriber}`}`;
	const also = others.length === 0 ? '' : `; also ${nameItems(others)}`;
	return `${notValid.length} of ${ends.length} items ${are} not valid: ${message} (${first}${also})`;
}
