import { isKeyBlank } from '../operations/options';
import type { SentBefore } from '../send/open';
import type { Problem } from '../service/problems';
import { capitalize } from '../service/text';
import type { FailedItem, RunItem } from './runItem';
import { failuresIn, haveOneProblem, nameItems, notValid, tallyOf } from './runItem';

// What a person reads when a send failed: what was sent; what must not be done, if anything; the one thing to do.

/** What the next step depends on, beside the problem. */
export interface Circumstances {
	/** Whether all items have Send Only Once, those that were sent earlier too: then running it again sends the rest alone. */
	readonly hasKeys: boolean;
	/** Whether one of them is left blank: then a text that has changed is sent. */
	readonly areKeysMade: boolean;
	/** Whether n8n offers no Retry: the run went on after the failure, was canceled, or is a call of an agent's tool. */
	readonly isContinuing: boolean;
	/** Whether it sends to one subscriber each, which the dashboard does not list. */
	readonly isToOne: boolean;
	/** Whether another workflow called this one: other calls may have sent, and its Retry begins from the beginning. */
	readonly isSubWorkflow: boolean;
	/** Whether this node sent anything, or may have: in this run, or before it in this execution. */
	readonly isAnySent: boolean;
	/** Whether other nodes of this execution sent what a new run would send again. */
	readonly haveOthersSent: boolean;
	/** Whether it is unknown of several items whether they were sent. */
	readonly areUnknown: boolean;
}

/** What of them the items of a run say, and what was sent before it. */
export function circumstancesOf(items: readonly RunItem[], sentBefore: SentBefore) {
	const { sent, earlier, repeated, unknown } = tallyOf(items);
	return {
		// A test has no key.
		hasKeys: !sentBefore.byThisNode && items.every(({ hasKey, send }) => hasKey && !send?.isTest),
		areKeysMade: items.some(
			({ send, parameters }) => send?.options.idempotencyKey === '' || isKeyBlank(parameters),
		),
		isAnySent: sent + earlier + repeated + unknown.length > 0 || sentBefore.byThisNode,
		haveOthersSent: sentBefore.byOthers,
		areUnknown: unknown.length > 1,
	};
}

/** "2 of 3 were sent, 1 not sent." A run of one item has no tally. */
function sayWhatWasSent(
	items: readonly RunItem[],
	{ isSubWorkflow, isAnySent, haveOthersSent }: Circumstances,
): string {
	const { sent, earlier, repeated, notSent, unknown } = tallyOf(items);
	if (sent + earlier + repeated + unknown.length === 0) {
		if (isAnySent || haveOthersSent) return 'Nothing was sent by this run of the node.';
		return isSubWorkflow ? 'Nothing was sent by this call.' : 'Nothing was sent.';
	}
	if (items.length === 1) return '';
	const now = `${sent} of ${items.length} ${sent === 1 ? 'was' : 'were'} sent`;
	const parts = [
		earlier + repeated === 0 ? now : `${sent} sent now`,
		earlier > 0 ? `${earlier} sent earlier` : '',
		repeated > 0 ? `${repeated} sent by another item of this run` : '',
		notSent > 0 ? `${notSent} not sent` : '',
		unknown.length > 0 ? `${unknown.length} unknown: ${nameItems(unknown)} (counted from 0)` : '',
	];
	return `${parts.filter((part) => part !== '').join(', ')}.`;
}

const runAgain = 'run the workflow again: what was sent is not sent again';
export const ownRetry =
	"of the sub-workflow's own execution, not of the workflow that called it, which would send all again";

/** How to find out whether a send arrived, and what to ask then: of one that is unknown, or of several. */
const questions = {
	toMany: {
		one: {
			look: 'Look for the campaign in the dashboard of your push service.',
			...{ all: 'Is it there?', some: '', none: 'Is it not there?' },
		},
		several: {
			look: 'Look for the campaigns in the dashboard of your push service.',
			...{ all: 'Are they all there?', some: 'Are only some there?', none: 'Is none there?' },
		},
	},
	toOne: {
		one: {
			look: 'The dashboard of your push service does not list a notification to one subscriber, so ask the subscriber.',
			...{ all: 'Did it arrive?', some: '', none: 'Did it not arrive?' },
		},
		several: {
			look: 'The dashboard of your push service does not list notifications to one subscriber, so ask the subscribers.',
			...{ all: 'Did all arrive?', some: 'Did only some arrive?', none: 'Did none arrive?' },
		},
	},
};

/** What to do about a send that may have arrived. */
function lookFirst(circumstances: Circumstances): string[] {
	const { hasKeys, isContinuing, isToOne, isSubWorkflow, areUnknown } = circumstances;
	const { look, all, some, none } =
		questions[isToOne ? 'toOne' : 'toMany'][areUnknown ? 'several' : 'one'];
	const begin = ['Do not run it again yet.', look];
	if (isContinuing && !hasKeys) {
		const missing = isToOne ? 'did not arrive' : 'are not there';
		const alone = `Run the workflow with the items alone that ${missing}.`;
		return [...begin, areUnknown ? alone : `${none} Run the workflow with this item alone.`];
	}
	const choose = `${all} Choose Count as Sent under 'Unknown Outcome' in the options. ${none} Choose Send Again.`;
	const divide = hasKeys
		? `${some} Choose Count as Sent and run the workflow with those alone first, then choose Send Again.`
		: `${some} Choose Count as Sent, and run the workflow with the others alone afterwards.`;
	const place = isSubWorkflow ? ownRetry : 'in the list of executions';
	const step = hasKeys
		? 'run the workflow again'
		: `use 'Retry with currently saved workflow' ${place}`;
	const last = `Then ${step}, and take the option out afterwards.`;
	return [...begin, choose, ...(areUnknown ? [divide] : []), last];
}

/** What to do about an item that was not sent because of what was entered. */
function correctFirst(fix: string, circumstances: Circumstances): string[] {
	const { hasKeys, areKeysMade, isContinuing, isSubWorkflow, isAnySent } = circumstances;
	// n8n offers no Retry for a run that went on.
	const oldData = isContinuing ? '' : ", as 'Retry' would use the old data";
	if (hasKeys) return [fix, `Then ${runAgain}${areKeysMade ? ' unless it has changed' : ''}.`];
	if (!isAnySent && !isSubWorkflow) return [fix, `Then run the workflow again${oldData}.`];
	const again = isAnySent
		? sendsAgain
		: 'Running the workflow that called this one would send again what its other calls sent.';
	return [again, fix, `Then run the workflow with the items alone that were not sent${oldData}.`];
}

/** What to do about items that the service or the network did not let through. */
function sendTheRest(fix: string | undefined, circumstances: Circumstances): string[] {
	const { hasKeys, isContinuing, isSubWorkflow, isAnySent } = circumstances;
	const then = (step: string) => (fix === undefined ? [capitalize(step)] : [fix, `Then ${step}`]);
	if (isContinuing) {
		if (hasKeys) return then(`${runAgain}.`);
		if (!isAnySent && !isSubWorkflow) return then('run the workflow again.');
		return then('run the workflow with the items alone that were not sent.');
	}
	if (hasKeys) return then(`use 'Retry' in the list of executions, or ${runAgain}.`);
	if (isSubWorkflow) return then(`use 'Retry' ${ownRetry}.`);
	if (!isAnySent) return then("use 'Retry' in the list of executions.");
	return then(
		"use 'Retry' in the list of executions: it sends the rest alone. Running the workflow again would send all again.",
	);
}

const sendsAgain = 'Running the workflow again would send again what was sent.';
/** What other nodes have sent concerns each step that runs the workflow. */
const warnOfOthers = ({ haveOthersSent }: Circumstances) =>
	haveOthersSent
		? 'Other Push Campaign nodes have sent already: deactivate them before you run the workflow again.'
		: '';

function nextSteps({ fix, remedy, outcome }: Problem, given: Circumstances) {
	if (outcome === 'unknown') return [fix, ...lookFirst(given)];
	if (remedy === 'said') return [given.isAnySent && !given.hasKeys ? sendsAgain : '', fix];
	if (remedy === 'correct') return correctFirst(fix ?? 'Correct the data.', given);
	return sendTheRest(fix ?? 'Wait a moment.', given);
}

const join = (...sentences: ReadonlyArray<string | undefined>) =>
	sentences.filter((sentence) => sentence !== undefined && sentence !== '').join(' ');

/** The failure that decides what to do: one that is unknown, or else the first. */
export function mainFailure(items: readonly RunItem[]): FailedItem | undefined {
	const failures = failuresIn(items);
	return failures.find(({ problem }) => problem.outcome === 'unknown') ?? failures[0];
}

/** Items beside one that is unknown were not sent, and a run that can't be retried has to name them, too. */
const ofRun = (items: readonly RunItem[], given: Circumstances): Circumstances => ({
	...given,
	areUnknown: given.areUnknown || (given.isContinuing && !given.hasKeys && items.length > 1),
});

/** What a run sent that failed, and the one thing to do. */
export function describeRun(
	items: readonly RunItem[],
	problem: Problem,
	circumstances: Circumstances,
): string {
	const said = problem.outcome === 'unknown' ? undefined : problem.said;
	return join(
		sayWhatWasSent(items, circumstances),
		warnOfOthers(circumstances),
		said,
		...nextSteps(problem, ofRun(items, circumstances)),
	);
}

/** The same for one item, where its run went on. With keys, the choice is for all items that are unknown. */
export function describeItem(problem: Problem, circumstances: Circumstances): string {
	const areUnknown = circumstances.areUnknown && circumstances.hasKeys;
	const steps = nextSteps(problem, { ...circumstances, areUnknown });
	const others = warnOfOthers(circumstances);
	if (problem.outcome === 'unknown') return join(others, ...steps);
	return join('It was not sent.', others, problem.said, ...steps);
}

/** What happened, in one line: n8n's canvas shows this alone. */
export function messageOfRun(items: readonly RunItem[], failure: FailedItem): string {
	const { message, type, outcome } = failure.problem;
	const { subscriberId } = failure;
	const failures = failuresIn(items);
	const isNamed =
		items.length === 1 ||
		subscriberId === undefined ||
		message.includes(subscriberId) ||
		haveOneProblem(failures);
	const named = isNamed ? message : `${message} (subscriber ${subscriberId})`;
	if (outcome === 'unknown') {
		return `Do not run it again yet: ${named.charAt(0).toLowerCase()}${named.slice(1)}`;
	}
	return type === 'validation' ? notValid(failures, items.length) : named;
}

/** How a run ended that n8n stopped, by its user or by the workflow's time limit: n8n offers no Retry there. */
export function describeCanceled(items: readonly RunItem[], circumstances: Circumstances) {
	const { unknown } = tallyOf(items);
	const given = ofRun(items, { ...circumstances, isContinuing: true });
	const steps = unknown.length > 0 ? lookFirst(given) : sendTheRest(undefined, given);
	const tally = sayWhatWasSent(items, circumstances);
	return {
		message: join('The execution was canceled.', tally),
		description: join(warnOfOthers(circumstances), ...steps),
	};
}
