import { DateTime } from 'luxon';

import type { PreparedSend } from '../operations/operation';
import { describeRecipients } from '../operations/send';
import { capitalize, clip } from '../service/text';
import { adviceOf } from './failureTexts';
import type { Hint, Line } from './hintHtml';
import { info, warning } from './hintHtml';
import { counted, inDigits, nameCounted, problemsOf, reasonsOf } from './names';
import type { Run } from './run';
import type { ItemIn, RunItem } from './runItem';
import { failuresIn, withTitles } from './runItem';

// What the editor says above the output of a run.

const areToOne = (sends: readonly PreparedSend[]) =>
	sends.every(({ audience }) => audience === 'subscriber');

/** To whom sends go: `to 3 subscribers`, `each to all subscribers`, `to 2 audiences`. */
function toWhom(sends: readonly PreparedSend[], activeSubscribers?: number): string {
	const names = new Set(sends.map((send) => clip(describeRecipients(send, activeSubscribers))));
	const [name] = names;
	if (names.size === 1) return `${sends.length === 1 ? '' : 'each '}to ${name}`;
	return `to ${counted(names.size, areToOne(sends) ? 'subscriber' : 'audience')}`;
}

/** `24 Dec 2030 at 09:00, Europe/Berlin`: on the clock by which its user scheduled it. */
function moment({ at, timezone }: { at: number; timezone: string }): string {
	const date = DateTime.fromMillis(at, { zone: timezone, locale: 'en-GB' });
	return `${date.toFormat("d LLL yyyy 'at' HH:mm")}, ${timezone}`;
}

/**
 * When sends go out: `24 Dec 2030 at 09:00, Europe/Berlin, because of quiet hours`; of several, from the first to the last.
 * @param one what stands before the time if there is one
 */
function when(sends: readonly PreparedSend[], one: 'for' | 'on'): string | undefined {
	const moments = sends
		.flatMap(({ timing: { effective, timezone } }) =>
			effective === undefined ? [] : [{ at: effective.at, timezone }],
		)
		.sort((first, second) => first.at - second.at)
		.map(moment);
	const [first] = moments;
	const last = moments.at(-1);
	if (first === undefined) return undefined;
	const why = sends.some(({ timing }) => timing.isMoved) ? ', because of quiet hours' : '';
	return first === last ? `${one} ${first}${why}` : `from ${first} to ${last}${why}`;
}

type GoingOut = ItemIn<'sent' | 'shown'>;

/** What was sent now, or would go out, with an item that it is the same as, or by itself. */
const goingOut = (items: readonly RunItem[]): GoingOut[] =>
	items.filter((item) => item.state === 'sent' || item.state === 'shown');

const withoutDuplicates = (items: readonly RunItem[]): GoingOut[] =>
	goingOut(items).filter(({ sameAs }) => sameAs === undefined);

/** What was sent earlier: by this execution, and under IDs. */
function earlierIn(items: readonly RunItem[]): string {
	const before = items.filter(({ state }) => state === 'before');
	const withId = before.filter(({ key }) => key !== undefined).length;
	const others = before.length - withId;
	return [
		others > 0 ? ` ${counted(others, 'was', 'were')} sent earlier.` : '',
		withId > 0 ? ` ${counted(withId, 'ID was', 'IDs were')} sent earlier.` : '',
	].join('');
}

/** What was sent to whom, now and earlier, and when it goes out. */
function sentHint(items: readonly RunItem[]): Hint {
	const sends = withoutDuplicates(items)
		.filter(({ state }) => state === 'sent')
		.map(({ send }) => send);
	const earlier = earlierIn(items);
	if (sends.length === 0) {
		return earlier === '' ? undefined : info(`Nothing was sent now.${earlier}`);
	}
	const whom = toWhom(sends);
	const scheduled = sends.filter(({ timing }) => timing.effective);
	const time = when(scheduled, 'for');
	if (items.length === 1) {
		return info(`${time === undefined ? 'Sent' : `Scheduled ${time},`} ${whom}.`);
	}
	const sent = `${sends.length} sent${earlier === '' ? ':' : ' now,'} ${whom}.${earlier}`;
	if (time === undefined) return info(sent);
	const areAll = scheduled.length === sends.length;
	return info(sent, `${areAll ? 'Scheduled' : `${scheduled.length} of them scheduled`} ${time}.`);
}

/** How many items are the same notification as another one. */
function sameHint(items: readonly RunItem[]): Hint {
	const same = goingOut(items).filter(({ sameAs }) => sameAs !== undefined);
	const [first] = same;
	if (first === undefined) return undefined;
	const groups = new Set(same.map(({ sameAs }) => sameAs)).size;
	const goes = first.state === 'sent' ? 'was sent' : 'goes out';
	const what = groups === 1 ? 'the same notification: it' : 'the same as another one: each';
	return info(`${same.length + groups} items are ${what} ${goes} once.`);
}

/** What a run that goes on did not send: who is gone, and what is unknown since an earlier execution. */
function reportedHint(items: readonly RunItem[]): Hint {
	const reported = items.filter((item) => item.state === 'reported');
	const gone = reported.filter(({ problem }) => problem.outcome === 'notSent');
	const unknown = reported.filter(({ problem }) => problem.outcome === 'unknown');
	const lines: string[] = [];
	if (gone.length > 0) {
		lines.push(`Not sent: ${nameCounted(gone)}: the push service has no such subscriber.`);
	}
	if (unknown.length > 0) {
		const were = unknown.length === 1 ? 'it was' : 'they were';
		const named = nameCounted(withTitles(unknown));
		lines.push(`Unknown: ${named}: nobody knows whether ${were} sent earlier.`);
	}
	return lines.length > 0 ? warning(...lines) : undefined;
}

/** The notification as subscribers see it. Its addresses open by a click. */
function cardOf({ body }: PreparedSend): Line[] {
	const buttons = (body.action_buttons ?? []).map(({ title, url }) => ({
		of: `[${title}] `,
		link: url,
	}));
	const lines: Line[] = [{ bold: body.title }, body.message, { link: body.target_url }, ...buttons];
	if (body.image !== undefined) lines.push({ of: 'Picture: ', link: body.image });
	if (body.icon !== undefined) lines.push({ of: 'Icon: ', link: body.icon });
	return lines;
}

/** What of a dry run is not valid, and what the run would do, as On Error is set. */
function notValidLines(items: readonly RunItem[], sends: number, isContinuing: boolean): Line[] {
	const invalid = failuresIn(items);
	const advice = adviceOf(invalid);
	if (invalid.length === 0) return [];
	if (items.length === 1) {
		const reasons = problemsOf(invalid).map(({ message }) => message);
		return [`It is not valid: ${reasons.join('; ')}. ${advice}`];
	}
	const are = invalid.length === 1 ? 'is' : 'are';
	const would = isContinuing
		? `${sends} of ${inDigits(items.length)} would be sent. The others would not:`
		: `${invalid.length} of ${counted(items.length, 'item')} ${are} not valid, so none would be sent:`;
	return [would, ...reasonsOf(invalid).map(capitalize), advice];
}

/** The first notification that would go out, to whom, and when: "3 campaigns, each to all 10,000 active subscribers". */
function shownLines(sends: readonly PreparedSend[], isAnySent: boolean, active?: number): Line[] {
	const [first] = sends;
	if (first === undefined) return [];
	const time = when([first], 'on') ?? 'right away';
	const whom = toWhom(sends, active);
	const what = counted(sends.length, areToOne(sends) ? 'notification' : 'campaign');
	const several = `${what}, ${whom}. The first one, ${time}:`;
	const all = sends.length === 1 ? `It would go ${whom} ${time}:` : several;
	return [isAnySent ? all : `The first one that is valid, ${time}:`, ...cardOf(first)];
}

/** What a dry run would have sent, and what not. */
function dryRunHint(
	items: readonly RunItem[],
	{ isContinuing, activeSubscribers }: Circumstances,
): Hint {
	const sends = withoutDuplicates(items).map(({ send }) => send);
	const invalid = notValidLines(items, sends.length, isContinuing);
	const isAnySent = isContinuing || invalid.length === 0;
	const shown = shownLines(sends, isAnySent, activeSubscribers);
	const lines = ['Nothing was sent: this was a dry run.', ...invalid, ...shown];
	const test = items.flatMap((item) => (item.state === 'shown' ? (item.test ?? []) : []))[0];
	if (test !== undefined) {
		const whom = describeRecipients(test);
		lines.push(`From the editor, the first item would go to ${whom} alone.`);
	}
	return invalid.length > 0 ? warning(...lines) : info(...lines);
}

/** Who got the items of a test run, and whom they are meant for. */
function testHint(items: readonly RunItem[]): Hint {
	const meant = withoutDuplicates(items).map(({ send }) => send);
	const sent = items.find(({ state }) => state === 'sent');
	const others = items.filter(({ state }) => state === 'shown').length;
	const went = sent
		? `it went to subscriber ${sent.subscriberId} alone`
		: 'and nothing was sent now';
	const nobody = others > 0 ? ` The other ${counted(others, 'item')} went to nobody.` : '';
	const told = `This was a test${sent ? ': ' : ', '}${went}.${nobody}`;
	if (meant.length === 0) return info(told);
	const go = meant.length === 1 ? 'it goes' : 'they go';
	const time = when(meant, 'on') ?? 'right away';
	return info(`${told} When the workflow runs by itself, ${go} ${toWhom(meant)} ${time}.`);
}

/**
 * How many items failed in a run that went on, and where to look.
 * @param which they are: sentences
 */
export function failedHint(
	failed: number,
	items: number,
	isToErrorOutput: boolean,
	which = '',
): Hint {
	if (failed === 0) return undefined;
	const where = isToErrorOutput ? 'the Error output' : 'the error column';
	const message = `${failed} of ${counted(items, 'item')} failed: see ${where}. ${which}`;
	return warning(message.trim());
}

/** What hints depend on beside the items. */
interface Circumstances {
	readonly kind: Run['kind'];
	readonly isContinuing: boolean;
	readonly isErrorOutput: boolean;
	/** Which items were not sent, or may have been: sentences. */
	readonly which: string;
	readonly activeSubscribers?: number | undefined;
}

/** The hints of a run that sends. */
export function hintsOf(items: readonly RunItem[], circumstances: Circumstances): Hint[] {
	const { kind, isErrorOutput, which } = circumstances;
	const same = sameHint(items);
	if (kind === 'dryRun') return [dryRunHint(items, circumstances), same];
	const sent = kind === 'test' ? testHint(items) : sentHint(items);
	const failed = failedHint(failuresIn(items).length, items.length, isErrorOutput, which);
	return [failed, sent, same, reportedHint(items)];
}
