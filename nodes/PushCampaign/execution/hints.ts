import { DateTime } from 'luxon';
import type { NodeExecutionHint } from 'n8n-workflow';

import type { PreparedSend } from '../operations/operation';
import { describeRecipients } from '../operations/send';
import { capitalize, clip } from '../service/text';
import type { RunItem } from './runItem';
import { failuresIn, groupBy, reasonsOf, tallyOf, unsendableIn } from './runItem';

// What the editor says above the output of a run.

/** The editor shows hints as HTML. */
const escaped = (text: string) =>
	text
		.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`)
		.replace(/\r?\n/g, '<br>');

const hint = (type: 'info' | 'warning', ...lines: string[]): NodeExecutionHint => ({
	message: lines.join('<br>'),
	type,
	location: 'outputPane',
});

const counted = (count: number, one: string, more = `${one}s`) =>
	`${count.toLocaleString('en-US')} ${count === 1 ? one : more}`;

/** A hint names at most this many audiences. */
const mostAudiences = 3;

/** To whom sends go: `to 3 subscribers`, `each to all subscribers`, `to segment 12; segment 34`. */
function toWhom(sends: readonly PreparedSend[], activeSubscribers?: number): string {
	const names = [
		...new Set(sends.map((send) => clip(describeRecipients(send, activeSubscribers)))),
	];
	if (names.length === 1)
		return escaped(`${sends.length === 1 ? '' : 'each '}to ${names.join('')}`);
	const areSubscribers = sends.every(({ audience }) => audience === 'subscriber');
	if (areSubscribers) return `to ${counted(names.length, 'subscriber')}`;
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

const wereSent = (count: number) => `${counted(count, 'was', 'were')} sent`;

/** What was sent earlier, or by another item: an ID that was sent sends nothing more. */
function saidBefore(items: readonly RunItem[]): string[] {
	const { earlier, repeated } = tallyOf(items);
	const isUnderKey = items.some(({ how }) => how === 'alreadySent');
	const another = isUnderKey ? ": another ID in 'Send Only Once' sends it again" : '';
	return [
		...(earlier > 0 ? [`${wereSent(earlier)} earlier${another}.`] : []),
		...(repeated > 0 ? [`${wereSent(repeated)} by another item of this run.`] : []),
	];
}

/** What was sent to whom, now and earlier, and when it goes out. */
export function sentHints(items: readonly RunItem[]): NodeExecutionHint[] {
	const sends = items.flatMap(({ how, send }) => (how === 'sent' && send ? [send] : []));
	const before = saidBefore(items);
	if (sends.length + before.length === 0 || sends.some((send) => send.isTest)) return [];
	if (sends.length === 0) return [hint('info', ['Nothing was sent now.', ...before].join(' '))];
	const scheduled = sends.filter(({ timing }) => timing.effective !== undefined);
	const time = when(scheduled, 'for');
	if (items.length === 1) {
		const what = time === undefined ? 'Sent' : `Scheduled ${time},`;
		return [hint('info', `${what} ${toWhom(sends)}.`)];
	}
	const what = before.length > 0 ? `${sends.length} sent now,` : `${sends.length} sent:`;
	const lines = [[`${what} ${toWhom(sends)}.`, ...before].join(' ')];
	if (time !== undefined) {
		const areAll = scheduled.length === sends.length;
		lines.push(`${areAll ? 'Scheduled' : `${scheduled.length} of them scheduled`} ${time}.`);
	}
	return [hint('info', ...lines)];
}

/** What was sent now, or would be: an item that has the key of another one would not. */
const sentOrShown = (items: readonly RunItem[]) =>
	items.filter(({ how, first }) => how === 'sent' || (how === 'previewed' && first === undefined));

/** Several campaigns to the same people: everybody there gets each of them. */
export function sameAudienceHints(items: readonly RunItem[]): NodeExecutionHint[] {
	const campaigns = sentOrShown(items).filter(({ send }) => send?.audience !== 'subscriber');
	const nameOf = ({ send, connection }: RunItem) => `${connection?.site} ${send?.recipients}`;
	const groups = [...groupBy(campaigns, nameOf).values()];
	const several = groups.find(({ length }) => length > 1) ?? [];
	const first = several[0]?.send;
	if (first === undefined) return [];
	const whom = escaped(capitalize(clip(describeRecipients(first))));
	const verb = first.audience === 'attributes' ? 'gets' : 'get';
	return [
		hint(
			'warning',
			`${whom} ${verb} each of these ${several.length} notifications. To send one alone, turn on Execute Once in the settings of the node.`,
		),
	];
}

/** Several items without Send Only Once: nothing is known of them after a stop or a crash. */
export function withoutKeysHints(items: readonly RunItem[]): NodeExecutionHint[] {
	if (sentOrShown(items).filter(({ hasKey }) => !hasKey).length < 2) return [];
	return [
		hint(
			'info',
			'If the execution is stopped or n8n crashes while it sends, Retry sends all items again. The option Send Only Once prevents that.',
		),
	];
}

/** A dry run lists at most this many reasons. */
const mostReasons = 20;

/** The notification as subscribers see it, with its whole link. */
function notification({ body }: PreparedSend): string[] {
	const buttons = (body.action_buttons ?? []).map(({ title, url }) => `[${title}] ${url}`);
	return [
		`<b>${escaped(body.title)}</b>`,
		...[body.message, body.target_url, ...buttons].map((line) => escaped(line)),
	];
}

/** To whom a dry run would go, and when: "3 campaigns, each to all 10,000 active subscribers". */
function wouldGo(sends: readonly PreparedSend[], activeSubscribers: number | undefined): string {
	const whom = toWhom(sends, activeSubscribers);
	if (sends.length === 1) return `It would go ${whom} ${when(sends, 'on') ?? 'right away'}:`;
	const isToOne = sends.every(({ audience }) => audience === 'subscriber');
	const what = counted(sends.length, isToOne ? 'notification' : 'campaign');
	return `${what}, ${whom}. The first one:`;
}

/**
 * What a dry run would have sent, and what not.
 * @param activeSubscribers how many the site has, if that is known
 */
export function dryRunHints(
	items: readonly RunItem[],
	activeSubscribers: number | undefined,
): NodeExecutionHint[] {
	const shown = items.filter(({ how }) => how === 'previewed');
	const previews = sentOrShown(shown);
	const unsendable = unsendableIn(items);
	const checked = shown.length + unsendable.length;
	if (checked === 0) return [];
	const [first] = previews;
	const test = first?.test?.body.sid;
	const lines = ['Nothing was sent: this was a dry run.'];
	if (unsendable.length > 0) {
		lines.push(`${previews.length} of ${checked} would be sent. The others would not:`);
		const reasons = reasonsOf(unsendable, mostReasons);
		lines.push(...reasons.map((line) => escaped(capitalize(line))), '');
	}
	if (first?.send !== undefined) {
		const sends = previews.flatMap(({ send }) => send ?? []);
		lines.push(wouldGo(sends, activeSubscribers), ...notification(first.send));
	}
	if (test !== undefined) {
		lines.push(`From the editor, the first item would go to subscriber ${test} alone.`);
	}
	return [hint(unsendable.length > 0 ? 'warning' : 'info', ...lines)];
}

/** Who got the items of a test run, and whom they are meant for. */
export function testHints(items: readonly RunItem[]): NodeExecutionHint[] {
	const tests = items.filter(({ send }) => send?.isTest);
	const rest = items.filter(({ how }) => how === 'toNobody');
	const meant = [...tests, ...rest].flatMap((item) => item.meant ?? []);
	if (meant.length === 0) return [];
	const [sent] = tests.filter(({ how }) => how === 'sent');
	const went =
		sent === undefined
			? 'This was a test, and nothing was sent now.'
			: `This was a test: it went to subscriber ${sent.send?.body.sid} alone.`;
	const others =
		rest.length > 0 ? ` The other ${counted(rest.length, 'item')} went to nobody.` : '';
	return [
		hint('info', `${went}${others} When the workflow runs by itself, it goes ${toWhom(meant)}.`),
	];
}

/**
 * How many items failed in a run that went on, where to look, and what to do.
 * @param step what to do: sentences
 */
export function failedHints(
	items: readonly RunItem[],
	isErrorOutput: boolean,
	step: string,
): NodeExecutionHint[] {
	const failures = failuresIn(items);
	if (failures.length === 0) return [];
	const { unknown } = tallyOf(items);
	const failed = failures.length - unknown.length;
	const all = counted(items.length, 'item');
	const were = unknown.length === 1 ? 'was' : 'were';
	const parts: string[] = [];
	if (failed > 0) parts.push(`${failed} of ${all} failed`);
	if (unknown.length > 0) {
		parts.push(`it is unknown whether ${unknown.length} of ${all} ${were} sent`);
	}
	const where = isErrorOutput ? 'the Error output' : 'the error column';
	return [hint('warning', escaped(`${capitalize(parts.join(', and '))}: see ${where}. ${step}`))];
}

/** That the option Unknown Outcome did its work. */
export function unknownOutcomeHints(items: readonly RunItem[]): NodeExecutionHint[] {
	const choice = items
		.map(({ send }) => send?.options.unknownOutcome)
		.find((each) => each !== undefined && each !== 'report');
	if (choice === undefined) return [];
	const name = choice === 'resend' ? 'Send Again' : 'Count as Sent';
	return [
		hint(
			'warning',
			`'Unknown Outcome' is set to ${name}. Take it out of the options now, so that it decides nothing later.`,
		),
	];
}
