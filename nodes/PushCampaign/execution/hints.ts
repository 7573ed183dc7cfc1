import { DateTime } from 'luxon';
import type { NodeExecutionHint } from 'n8n-workflow';

import type { LimitTrace } from '../delivery/job';
import type { TimedSend } from '../operations/operation';
import { shortenText } from '../operations/shortenText';
import { parseUrl } from '../service/address';
import { describeWait } from '../service/text';
import type { Failure, RunEnd } from './tally';
import { describeEnd, reasonsOf } from './tally';

/** What hints say of the sends of a run. */
interface HintedSends {
	/** Those that were accepted, and those of a dry run that would be sent. */
	readonly sends: readonly TimedSend[];
	readonly items: number;
	/** The items of a dry run that would not be sent. */
	readonly refused: readonly Failure[];
	/** How many subscribers the first dry run would reach, if that is known. */
	readonly reached?: number | undefined;
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
function becauseOfQuietHours(sends: readonly TimedSend[], scheduled: number): string {
	const moved = sends.filter(({ options, isMoved }) => isMoved && !options.dryRun).length;
	if (moved === 0) return '';
	if (moved === scheduled) return ', because of quiet hours';
	return `, ${moved} of them because of quiet hours`;
}

function scheduledHint(sends: readonly TimedSend[]): string[] {
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
export function whom({ attribute, segment, sid }: TimedSend['body'], reached?: number): string {
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
function preview({ body, schedule, timezone, isMoved }: TimedSend, reached?: number): string {
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

/** A hint lists at most this many reasons. */
const mostReasons = 20;

/** Which items of a dry run would not be sent, and why: a line for each reason. */
function notSentLines(refused: readonly Failure[]): string[] {
	const inOrder = [...refused].sort((one, other) => one.itemIndex - other.itemIndex);
	const reasons = reasonsOf(inOrder).map(({ reason, items }) => escaped(`${reason}: ${items}`));
	const left = reasons.length - mostReasons;
	if (left <= 0) return reasons;
	return [...reasons.slice(0, mostReasons), `${left} more reasons: see the error column`];
}

function dryRunHint({ sends, items, refused, reached }: HintedSends): NodeExecutionHint[] {
	const accepted = sends.filter(({ options }) => options.dryRun);
	const checked = accepted.length + refused.length;
	if (checked === 0) return [];
	const what =
		checked === items
			? 'Nothing was sent: this was a dry run.'
			: `Nothing was sent for ${checked} of the ${items} items: these were a dry run.`;
	const [first] = accepted;
	const one = refused.length === 0 ? 'It' : 'The one to be sent';
	const which = accepted.length === 1 ? one : `The first of ${accepted.length}`;
	const blankLine = refused.length === 0 ? [] : [''];
	const lines = [
		what,
		...(refused.length === 0
			? []
			: [
					`${accepted.length} of ${checked} would be sent. ${refused.length} of ${checked} would not be sent:`,
					...notSentLines(refused),
				]),
		...(first === undefined ? [] : [...blankLine, `${which} ${preview(first, reached)}`]),
	];
	const type = refused.length === 0 ? 'info' : 'warning';
	return [{ message: lines.join('<br>'), type, location: 'outputPane' }];
}

/**
 * What the editor says above the output of a run: that nothing was sent, and what would have been, or when
 * something will be. Whatever the sends hold, it throws nothing: they have happened.
 */
export function executionHints(hinted: HintedSends): NodeExecutionHint[] {
	const scheduled = scheduledHint(hinted.sends);
	return [
		...dryRunHint(hinted),
		...scheduled.map((message) => ({ message, type: 'info', location: 'outputPane' }) as const),
	];
}

/** Says of how many items the text was not sent, because an earlier item has their key and another text. */
export function droppedHint(count: number): NodeExecutionHint[] {
	if (count === 0) return [];
	const items = count === 1 ? 'item was' : 'items were';
	const message = `${count} ${items} not sent: an earlier item has the same idempotency key but different content.`;
	return [{ message, type: 'warning', location: 'outputPane' }];
}

/**
 * Says above the output how a run ended if items failed or were sent earlier, and where to see why.
 * @param isErrorOutput whether failed items are returned by a second output
 */
export function endHint(run: RunEnd, isErrorOutput: boolean): NodeExecutionHint[] {
	const end = escaped(describeEnd(run));
	if (run.failures.length > 0) {
		const where = isErrorOutput ? 'the Error output' : 'the error column';
		return [{ message: `${end}. See ${where}.`, type: 'warning', location: 'outputPane' }];
	}
	if (!run.counts?.sentEarlier) return [];
	const message = `${end}. What was sent earlier is not sent again.`;
	return [{ message, type: 'info', location: 'outputPane' }];
}

/** Says how long a run waited because the service refused requests for too many. */
export function waitedHint({ refusals, waitedMs }: LimitTrace): NodeExecutionHint[] {
	if (waitedMs <= 0) return [];
	const times = refusals === 1 ? 'once' : `${refusals} times`;
	const message = `The push service said ${times} that there were too many requests, so the run waited ${describeWait(waitedMs)} in total.`;
	return [{ message, type: 'info', location: 'outputPane' }];
}
