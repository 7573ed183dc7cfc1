import { DateTime } from 'luxon';
import type { NodeExecutionHint } from 'n8n-workflow';

import type { PreparedSend } from '../operations/operation';
import { shortenText } from '../operations/shortenText';
import { parseUrl } from '../service/address';
import type { Problem } from '../service/failures';
import type { ChangeKind, Kind } from '../service/kinds';
import { kinds } from '../service/kinds';
import type { Tally } from './itemJob';

/** A run with failed items. */
interface FailedRun {
	readonly items: number;
	readonly kind: Kind;
	/** Missing if the run changes nothing. */
	readonly counts?: Tally | undefined;
	/** Whether failed items are returned by a second output. */
	readonly isErrorOutput: boolean;
}

/** The editor shows hints as HTML. */
export const escaped = (text: string) =>
	text
		.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`)
		.replace(/\r?\n/g, '<br>');

/** `24 Dec 2030 09:00, Europe/Berlin`: on the clock by which the user scheduled it. */
function moment(at: number, timezone: string): string {
	const date = DateTime.fromMillis(at, { zone: timezone, locale: 'en-GB' });
	return `${date.toFormat('d LLL yyyy HH:mm')}, ${timezone}`;
}

/** @param scheduled how many of the sends have a schedule */
function becauseOfQuietHours(sends: readonly PreparedSend[], scheduled: number): string {
	const moved = sends.filter(({ options, isMoved }) => isMoved && !options.dryRun).length;
	if (moved === 0) return '';
	if (moved === scheduled) return ', because of quiet hours';
	return `, ${moved} of them because of quiet hours`;
}

function scheduledHint(sends: readonly PreparedSend[]): string[] {
	const moments = sends
		.filter(({ options }) => !options.dryRun)
		.flatMap(({ schedule, timezone }) => (schedule ? [{ at: schedule.at, timezone }] : []))
		.sort((one, other) => one.at - other.at)
		.map(({ at, timezone }) => moment(at, timezone));
	if (moments.length === 0) return [];
	const [first, last] = [moments.at(0), moments.at(-1)];
	const what = moments.length === 1 ? 'Scheduled' : `${moments.length} sends are scheduled`;
	const when = first === last ? ` for ${first}` : `, the first for ${first}, the last for ${last}`;
	const one = moments.length === 1 ? 'it' : 'one of them';
	const why = becauseOfQuietHours(sends, moments.length);
	return [`${what}${when}${why}. To cancel ${one}, use your push service's dashboard.`];
}

/** @param reached how many active subscribers the site has, if that is known */
export function whom({ attribute, segment, sid }: PreparedSend['body'], reached?: number): string {
	if (attribute !== undefined) {
		const pairs = Object.entries(attribute).map(([name, value]) => `${name} = ${value}`);
		return `every subscriber with ${pairs.join(' or ')}`;
	}
	if (segment !== undefined) {
		return `segment${segment.length === 1 ? '' : 's'} ${segment.join(', ')}`;
	}
	if (sid !== undefined) return `subscriber ${sid}`;
	if (reached === undefined) return 'all subscribers';
	if (reached === 1) return 'the 1 active subscriber';
	return `all ${reached.toLocaleString('en-US')} active subscribers`;
}

/** The longest description of an audience, in characters: there may be hundreds of segments. */
export const whomCharacters = 300;

/** The host of an address, which may be long. */
const hostOf = (url: string) => parseUrl(url)?.host ?? url;

/** The notification that would go out, to whom and when. */
function preview({ body, schedule, timezone, isMoved }: PreparedSend, reached?: number): string {
	const to = escaped(shortenText(whom(body, reached), whomCharacters));
	const why = isMoved ? ', because of quiet hours' : '';
	const when = schedule === undefined ? 'right away' : `on ${moment(schedule.at, timezone)}${why}`;
	const buttons = (body.action_buttons ?? []).map(
		({ title, url }) => `[${escaped(title)}] ${escaped(hostOf(url))}`,
	);
	return [
		`would go to ${to} ${when}:`,
		`<b>${escaped(body.title)}</b>`,
		escaped(body.message),
		escaped(hostOf(body.target_url)),
		...buttons,
	].join('<br>');
}

function dryRunHint(sends: readonly PreparedSend[], { items }: Tally, reached?: number): string[] {
	const dryRuns = sends.filter(({ options }) => options.dryRun);
	const [first] = dryRuns;
	if (first === undefined) return [];
	const what =
		dryRuns.length === items
			? 'Nothing was sent: this was a dry run.'
			: `Nothing was sent for ${dryRuns.length} of the ${items} items: these were a dry run.`;
	const which = dryRuns.length === 1 ? 'It' : `The first of ${dryRuns.length}`;
	return [`${what}<br>${which} ${preview(first, reached)}`];
}

function doneEarlierHint({ items, done, doneEarlier, unknown }: Tally, kind: ChangeKind): string[] {
	if (doneEarlier === 0) return [];
	const word = kinds[kind].change.done;
	const under =
		doneEarlier === 1
			? `was ${word} earlier under its idempotency key`
			: `were ${word} earlier under their idempotency keys`;
	const what = `${doneEarlier} of ${items} ${under}`;
	return [done + unknown === 0 ? `Nothing was ${word}: ${what}.` : `${what}, and not again.`];
}

/**
 * What the editor says above the output of a run: that nothing was sent, and what would have been, or when
 * something will be. Whatever the sends hold, it throws nothing: they have happened.
 * @param sends those that were accepted, and those that were a dry run
 * @param reached how many subscribers the first dry run would reach, if that is known
 */
export function executionHints(
	sends: readonly PreparedSend[],
	counts: Tally,
	kind: ChangeKind,
	reached?: number,
): NodeExecutionHint[] {
	const messages = [
		...dryRunHint(sends, counts, reached),
		...doneEarlierHint(counts, kind),
		...scheduledHint(sends),
	];
	return messages.map((message) => ({ message, type: 'info', location: 'outputPane' }));
}

/** Says of how many items the text was not sent, because an earlier item has their key and another text. */
export function droppedHint(count: number): NodeExecutionHint[] {
	if (count === 0) return [];
	const items = count === 1 ? 'item was' : 'items were';
	const message = `${count} ${items} not sent, because an earlier item with the same idempotency key has another content.`;
	return [{ message, type: 'warning', location: 'outputPane' }];
}

const were = (count: number) => (count === 1 ? 'was' : 'were');

/** How many items of a run failed: a sentence without its end. */
function describeFailed(
	problems: readonly Problem[],
	{ items, kind, counts }: Omit<FailedRun, 'isErrorOutput'>,
): string {
	const { change } = kinds[kind];
	const done = counts === undefined ? 0 : counts.done + counts.doneEarlier;
	const hasDryRun = done + problems.length < items;
	if (change === undefined || hasDryRun) return `${problems.length} of ${items} failed`;
	const unknown = problems.filter(({ outcome }) => outcome === 'unknown').length;
	const notDone = problems.length - unknown;
	if (notDone === items) return `Nothing was ${change.done}`;
	if (items === 1) return `It is unknown whether it was ${change.done}`;
	return [
		`${done} of ${items} ${were(done)} ${change.done}`,
		...(notDone === 0 ? [] : [`${notDone} ${were(notDone)} not`]),
		...(unknown === 0 ? [] : [`for ${unknown} it is unknown`]),
	].join(', ');
}

/**
 * Says above the output of a node that continues how many items failed, and where to see them.
 * @param problems why items failed
 */
export function failedHint(
	problems: readonly Problem[],
	{ isErrorOutput, ...run }: FailedRun,
): NodeExecutionHint[] {
	if (problems.length === 0) return [];
	const where = isErrorOutput ? 'the output Error' : 'the column error';
	const message = `${describeFailed(problems, run)}: see ${where}.`;
	return [{ message, type: 'warning', location: 'outputPane' }];
}
