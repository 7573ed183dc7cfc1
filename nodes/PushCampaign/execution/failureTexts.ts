import { secondRetry } from '../send/open';
import type { Problem } from '../service/problems';
import {
	haveOneReason,
	listSome,
	mostNamed,
	nameCounted,
	nameItems,
	notValid,
	reasonsOf,
	toSentences,
} from './names';
import type { FailedItem, ItemThat, RunItem } from './runItem';
import { failuresIn, isGone, unknownIn } from './runItem';
import type { RetryOffer } from './start';

// What a person reads when a send failed: what is, what to mend, and n8n's own Retry. This node does not know what else the
// workflow has sent, and where its items come from, so nothing here says to run anything again.

/** What the words depend on beside the items. */
export interface Circumstances {
	readonly retry: RetryOffer;
	/** Whether it sends to one subscriber each, which the dashboard does not list. */
	readonly isToOne: boolean;
	readonly isTest: boolean;
	/** Whether anything was sent that has no ID: a new execution does not know it. */
	readonly hasSentWithoutId: boolean;
	/** Whether somebody tries the workflow in the editor and clicks once more, because this execution has sent nothing. */
	readonly isTriedOnceMore: boolean;
}

type Offered = Exclude<RetryOffer, 'none'>;

const callerBegins = 'A Retry of the workflow that called it begins from the beginning.';
const whereRetryIs: Readonly<Record<Offered, string>> = {
	inList: ', in the list of executions,',
	ofSubWorkflow: " of this sub-workflow's own execution",
};
const restGoesOut: Readonly<Record<Offered, string>> = {
	inList: 'sends only what was not sent, with the items of this execution.',
	ofSubWorkflow: `sends only what was not sent. ${callerBegins}`,
};
const readGoesOn: Readonly<Record<Offered, string>> = {
	inList: 'goes on from this node.',
	ofSubWorkflow: `goes on from this node. ${callerBegins}`,
};
const sendsAgain = 'A new execution also sends again what this one has sent.';

/** An outage and a limit pass by themselves. What else is to be mended may stand in the node. */
const passesByItself = ({ cause }: Problem) =>
	cause === 'temporarily-unavailable' || cause === 'rate-limited';

/** The Retry that is exact: with a draft that was saved meanwhile only where something is to be mended. */
function retryWith(problems: readonly Problem[], retry: Offered, what: typeof restGoesOut): string {
	const which = problems.every(passesByItself) ? 'original' : 'currently saved';
	return `'Retry with ${which} workflow'${whereRetryIs[retry]} ${what[retry]}`;
}

/** How a read goes on. */
export const readAgain = (problem: Problem, retry: RetryOffer): string =>
	retry === 'none' ? '' : retryWith([problem], retry, readGoesOn);

const look = {
	toMany: {
		one: 'Look for it in the dashboard of your push service. What is not there can be sent from there.',
		several:
			'Look for them in the dashboard of your push service. What is not there can be sent from there.',
	},
	toOne: {
		one: 'The dashboard does not list a notification to one subscriber: ask whether it arrived.',
		several:
			'The dashboard does not list notifications to one subscriber: ask whether they arrived.',
	},
} as const;

const join = (sentences: ReadonlyArray<string | undefined>) =>
	[...new Set(sentences)].filter((sentence) => sentence !== undefined && sentence !== '').join(' ');

function whereToLook(unknown: number, isToOne: boolean): string {
	if (unknown === 0) return '';
	return look[isToOne ? 'toOne' : 'toMany'][unknown === 1 ? 'one' : 'several'];
}

/** How many items were sent: "8 of 20 were sent." Of one item: that nothing was. */
export function tally(
	items: readonly RunItem[],
	all: number,
	ifNone = all === 1 ? 'Nothing was sent.' : `None of ${all.toLocaleString('en-US')} was sent.`,
): string {
	const unknown = unknownIn(items).length;
	if (unknown === all) return '';
	const sent = items.filter(({ how }) => how === 'sent').length;
	const earlier = items.filter((item) => item.how === 'before' && !item.isUnknown).length;
	const were = `${sent.toLocaleString('en-US')} of ${all.toLocaleString('en-US')} ${sent === 1 ? 'was' : 'were'} sent`;
	if (earlier > 0) return `${were} now, ${earlier.toLocaleString('en-US')} earlier.`;
	if (sent > 0) return `${were}.`;
	return unknown > 0 ? 'None of the others was sent.' : ifNone;
}

/** The failure that a message is about: one that is unknown, or else the first that is more than a missing subscriber. */
export function mainFailure(items: readonly RunItem[]): FailedItem | undefined {
	const failures = failuresIn(items);
	const [unknown] = unknownIn(items);
	return unknown ?? failures.find((failure) => !isGone(failure)) ?? failures[0];
}

/** The failures that a message tells with the main one. */
function toldWith(main: FailedItem, items: readonly RunItem[]): FailedItem[] {
	const { outcome, type, message } = main.problem;
	if (outcome === 'unknown') return unknownIn(items);
	const failures = failuresIn(items);
	if (type === 'validation') return failures.filter(({ problem }) => problem.type === type);
	if (isGone(main)) return failures.filter(isGone);
	return failures.filter(({ problem }) => problem.message === message);
}

/** `2 subscribers`, with up to ten of their IDs. */
export const idsOf = (
	items: ReadonlyArray<{ readonly subscriberId?: string | undefined }>,
): string => listSome(items.map(({ subscriberId = '' }) => subscriberId));

/** A message has at most this many reasons: after a crash, each ID has its own. */
const mostReasons = 3;

function unknownMessage(unknown: readonly FailedItem[], items: number): string {
	const each = [...new Set(unknown.map(({ problem }) => problem.reason))];
	const more = each.length - mostReasons;
	const told = more > 0 ? [...each.slice(0, mostReasons), `and ${more} more`] : each;
	const reasons = told.join('; ');
	if (unknown.length > 1) {
		return `Do not send them again yet: it is unknown whether ${unknown.length} of ${items} were sent (${reasons})`;
	}
	const what = items === 1 ? 'this' : nameItems(unknown);
	return `Do not send it again yet: it is unknown whether ${what} was sent (${reasons})`;
}

/** Nothing of a run that is not valid was requested: the reason says that it was not sent. */
function invalidMessage(
	items: readonly RunItem[],
	told: readonly FailedItem[],
	all: number,
): string {
	const left = items.filter(({ how }) => how === 'failed' || how === 'ready').length;
	const messages = told.flatMap(({ problem }) => [problem, ...(problem.others ?? [])]);
	if (all === 1) return messages.map(({ message }) => message).join('; ');
	if (!haveOneReason(told, left)) return notValid(told, all, tally(items, all, 'None was sent.'));
	const isAnySent = items.some(({ how }) => how === 'sent');
	return toSentences(messages[0]?.message ?? '', isAnySent ? tally(items, all) : '');
}

/** What happened, in one line: n8n's canvas, its toasts and its list of executions show this alone. */
export function messageOfRun(items: readonly RunItem[], main: FailedItem, all: number): string {
	const told = toldWith(main, items);
	if (main.problem.outcome === 'unknown') {
		return toSentences(unknownMessage(told, all), tally(items, all));
	}
	if (main.problem.type === 'validation') return invalidMessage(items, told, all);
	const message = isGone(main)
		? `The push service has no subscriber${told.length === 1 ? '' : 's'} ${idsOf(told)}`
		: main.problem.message;
	return toSentences(message, tally(items, all));
}

/** How the rest goes out, if anything is left that a Retry would send. */
function goOn(items: readonly RunItem[], circumstances: Circumstances): string {
	const { retry, isTest, isTriedOnceMore, hasSentWithoutId } = circumstances;
	if (retry === 'none' || isTest) return '';
	const problems = failuresIn(items)
		.filter((failure) => !isGone(failure))
		.map(({ problem }) => problem);
	const isAnyLeft =
		problems.some(({ outcome }) => outcome === 'notSent') ||
		items.some(({ how }) => how === 'ready');
	// A Retry of one that was refused is refused, too.
	const isTaken = problems.includes(secondRetry);
	if (!isAnyLeft || isTaken) return retry === 'ofSubWorkflow' ? callerBegins : '';
	if (isTriedOnceMore) return '';
	const rest = retryWith(problems, retry, restGoesOut);
	return hasSentWithoutId ? `${rest} ${sendsAgain}` : rest;
}

/** What the service says, and what to mend. */
export const mendingOf = (failures: ReadonlyArray<ItemThat<'failed' | 'unsendable'>>) => [
	...failures.map(({ problem }) => problem.said),
	...failures.flatMap(({ problem }) => [problem, ...(problem.others ?? [])]).map(({ fix }) => fix),
];

/** What a person does about a run that failed. */
export function describeRun(
	items: readonly RunItem[],
	main: FailedItem,
	circumstances: Circumstances,
	all: number,
): string {
	const failures = failuresIn(items);
	const unknown = unknownIn(items);
	const told = toldWith(main, items);
	const others = failures.filter((failure) => !told.includes(failure));
	const whole = reasonsOf(told);
	const isCut = whole.join() !== reasonsOf(told, mostNamed).join();
	return join([
		circumstances.isTest ? 'This was a test.' : '',
		unknown.length > 0 && all > 1 ? `Unknown: ${nameCounted(unknown)}.` : '',
		main.problem.type === 'validation' && isCut ? `Not valid: ${whole.join('; ')}.` : '',
		others.length > 0 ? `Not sent: ${reasonsOf(others).join('; ')}.` : '',
		...mendingOf(failures),
		whereToLook(unknown.length, circumstances.isToOne),
		goOn(items, circumstances),
	]);
}

/** Which items of a run that goes on were not sent, or may have been, and what to do about those. */
export function describeFailures(items: readonly RunItem[], isToOne: boolean): string {
	const unknown = unknownIn(items);
	const notSent = failuresIn(items).filter((failure) => !unknown.includes(failure));
	return join([
		notSent.length > 0 ? `Not sent: ${nameCounted(notSent)}.` : '',
		unknown.length > 0 ? `Unknown: ${nameCounted(unknown)}.` : '',
		whereToLook(unknown.length, isToOne),
	]);
}

/** The same for one item of a run that goes on. */
export const describeItem = (item: FailedItem, isToOne: boolean): string =>
	join([...mendingOf([item]), whereToLook(item.problem.outcome === 'unknown' ? 1 : 0, isToOne)]);

/** What a model reads: it offers no Retry, and no option that it does not see. */
export function describeForModel(item: FailedItem): string {
	if (item.problem.outcome === 'unknown') {
		return 'Do not call this tool again for it: a person has to look whether it was sent.';
	}
	return join(['Nothing was sent.', ...mendingOf([item])]);
}
