import { begunBefore } from '../send/open';
import type { Problem } from '../service/problems';
import { underAnotherId } from './duplicates';
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
} from './names';
import type { FailedItem, RunItem } from './runItem';
import { failuresIn, isGone, unknownIn, withTitles } from './runItem';
import { dryRunLeftIn, fixedKey } from './start';

// What a person reads when a send failed: what is, what to mend, and n8n's own Retry. This node does not know what else the
// workflow has sent, and where its items come from, so nothing here says to run anything again.

/** What the words depend on beside the items. */
export interface Circumstances {
	readonly isTest: boolean;
	/** Whether anybody needs to know of n8n's Retry: whoever tries the workflow in the editor clicks once more. */
	readonly offersRetry: boolean;
	/** Whether anything was sent that has no ID: a new execution does not know it. */
	readonly hasSentWithoutId: boolean;
}

const retrySends =
	"n8n's 'Retry' of this execution, in the list of executions, sends only what was not sent, and goes on.";
const allAgain =
	'A new execution, or a Retry of a workflow that called this one, also sends again what this one has sent.';

/** These say themselves what was sent. */
const whole: readonly Problem[] = [begunBefore, dryRunLeftIn, fixedKey];

const distinct = (sentences: ReadonlyArray<string | undefined>) =>
	[...new Set(sentences)].filter((sentence) => sentence !== undefined).filter(Boolean);

/** @param second empty if there is nothing more to say */
export const inSentences = (first: string, second: string): string =>
	second === '' ? first : `${first}. ${second}`;

const join = (sentences: ReadonlyArray<string | undefined>) => distinct(sentences).join(' ');

/** What to do about sends that may have arrived. The advice of a Retry that may not send says it already. */
function whereToLook(unknown: readonly FailedItem[]): string {
	if (unknown.every(({ problem }) => problem === begunBefore)) return '';
	const isOne = unknown.length === 1;
	if (unknown.some(({ subscriberId }) => subscriberId === undefined)) {
		return `Look for ${isOne ? 'it' : 'them'} in the dashboard of your push service. What is not there can be sent from there.`;
	}
	const [one, arrived] = isOne ? ['a notification', 'it'] : ['notifications', 'they'];
	return `The dashboard does not list ${one} to one subscriber: ask whether ${arrived} arrived.`;
}

/** How many of this run's items were sent: "8 of these 20 were sent." In a loop it is one run of many. */
export function tally(items: readonly RunItem[], all = items.length): string {
	const unknown = unknownIn(items).length;
	const now = items.filter(({ state }) => state === 'sent').length;
	const earlier = items.filter(({ state }) => state === 'before').length;
	const wasUnknown = items.some(
		(item) => item.state === 'reported' && item.problem.outcome === 'unknown',
	);
	if (unknown === all) return '';
	if (now + earlier === 0 && !wasUnknown) {
		if (all === 1) return 'This was not sent.';
		return `None of ${unknown > 0 ? 'the others' : `these ${inDigits(all)}`} was sent.`;
	}
	const were = `${inDigits(now)} of these ${inDigits(all)} ${now === 1 ? 'was' : 'were'} sent`;
	if (earlier > 0) return `${were} now, ${inDigits(earlier)} earlier.`;
	return wasUnknown ? `${were} now.` : `${were}.`;
}

/** The failure that a message is about: one that is unknown, or else the first that is more than a missing subscriber. */
export function mainFailure(items: readonly RunItem[]): FailedItem | undefined {
	const failures = failuresIn(items);
	const [unknown] = unknownIn(items);
	return unknown ?? failures.find((failure) => !isGone(failure)) ?? failures[0];
}

function unknownMessage(unknown: readonly FailedItem[], all: number): string {
	const reasons = listSome(distinct(unknown.map(({ problem }) => problem.reason)), '; ');
	const one = all === 1 ? 'this' : nameItems(withTitles(unknown));
	const [it, what] =
		unknown.length === 1
			? ['it', `${one} was`]
			: ['them', `${inDigits(unknown.length)} of these ${inDigits(all)} were`];
	return `Do not send ${it} again yet: it is unknown whether ${what} sent (${reasons})`;
}

/** What is not valid: which items, and why; of one item, or of one reason for all, the reason says it. */
function invalidMessage(items: readonly RunItem[], main: FailedItem): string {
	const all = items.length;
	const invalid = failuresIn(items).filter(({ problem }) => problem.type === 'validation');
	const left = items.filter(({ state }) => state === 'failed' || state === 'ready').length;
	const sent = whole.includes(main.problem) ? '' : tally(items);
	if (all > 1 && !haveOneReason(invalid, left)) return notValid(invalid, all, sent);
	const reasons = all === 1 ? problemsOf([main]) : [main.problem];
	return inSentences(reasons.map(({ message }) => message).join('; '), sent);
}

/** What happened, in one line: n8n's canvas, its toasts and its list of executions show this alone. */
export function messageOfRun(items: readonly RunItem[], main: FailedItem): string {
	if (main.problem.type === 'validation') return invalidMessage(items, main);
	const sent = tally(items);
	const unknown = unknownIn(items);
	if (unknown.length > 0) return inSentences(unknownMessage(unknown, items.length), sent);
	if (!isGone(main)) return inSentences(main.problem.message, sent);
	const ids = failuresIn(items).map(({ subscriberId }) => `${subscriberId}`);
	const subscribers = ids.length === 1 ? 'subscriber' : 'subscribers';
	return inSentences(`The push service has no ${subscribers} ${listSome(ids)}`, sent);
}

/** How the workflow goes on. */
function goOn({ problem }: FailedItem, { offersRetry, hasSentWithoutId }: Circumstances): string {
	if (!offersRetry || problem.fix === underAnotherId) return '';
	return hasSentWithoutId ? `${retrySends} ${allAgain}` : retrySends;
}

/** What the service says, and what to mend: ten sentences of each at most. */
export const adviceOf = (failures: readonly Failure[]): string =>
	join([
		...distinct(failures.map(({ problem }) => problem.said)).slice(0, mostNamed),
		...distinct(problemsOf(failures).map(({ fix }) => fix)).slice(0, mostNamed),
	]);

/** What a person does about a run that failed. The message has said which one is unknown, if it is one. */
export function describeRun(
	items: readonly RunItem[],
	main: FailedItem,
	circumstances: Circumstances,
): string {
	const unknown = unknownIn(items);
	// A Retry of it is refused as well.
	if (main.problem === begunBefore) return adviceOf([main]);
	return join([
		circumstances.isTest ? 'This was a test.' : '',
		unknown.length > 1 ? nameUnknown(unknown) : '',
		adviceOf(failuresIn(items)),
		whereToLook(unknown),
		goOn(main, circumstances),
	]);
}

const nameUnknown = (unknown: readonly FailedItem[]) =>
	`Unknown: ${nameCounted(withTitles(unknown))}.`;

/** Which items of a run that goes on were not sent, or may have been, and what to do about those. */
export function describeFailures(items: readonly RunItem[]): string {
	const unknown = unknownIn(items);
	const notSent = failuresIn(items).filter(({ problem }) => problem.outcome === 'notSent');
	return join([
		notSent.length > 0 ? `Not sent: ${nameCounted(notSent)}.` : '',
		unknown.length > 0 ? nameUnknown(unknown) : '',
		whereToLook(unknown),
	]);
}

/** What to do about one item of a run that goes on. A model is offered no option, and reads that it was not sent. */
export function describeItem(item: FailedItem, isForModel: boolean): string {
	const isUnknown = item.problem.outcome === 'unknown';
	if (isUnknown && isForModel) {
		return 'Do not call this tool again for it: a person has to look whether it was sent.';
	}
	const notSent = isForModel ? 'This was not sent.' : '';
	return join([notSent, adviceOf([item]), isUnknown ? whereToLook([item]) : '']);
}
