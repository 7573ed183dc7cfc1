import { DateTime } from 'luxon';
import type { NodeExecutionHint } from 'n8n-workflow';

import type { AudienceSelection } from '../operations/operation';
import type { PreparedSend } from '../operations/send';
import { shortenText } from '../operations/shortenText';
import { parseUrl } from '../service/address';

/** What became of a run's items, as far as its hints tell of it. */
export interface RunSummary {
	/** Those that were accepted, and those that were a dry run. */
	readonly sends: readonly PreparedSend[];
	/** How many were not sent because their idempotency key was sent before. */
	readonly alreadySent: number;
	/** How many it is not known of whether they were sent. */
	readonly unknown: number;
	/** How many there are in all. */
	readonly items: number;
}

/** The editor shows hints as HTML. */
const escaped = (text: string) =>
	text
		.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`)
		.replace(/\r?\n/g, '<br>');

/** `24 Dec 09:00, Europe/Berlin`: on the clock by which the user scheduled it; with the year unless it is this one. */
function moment(at: number, timezone: string, now: number): string {
	const date = DateTime.fromMillis(at, {
		zone: timezone,
		locale: 'en-GB',
		numberingSystem: 'latn',
	});
	const isThisYear = date.year === DateTime.fromMillis(now, { zone: timezone }).year;
	return `${date.toFormat(isThisYear ? 'd LLL HH:mm' : 'd LLL yyyy HH:mm')}, ${timezone}`;
}

function scheduledHint(sends: readonly PreparedSend[], now: number): string[] {
	const scheduled = sends
		.flatMap(({ schedule, timezone }) => (schedule ? [{ at: schedule.at, timezone }] : []))
		.sort((one, other) => one.at - other.at);
	const first = scheduled.at(0);
	const last = scheduled.at(-1);
	if (first === undefined || last === undefined) return [];
	const start = moment(first.at, first.timezone, now);
	const advice = 'To stop what is scheduled, use the dashboard of your push service.';
	if (scheduled.length === 1) return [`Scheduled for ${start}. ${advice}`];
	if (first.at === last.at) {
		return [`${scheduled.length} sends are scheduled for ${start}. ${advice}`];
	}
	const end = moment(last.at, last.timezone, now);
	return [
		`${scheduled.length} sends are scheduled, the first for ${start}, the last for ${end}. ${advice}`,
	];
}

/** So many are named, each so far. */
const named = { most: 5, characters: 60 };

function list(texts: readonly string[], separator: string): string {
	const shown = texts.slice(0, named.most).map((text) => shortenText(text, named.characters));
	const more = texts.length - shown.length;
	return [...shown, ...(more > 0 ? [`${more} more`] : [])].join(separator);
}

function whom({ attribute, segment, sid }: AudienceSelection): string {
	if (attribute !== undefined) {
		const pairs = Object.entries(attribute).map(([name, value]) => `${name} = ${value}`);
		return `every subscriber with ${list(pairs, ' or ')}`;
	}
	if (segment !== undefined) {
		return `segment${segment.length === 1 ? '' : 's'} ${list(segment.map(String), ', ')}`;
	}
	return sid === undefined ? 'all subscribers' : `subscriber ${sid}`;
}

/** The notification that would go out, to whom and when. */
function preview({ body, schedule, timezone }: PreparedSend, now: number): string {
	const when = schedule === undefined ? 'at once' : `on ${moment(schedule.at, timezone, now)}`;
	const host = parseUrl(body.target_url)?.host ?? body.target_url;
	return `would go to ${escaped(whom(body))} ${when}:<br><b>${escaped(body.title)}</b><br>${escaped(body.message)}<br>${escaped(host)}`;
}

function dryRunHint(dryRuns: readonly PreparedSend[], items: number, now: number): string[] {
	const [first] = dryRuns;
	if (first === undefined) return [];
	const isAll = dryRuns.length === items;
	const what = isAll
		? 'Nothing was sent: this was a dry run.'
		: `Nothing was sent for ${dryRuns.length} of the ${items} items: these were a dry run.`;
	const which = dryRuns.length === 1 ? 'It' : `The first of ${dryRuns.length}`;
	return [`${what}<br>${which} ${preview(first, now)}`];
}

function alreadySentHint({ alreadySent, items }: RunSummary, isNothingSent: boolean): string[] {
	if (alreadySent === 0) return [];
	const under = alreadySent === 1 ? 'was sent earlier under its' : 'were sent earlier under their';
	const what = `${alreadySent} of ${items} ${under} idempotency key${alreadySent === 1 ? '' : 's'}`;
	return [isNothingSent ? `Nothing was sent: ${what}.` : `${what}, and not again.`];
}

/**
 * What the editor says above the output of a run: that nothing was sent, and what would have been, or when
 * something will be. Whatever the sends hold, it throws nothing: they have happened.
 * @param now milliseconds since 1970
 */
export function executionHints(run: RunSummary, now: number = Date.now()): NodeExecutionHint[] {
	const dryRuns = run.sends.filter(({ options }) => options.dryRun);
	const accepted = run.sends.filter(({ options }) => !options.dryRun);
	return [
		...dryRunHint(dryRuns, run.items, now),
		...alreadySentHint(run, accepted.length + run.unknown === 0),
		...scheduledHint(accepted, now),
	].map((message) => ({ message, type: 'info', location: 'outputPane' }));
}
