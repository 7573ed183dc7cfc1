import { DateTime } from 'luxon';
import type { NodeExecutionHint } from 'n8n-workflow';

import type { PreparedSend } from '../operations/operation';
import { shortenText } from '../operations/shortenText';
import { parseUrl } from '../service/address';
import type { ChangeKind } from '../service/kinds';
import { kinds } from '../service/kinds';
import type { Tally } from './itemJob';

/** The editor shows hints as HTML. */
const escaped = (text: string) =>
	text
		.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`)
		.replace(/\r?\n/g, '<br>');

/** `24 Dec 2030 09:00, Europe/Berlin`: on the clock by which the user scheduled it. */
function moment(at: number, timezone: string): string {
	const date = DateTime.fromMillis(at, { zone: timezone, locale: 'en-GB' });
	return `${date.toFormat('d LLL yyyy HH:mm')}, ${timezone}`;
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
	return [`${what}${when}. To stop what is scheduled, use the dashboard of your push service.`];
}

function whom({ attribute, segment, sid }: PreparedSend['body']): string {
	if (attribute !== undefined) {
		const pairs = Object.entries(attribute).map(([name, value]) => `${name} = ${value}`);
		return `every subscriber with ${pairs.join(' or ')}`;
	}
	if (segment !== undefined) {
		return `segment${segment.length === 1 ? '' : 's'} ${segment.join(', ')}`;
	}
	return sid === undefined ? 'all subscribers' : `subscriber ${sid}`;
}

/** So much of whom a send would go to is told: there may be hundreds of segments. */
const whomCharacters = 300;

/** The notification that would go out, to whom and when. */
function preview({ body, schedule, timezone }: PreparedSend): string {
	const to = escaped(shortenText(whom(body), whomCharacters));
	const when = schedule === undefined ? 'at once' : `on ${moment(schedule.at, timezone)}`;
	const host = parseUrl(body.target_url)?.host ?? body.target_url;
	return `would go to ${to} ${when}:<br><b>${escaped(body.title)}</b><br>${escaped(body.message)}<br>${escaped(host)}`;
}

function dryRunHint(sends: readonly PreparedSend[], { items }: Tally): string[] {
	const dryRuns = sends.filter(({ options }) => options.dryRun);
	const [first] = dryRuns;
	if (first === undefined) return [];
	const what =
		dryRuns.length === items
			? 'Nothing was sent: this was a dry run.'
			: `Nothing was sent for ${dryRuns.length} of the ${items} items: these were a dry run.`;
	const which = dryRuns.length === 1 ? 'It' : `The first of ${dryRuns.length}`;
	return [`${what}<br>${which} ${preview(first)}`];
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
 */
export function executionHints(
	sends: readonly PreparedSend[],
	counts: Tally,
	kind: ChangeKind,
): NodeExecutionHint[] {
	const messages = [
		...dryRunHint(sends, counts),
		...doneEarlierHint(counts, kind),
		...scheduledHint(sends),
	];
	return messages.map((message) => ({ message, type: 'info', location: 'outputPane' }));
}
