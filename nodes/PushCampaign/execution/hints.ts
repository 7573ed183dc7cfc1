import { DateTime } from 'luxon';
import type { NodeExecutionHint } from 'n8n-workflow';

import type { PreparedSend } from '../operations/send';

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

function scheduledHint(sends: readonly PreparedSend[], now: number): string | undefined {
	const scheduled = sends
		.flatMap(({ schedule, timezone }) => (schedule ? [{ at: schedule.at, timezone }] : []))
		.sort((one, other) => one.at - other.at);
	const first = scheduled.at(0);
	const last = scheduled.at(-1);
	if (first === undefined || last === undefined) return undefined;
	const start = moment(first.at, first.timezone, now);
	const advice = 'To stop what is scheduled, use the dashboard of your push service.';
	if (scheduled.length === 1) return `Scheduled for ${start}. ${advice}`;
	if (first.at === last.at)
		return `${scheduled.length} sends are scheduled for ${start}. ${advice}`;
	const end = moment(last.at, last.timezone, now);
	return `${scheduled.length} sends are scheduled, the first for ${start}, the last for ${end}. ${advice}`;
}

/**
 * What the editor says above the output of a run: that nothing was sent, or when something will be.
 * @param sends those of the run that were accepted, and those that were a dry run
 * @param now milliseconds since 1970
 */
export function executionHints(
	sends: readonly PreparedSend[],
	now: number = Date.now(),
): NodeExecutionHint[] {
	const dryRuns = sends.filter(({ options }) => options.dryRun).length;
	const scheduled = scheduledHint(
		sends.filter(({ options }) => !options.dryRun),
		now,
	);
	const hints: NodeExecutionHint[] = [];
	if (dryRuns > 0) {
		const message =
			dryRuns === sends.length
				? 'Nothing was sent: this was a dry run.'
				: `Nothing was sent for ${dryRuns} of the items: these were a dry run.`;
		hints.push({ message, type: 'info', location: 'outputPane' });
	}
	if (scheduled !== undefined) {
		hints.push({ message: scheduled, type: 'info', location: 'outputPane' });
	}
	return hints;
}
