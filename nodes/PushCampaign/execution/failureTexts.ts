import { secondRetry } from '../send/open';
import type { Problem } from '../service/problems';
import type { Failure } from './names';
import {
	haveOneReason,
	inDigits,
	listSome,
	mostNamed,
	nameCounted,
	nameItems,
	notValid,
	problemsOf,
	reasonsOf,
	toSentences,
} from './names';
import type { FailedItem, RunItem } from './runItem';
import { failuresIn, isGone, sentEarlier, sentNow, unknownIn } from './runItem';
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
}

const callerBegins = 'A Retry of the workflow that called it begins from the beginning.';
const sendsAgain = 'A new execution also sends again what this one has sent.';

const distinct = (sentences: ReadonlyArray<string | undefined>) =>
	[...new Set(sentences)].filter((sentence) => sentence !== undefined).filter(Boolean);

const join = (sentences: ReadonlyArray<string | undefined>) => distinct(sentences).join(' ');

/** An outage and a limit pass by themselves. What else is to be mended may stand in the node. */
const passesByItself = ({ cause }: Problem) =>
	cause === 'temporarily-unavailable' || cause === 'rate-limited';

/** The Retry that is exact: with a draft that was saved meanwhile only where something is to be mended. */
function retryWith(
	problems: readonly Problem[],
	retry: RetryOffer,
	does: string,
	more = '',
): string {
	const which = `'Retry with ${problems.every(passesByItself) ? 'original' : 'currently saved'} workflow'`;
	if (retry === 'none') return '';
	return retry === 'inList'
		? `${which}, in the list of executions, ${does}${more}.`
		: `${which} of this sub-workflow's own execution ${does}. ${callerBegins}`;
}

/** What to do about sends that may have arrived. */
function whereToLook(unknown: number, isToOne: boolean): string {
	const [it, one] = unknown === 1 ? ['it', 'a notification'] : ['them', 'notifications'];
	const arrived = unknown === 1 ? 'it arrived' : 'they arrived';
	if (unknown === 0) return '';
	return isToOne
		? `The dashboard does not list ${one} to one subscriber: ask whether ${arrived}.`
		: `Look for ${it} in the dashboard of your push service. What is not there can be sent from there.`;
}

/** How many items were sent: "8 of 20 were sent." Of one item: that nothing was. */
export function tally(
	items: readonly RunItem[],
	all: number,
	ifNone = all === 1 ? 'Nothing was sent.' : `None of ${inDigits(all)} was sent.`,
): string {
	const unknown = unknownIn(items).length;
	const now = sentNow(items);
	const earlier = sentEarlier(items);
	const were = `${inDigits(now)} of ${inDigits(all)} ${now === 1 ? 'was' : 'were'} sent`;
	if (unknown === all) return '';
	if (earlier > 0) return `${were} now, ${inDigits(earlier)} earlier.`;
	if (now > 0) return `${were}.`;
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
	// Then it is so of all.
	if (isGone(main)) return failures;
	const isAlike = ({ problem }: FailedItem) =>
		type === 'validation' ? problem.type === type : problem.message === message;
	return failures.filter(isAlike);
}

/** Up to ten IDs of subscribers. */
export const idsOf = (
	items: ReadonlyArray<{ readonly subscriberId?: string | undefined }>,
): string => listSome(items.map(({ subscriberId = '' }) => subscriberId));

/** A message tells at most this many reasons why it is unknown. */
const mostReasons = 3;

function unknownMessage(unknown: readonly FailedItem[], all: number): string {
	// After a crash each ID has a reason of its own.
	const each = new Set(unknown.map(({ problem }) => problem.reason ?? ''));
	const reasons = listSome([...each], mostReasons, '; ');
	const one = all === 1 ? 'this' : nameItems(unknown);
	const [it, what] =
		unknown.length === 1
			? ['it', `${one} was`]
			: ['them', `${inDigits(unknown.length)} of ${inDigits(all)} were`];
	return `Do not send ${it} again yet: it is unknown whether ${what} sent (${reasons})`;
}

/** Nothing of a run that is not valid was requested: the reason says that it was not sent. */
function invalidMessage(
	items: readonly RunItem[],
	told: readonly FailedItem[],
	all: number,
): string {
	const left = items.filter(({ how }) => how === 'failed' || how === 'ready').length;
	const messages = problemsOf(told).map(({ message }) => message);
	if (all === 1) return messages.join('; ');
	if (!haveOneReason(told, left)) return notValid(told, all, tally(items, all, 'None was sent.'));
	return toSentences(messages[0] ?? '', sentNow(items) > 0 ? tally(items, all) : '');
}

/** What happened, in one line: n8n's canvas, its toasts and its list of executions show this alone. */
export function messageOfRun(items: readonly RunItem[], main: FailedItem, all: number): string {
	const told = toldWith(main, items);
	if (main.problem.outcome === 'unknown') {
		return toSentences(unknownMessage(told, all), tally(items, all));
	}
	if (main.problem.type === 'validation') return invalidMessage(items, told, all);
	const subscribers = told.length === 1 ? 'subscriber' : 'subscribers';
	const message = isGone(main)
		? `The push service has no ${subscribers} ${idsOf(told)}`
		: main.problem.message;
	return toSentences(message, tally(items, all));
}

/** How the rest goes out, if anything is left that a Retry would send. */
function goOn(
	items: readonly RunItem[],
	{ retry, isTest, hasSentWithoutId }: Circumstances,
): string {
	if (retry === 'none' || isTest) return '';
	const failures = failuresIn(items).filter((failure) => !isGone(failure));
	const problems = failures.map(({ problem }) => problem);
	const isAnyLeft =
		problems.some(({ outcome }) => outcome === 'notSent') ||
		items.some(({ how }) => how === 'ready');
	if (!isAnyLeft) return retry === 'ofSubWorkflow' ? callerBegins : '';
	// A Retry of the one that is refused is refused as well.
	if (problems.includes(secondRetry)) return '';
	const onlyRest = 'sends only what was not sent';
	const rest = retryWith(problems, retry, onlyRest, ', with the items of this execution');
	return hasSentWithoutId ? `${rest} ${sendsAgain}` : rest;
}

/** What the service says, and what to mend. */
export const mendingOf = (failures: readonly Failure[]): string[] =>
	distinct([
		...failures.map(({ problem }) => problem.said),
		...problemsOf(failures).map(({ fix }) => fix),
	]);

/** What a person does about a run that failed. */
export function describeRun(
	items: readonly RunItem[],
	main: FailedItem,
	all: number,
	circumstances: Circumstances,
): string {
	const failures = failuresIn(items);
	const unknown = unknownIn(items);
	const told = toldWith(main, items);
	const others = failures.filter((failure) => !told.includes(failure));
	const whole = reasonsOf(told).join('; ');
	const isCut =
		main.problem.type === 'validation' && whole !== reasonsOf(told, mostNamed).join('; ');
	return join([
		circumstances.isTest ? 'This was a test.' : '',
		unknown.length > 0 && all > 1 ? `Unknown: ${nameCounted(unknown)}.` : '',
		isCut ? `Not valid: ${whole}.` : '',
		others.length > 0 ? `Not sent: ${reasonsOf(others).join('; ')}.` : '',
		...mendingOf(failures),
		whereToLook(unknown.length, circumstances.isToOne),
		goOn(items, circumstances),
	]);
}

/** Which items of a run that goes on were not sent, or may have been, and what to do about those. */
export function describeFailures(items: readonly RunItem[], isToOne: boolean): string {
	const unknown = unknownIn(items);
	const notSent = failuresIn(items).filter(({ problem }) => problem.outcome === 'notSent');
	return join([
		notSent.length > 0 ? `Not sent: ${nameCounted(notSent)}.` : '',
		unknown.length > 0 ? `Unknown: ${nameCounted(unknown)}.` : '',
		whereToLook(unknown.length, isToOne),
	]);
}

/** What to do about one item of a run that goes on. A model is offered no option, and reads that nothing was sent. */
export function describeItem(item: FailedItem, isToOne: boolean, isForModel: boolean): string {
	const isUnknown = item.problem.outcome === 'unknown';
	if (isUnknown && isForModel) {
		return 'Do not call this tool again for it: a person has to look whether it was sent.';
	}
	const nothing = isForModel ? 'Nothing was sent.' : '';
	return join([nothing, ...mendingOf([item]), isUnknown ? whereToLook(1, isToOne) : '']);
}

/** What to do about a read that failed. */
export function describeRead(failure: Failure, retry: RetryOffer): string {
	const goesOn = retryWith([failure.problem], retry, 'goes on from this node');
	return join([...mendingOf([failure]), goesOn]);
}
