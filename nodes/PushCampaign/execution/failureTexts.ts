import { haveOneReason, nameItems, notValid, reasonsOf, toSentences } from './names';
import type { FailedItem, RunItem } from './runItem';
import { failuresIn, unknownIn } from './runItem';
import type { RetryOffer } from './start';

// What a person reads when a send failed: what is, what to mend, and n8n's own Retry. This node does not know what else the
// workflow has sent, and where its items come from, so nothing here says to run anything again.

/** What the words depend on beside the items. */
export interface Circumstances {
	readonly retry: RetryOffer;
	/** Whether all items have Send Only Once. */
	readonly hasKeys: boolean;
	/** Whether it sends to one subscriber each, which the dashboard does not list. */
	readonly isToOne: boolean;
	/** Whether somebody tries the workflow in the editor and clicks once more, because this execution has sent nothing. */
	readonly isTriedOnceMore: boolean;
	/** Whether the option Unknown Outcome has done its work. */
	readonly hasDecided: boolean;
}

const callerBegins = 'A Retry of the workflow that called it begins from the beginning.';

/** How the rest goes out. */
const restGoesOut: Readonly<Record<RetryOffer, string>> = {
	inList:
		"'Retry with currently saved workflow', in the list of executions, sends only what was not sent, with the items of this execution.",
	ofSubWorkflow: `'Retry with currently saved workflow' of this sub-workflow's own execution sends only what was not sent. ${callerBegins}`,
	none: '',
};
const keysHold = 'An ID that was sent is not sent again.';

/** How a read goes on. */
export const readAgain: Readonly<Record<RetryOffer, string>> = {
	inList:
		"'Retry with currently saved workflow', in the list of executions, goes on from this node.",
	ofSubWorkflow: `'Retry with currently saved workflow' of this sub-workflow's own execution goes on from this node. ${callerBegins}`,
	none: '',
};

/** How to find out whether a send arrived, and what to choose then. */
const look = {
	toMany: {
		one: 'Look for it in the dashboard of your push service.',
		several: 'Look for them in the dashboard of your push service.',
		choose:
			"If it is there, choose Count as Sent under 'Unknown Outcome', if it is not, Send Again.",
		chooseForAll:
			"If they are there, choose Count as Sent under 'Unknown Outcome', if they are not, Send Again.",
	},
	toOne: {
		one: 'The dashboard does not list a notification to one subscriber: ask whether it arrived.',
		several:
			'The dashboard does not list notifications to one subscriber: ask whether they arrived.',
		choose: "If it did, choose Count as Sent under 'Unknown Outcome', if it did not, Send Again.",
		chooseForAll:
			"If they did, choose Count as Sent under 'Unknown Outcome', if they did not, Send Again.",
	},
} as const;
const ofSeveral =
	'The choice counts for all of them; the page Reliability says what to do if only some arrived.';

/** How the choice takes effect. */
const then: Readonly<Record<Exclude<RetryOffer, 'none'>, string>> = {
	inList:
		"Then use 'Retry with currently saved workflow' in the list of executions, and take the option out afterwards.",
	ofSubWorkflow: `Then use 'Retry with currently saved workflow' of this sub-workflow's own execution, and take the option out afterwards. ${callerBegins}`,
};

export const takeOptionOut =
	"Take 'Unknown Outcome' out of the options now, so that it decides nothing later.";

const join = (sentences: ReadonlyArray<string | undefined>) =>
	[...new Set(sentences)].filter((sentence) => sentence !== undefined && sentence !== '').join(' ');

/** What to do about sends that may have arrived. */
function lookFirst(unknown: number, { retry, hasKeys, isToOne }: Circumstances): string {
	const words = look[isToOne ? 'toOne' : 'toMany'];
	const isOne = unknown === 1;
	const where = isOne ? words.one : words.several;
	if (retry === 'none') return join([where, hasKeys ? keysHold : '']);
	if (isOne) return join([where, words.choose, then[retry]]);
	return join([where, words.chooseForAll, ofSeveral, then[retry]]);
}

/** What to do about what is unknown, or else how the rest goes out. */
function goOn(unknown: number, circumstances: Circumstances): string {
	if (unknown > 0) return lookFirst(unknown, circumstances);
	const { retry, hasKeys } = circumstances;
	return retry === 'none' && hasKeys ? keysHold : restGoesOut[retry];
}

/** How many items were sent: "8 of 20 were sent." A run of one item has no tally. */
export function tally(
	items: readonly RunItem[],
	ifNone = `None of ${items.length} was sent.`,
): string {
	if (items.length === 1 || unknownIn(items).length === items.length) return '';
	const sent = items.filter(({ how }) => how === 'sent').length;
	const earlier = items.filter(({ how }) => how === 'sentEarlier' || how === 'alreadySent').length;
	const were = `${sent} of ${items.length} ${sent === 1 ? 'was' : 'were'} sent`;
	if (earlier > 0) return `${were} now, ${earlier} earlier.`;
	if (sent > 0) return `${were}.`;
	return unknownIn(items).length > 0 ? 'None of the others was sent.' : ifNone;
}

const isNoSubscriber = ({ problem, subscriberId }: FailedItem) =>
	problem.type === 'invalid_sid' && subscriberId !== undefined;

/** The failure that a message is about: one that is unknown, or else the first that is more than a missing subscriber. */
export function mainFailure(items: readonly RunItem[]): FailedItem | undefined {
	const failures = failuresIn(items);
	const [unknown] = unknownIn(items);
	return unknown ?? failures.find((failure) => !isNoSubscriber(failure)) ?? failures[0];
}

/** The failures that a message tells with the main one. */
function toldWith(main: FailedItem, items: readonly RunItem[]): FailedItem[] {
	const { outcome, type, message } = main.problem;
	if (outcome === 'unknown') return unknownIn(items);
	const failures = failuresIn(items);
	if (type === 'validation') return failures.filter(({ problem }) => problem.type === type);
	if (isNoSubscriber(main)) return failures.filter(isNoSubscriber);
	return failures.filter(({ problem }) => problem.message === message);
}

/** A message names at most this many subscribers who are not there. */
const mostSubscribers = 10;

function noSubscribers(failures: readonly FailedItem[]): string {
	const ids = failures.map(({ subscriberId }) => subscriberId);
	const named = ids.slice(0, mostSubscribers).join(', ');
	const more = ids.length > mostSubscribers ? ` and ${ids.length - mostSubscribers} more` : '';
	return `The push service has no subscriber${ids.length === 1 ? '' : 's'} ${named}${more}`;
}

function unknownMessage(unknown: readonly FailedItem[], items: number): string {
	const reasons = [...new Set(unknown.map(({ problem }) => problem.reason))].join('; ');
	if (unknown.length > 1) {
		return `Do not send them again yet: it is unknown whether ${unknown.length} of ${items} were sent (${reasons})`;
	}
	const what = items === 1 ? 'this' : nameItems(unknown);
	return `Do not send it again yet: it is unknown whether ${what} was sent (${reasons})`;
}

/** What happened, in one line: n8n's canvas, its toasts and its list of executions show this alone. */
export function messageOfRun(items: readonly RunItem[], main: FailedItem): string {
	const told = toldWith(main, items);
	if (main.problem.outcome === 'unknown') {
		return toSentences(unknownMessage(told, items.length), tally(items));
	}
	const left = items.filter(({ how }) => how === 'failed' || how === 'ready').length;
	if (main.problem.type === 'validation' && !haveOneReason(told, left)) {
		return notValid(told, items.length, tally(items, 'None was sent.'));
	}
	const message = isNoSubscriber(main) ? noSubscribers(told) : main.problem.message;
	return toSentences(message, tally(items));
}

const goesOn = 'With On Error set to Continue, the workflow goes on with the others.';

/** What a person does about a run that failed. */
export function describeRun(
	items: readonly RunItem[],
	main: FailedItem,
	circumstances: Circumstances,
): string {
	const failures = failuresIn(items);
	const unknown = unknownIn(items);
	const told = toldWith(main, items);
	const others = failures.filter((failure) => !told.includes(failure));
	return join([
		unknown.length > 0 && items.length > 1
			? `Unknown: ${nameItems(unknown)} (counted from 0).`
			: '',
		others.length > 0 ? `Not sent: ${reasonsOf(others).join('; ')}.` : '',
		...failures.map(({ problem }) => problem.said),
		...failures.map(({ problem }) => problem.fix),
		isNoSubscriber(main) && circumstances.retry !== 'none' ? goesOn : '',
		unknown.length === 0 && circumstances.isTriedOnceMore
			? ''
			: goOn(unknown.length, circumstances),
		unknown.length === 0 && circumstances.hasDecided ? takeOptionOut : '',
	]);
}

/** Which items of a run that goes on were not sent, or may have been, and what to do about those. */
export function describeFailures(items: readonly RunItem[], circumstances: Circumstances): string {
	const unknown = unknownIn(items);
	const notSent = failuresIn(items).filter((failure) => !unknown.includes(failure));
	const counted = notSent.length > 0 ? '' : ' (counted from 0)';
	return join([
		notSent.length > 0 ? `Not sent: ${nameItems(notSent)} (counted from 0).` : '',
		unknown.length > 0 ? `Unknown: ${nameItems(unknown)}${counted}.` : '',
		goOn(unknown.length, circumstances),
	]);
}

/** The same for one item of a run that goes on. */
export function describeItem({ problem }: FailedItem, circumstances: Circumstances): string {
	const unknown = problem.outcome === 'unknown' ? 1 : 0;
	return join([problem.said, problem.fix, goOn(unknown, circumstances)]);
}

/** What a model reads: it offers no Retry, and no option that it does not see. */
export function describeForModel({ problem }: FailedItem): string {
	if (problem.outcome === 'unknown') {
		return 'Do not call this tool again for it: a person has to look whether it was sent.';
	}
	return join(['Nothing was sent.', problem.said, problem.fix]);
}
