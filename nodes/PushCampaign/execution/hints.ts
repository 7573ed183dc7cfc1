import { DateTime } from 'luxon';
import type { NodeExecutionHint } from 'n8n-workflow';

import type { PreparedSend } from '../operations/operation';
import { describeRecipients } from '../operations/send';
import { capitalize, clip } from '../service/text';
import { takeOptionOut } from './failureTexts';
import { reasonsOf } from './names';
import type { RunItem } from './runItem';
import { groupBy, sentOrShownIn } from './runItem';

// What the editor says above the output of a run.

/** The editor shows hints as HTML. */
const escaped = (text: string) =>
	text
		.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`)
		.replace(/\r?\n/g, '<br>');

/** What there may be to say. */
type Hint = NodeExecutionHint | undefined;

const hint = (type: 'info' | 'warning', lines: readonly string[]): NodeExecutionHint => ({
	message: lines.join('<br>'),
	type,
	location: 'outputPane',
});
const info = (...lines: string[]) => hint('info', lines);
const warning = (...lines: string[]) => hint('warning', lines);

const counted = (count: number, one: string, more = `${one}s`) =>
	`${count.toLocaleString('en-US')} ${count === 1 ? one : more}`;

const areToOne = (sends: readonly PreparedSend[]) =>
	sends.every(({ audience }) => audience === 'subscriber');

/** A hint names at most this many audiences. */
const mostAudiences = 3;

/** To whom sends go: `to 3 subscribers`, `each to all subscribers`, `to segment 12; segment 34`. */
function toWhom(sends: readonly PreparedSend[], activeSubscribers?: number): string {
	const each = sends.map((send) => clip(describeRecipients(send, activeSubscribers)));
	const names = [...new Set(each)];
	if (names.length === 1) return escaped(`${sends.length === 1 ? '' : 'each '}to ${names[0]}`);
	if (areToOne(sends)) return `to ${counted(names.length, 'subscriber')}`;
	if (names.length > mostAudiences) return `to ${names.length} audiences`;
	return escaped(`to ${names.join('; ')}`);
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

/** What was sent earlier, or by another item: an ID that was sent sends nothing more. */
function saidBefore(items: readonly RunItem[]): string[] {
	const count = (...ways: Array<RunItem['how']>) =>
		items.filter(({ how }) => ways.includes(how)).length;
	const earlier = count('sentEarlier', 'alreadySent');
	const repeated = count('repeated');
	const another = count('alreadySent') > 0 ? ": another ID in 'Send Only Once' sends it again" : '';
	return [
		...(earlier > 0 ? [`${counted(earlier, 'was', 'were')} sent earlier${another}.`] : []),
		...(repeated > 0
			? [`${counted(repeated, 'has', 'have')} the ID of another item, which was sent.`]
			: []),
	];
}

/** What was sent to whom, now and earlier, and when it goes out. */
export function sentHint(items: readonly RunItem[]): Hint {
	const sends = items.filter((item) => item.how === 'sent').map(({ send }) => send);
	const before = saidBefore(items);
	if (sends.length + before.length === 0 || sends.some(({ standsFor }) => standsFor))
		return undefined;
	if (sends.length === 0) return info(['Nothing was sent now.', ...before].join(' '));
	const scheduled = sends.filter(({ timing }) => timing.effective !== undefined);
	const time = when(scheduled, 'for');
	if (items.length === 1) {
		const what = time === undefined ? 'Sent' : `Scheduled ${time},`;
		return info(`${what} ${toWhom(sends)}.`);
	}
	const what = before.length > 0 ? `${sends.length} sent now,` : `${sends.length} sent:`;
	const sent = [`${what} ${toWhom(sends)}.`, ...before].join(' ');
	if (time === undefined) return info(sent);
	const areAll = scheduled.length === sends.length;
	return info(sent, `${areAll ? 'Scheduled' : `${scheduled.length} of them scheduled`} ${time}.`);
}

/** Several campaigns to the same people: everybody there gets each of them. */
export function sameAudienceHint(items: readonly RunItem[]): Hint {
	const campaigns = sentOrShownIn(items).filter(({ send }) => send.audience !== 'subscriber');
	const groups = groupBy(
		campaigns,
		({ send, connection }) => `${connection.site} ${send.recipients}`,
	);
	const several = [...groups.values()].find(({ length }) => length > 1);
	if (several?.[0] === undefined) return undefined;
	const whom = escaped(clip(describeRecipients(several[0].send)));
	return warning(
		`These ${several.length} notifications go to ${whom}, so everybody there gets each of them. To send one alone, turn on Execute Once in the settings of the node.`,
	);
}

/** Several items without Send Only Once: nothing is known of them after a stop or a crash. */
export function withoutKeysHint(items: readonly RunItem[]): Hint {
	const keyless = items.filter((item) => item.how === 'sent' && item.key === undefined);
	if (keyless.length < 2) return undefined;
	return info(
		"If the execution is stopped or n8n crashes while it sends, a Retry sends all items again. An ID under 'Send Only Once' prevents that.",
	);
}

/** A dry run lists at most this many reasons. */
const mostReasons = 20;

/** The notification as subscribers see it, with its whole link, and the times that it has. */
function notification({ body, timing }: PreparedSend): string[] {
	const { timezone, expireAt, quietHours } = timing;
	const buttons = (body.action_buttons ?? []).map(({ title, url }) => `[${title}] ${url}`);
	const lines = [body.message, body.target_url, ...buttons];
	if (expireAt !== undefined) {
		lines.push(`Delivered until ${moment({ at: expireAt.at, timezone })}.`);
	}
	if (quietHours !== undefined) {
		lines.push(`Quiet hours: ${quietHours.from} to ${quietHours.to}, ${quietHours.timezone}.`);
	}
	return [`<b>${escaped(body.title)}</b>`, ...lines.map((line) => escaped(line))];
}

/** To whom a dry run would go, and when: "3 campaigns, each to all 10,000 active subscribers". */
function wouldGo(sends: readonly PreparedSend[], activeSubscribers: number | undefined): string {
	const whom = toWhom(sends, activeSubscribers);
	if (sends.length === 1) return `It would go ${whom} ${when(sends, 'on') ?? 'right away'}:`;
	const what = counted(sends.length, areToOne(sends) ? 'notification' : 'campaign');
	return `${what}, ${whom}. The first one:`;
}

/**
 * What a dry run would have sent, and what not.
 * @param isContinuing whether the run itself would go on after an item that is not valid
 * @param activeSubscribers how many the site has, if that is known
 */
export function dryRunHint(
	items: readonly RunItem[],
	isContinuing: boolean,
	activeSubscribers: number | undefined,
): Hint {
	const shown = items.filter((item) => item.how === 'shown');
	const unsendable = items.filter((item) => item.how === 'unsendable');
	const sends = shown.filter(({ first }) => first === undefined).map(({ send }) => send);
	const checked = shown.length + unsendable.length;
	if (checked === 0) return undefined;
	const lines = ['Nothing was sent: this was a dry run.'];
	if (unsendable.length > 0) {
		const are = unsendable.length === 1 ? 'item is' : 'items are';
		lines.push(
			isContinuing
				? `${sends.length} of ${checked} would be sent. The others would not:`
				: `${unsendable.length} of ${checked} ${are} not valid, so none would be sent:`,
			...reasonsOf(unsendable, mostReasons).map((line) => escaped(capitalize(line))),
			'',
		);
	}
	const [first] = sends;
	if (first !== undefined) {
		const isAnySent = isContinuing || unsendable.length === 0;
		lines.push(isAnySent ? wouldGo(sends, activeSubscribers) : 'The first one that is valid:');
		lines.push(...notification(first));
	}
	const subscriberId = shown[0]?.testSubscriberId;
	if (subscriberId !== undefined) {
		lines.push(`From the editor, the first item would go to subscriber ${subscriberId} alone.`);
	}
	return unsendable.length > 0 ? warning(...lines) : info(...lines);
}

/** Who got the items of a test run, and whom they are meant for. */
export function testHint(items: readonly RunItem[]): Hint {
	const untested = items.filter((item) => item.how === 'untested').map(({ send }) => send);
	const tests = items
		.filter((item) => item.how === 'sent' || item.how === 'failed')
		.filter(({ send }) => send?.standsFor !== undefined);
	const meant = [...tests.flatMap(({ send }) => send?.standsFor ?? []), ...untested];
	if (meant.length === 0) return undefined;
	const sent = tests.find(({ how }) => how === 'sent');
	const went =
		sent === undefined
			? 'This was a test, and nothing was sent now.'
			: `This was a test: it went to subscriber ${sent.send?.body.sid} alone.`;
	const others =
		untested.length > 0 ? ` The other ${counted(untested.length, 'item')} went to nobody.` : '';
	const time = when(meant, 'on') ?? 'right away';
	return info(
		`${went}${others} When the workflow runs by itself, ${meant.length === 1 ? 'it goes' : 'they go'} ${toWhom(meant)} ${time}.`,
	);
}

/**
 * How many items failed in a run that went on, where to look, and which they are.
 * @param which sentences
 */
export function failedHint(
	failed: number,
	items: number,
	isErrorOutput: boolean,
	which = '',
): Hint {
	if (failed === 0) return undefined;
	const where = isErrorOutput ? 'the Error output' : 'the error column';
	const message = `${failed} of ${counted(items, 'item')} failed: see ${where}. ${which}`;
	return warning(escaped(message.trim()));
}

/** That the option Unknown Outcome has done its work. */
export const unknownOutcomeHint = (hasDecided: boolean): Hint =>
	hasDecided ? warning(takeOptionOut) : undefined;
