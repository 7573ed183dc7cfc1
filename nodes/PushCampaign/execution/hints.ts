import { DateTime } from 'luxon';
import type { NodeExecutionHint } from 'n8n-workflow';

import type { PreparedSend } from '../operations/operation';
import { describeRecipients } from '../operations/send';
import { capitalize, clip } from '../service/text';
import type { ItemEnd } from './tally';
import { failuresIn, groupByReason, nameItems, tallyOf, unsendableIn } from './tally';

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

/** `24 Dec 2030 09:00, Europe/Berlin`: on the clock by which its user scheduled it. */
function moment({ timing: { effective, timezone } }: PreparedSend): string | undefined {
	if (effective === undefined) return undefined;
	const date = DateTime.fromMillis(effective.at, { zone: timezone, locale: 'en-GB' });
	return `${date.toFormat('d LLL yyyy HH:mm')}, ${timezone}`;
}

/** `for 24 Dec 2030 09:00, Europe/Berlin, because of quiet hours`; of several, from the first to the last. */
function forWhen(sends: readonly PreparedSend[]): string | undefined {
	const inOrder = [...sends].sort(
		(one, other) => (one.timing.effective?.at ?? 0) - (other.timing.effective?.at ?? 0),
	);
	const moments = inOrder.map(moment).filter((each) => each !== undefined);
	const [first] = moments;
	const last = moments.at(-1);
	if (first === undefined) return undefined;
	const why = sends.some(({ timing }) => timing.isMoved) ? ', because of quiet hours' : '';
	return first === last ? `for ${first}${why}` : `from ${first} to ${last}${why}`;
}

/** What was sent to whom, now and earlier, and when it goes out. */
export function sentHints(ends: readonly ItemEnd[]): NodeExecutionHint[] {
	const { items, sent, sentEarlier, repeated } = tallyOf(ends);
	const sends = ends.flatMap(({ how, send }) => (how === 'sent' && send ? [send] : []));
	const isTest = sends.some((send) => send.isTest);
	if (sent + sentEarlier + repeated === 0 || isTest) return [];
	const when = forWhen(sends);
	if (items === 1 && sent === 1) {
		const what = when === undefined ? 'Sent' : `Scheduled ${when},`;
		return [hint('info', `${what} ${toWhom(sends)}.`)];
	}
	const parts = [`${sent} sent${sentEarlier + repeated > 0 ? ' now' : ''}`];
	if (sentEarlier > 0) parts.push(`${sentEarlier} sent earlier`);
	if (repeated > 0) parts.push(`${repeated} sent by another item of this run`);
	const lines = [`${parts.join(', ')}${sent > 0 ? `: ${toWhom(sends)}` : ''}.`];
	if (when !== undefined) {
		const scheduled = sends.filter(({ timing }) => timing.effective !== undefined);
		const areAll = scheduled.length === sends.length;
		lines.push(`${areAll ? 'Scheduled' : `${scheduled.length} of them scheduled`} ${when}.`);
	}
	return [hint('info', ...lines)];
}

/** Several campaigns to the same people: everybody there gets each of them. */
export function sameAudienceHints(ends: readonly ItemEnd[]): NodeExecutionHint[] {
	const sends = ends.flatMap(({ how, send }) =>
		send !== undefined && (how === 'sent' || how === 'previewed') ? [send] : [],
	);
	const campaigns = new Map<string, PreparedSend[]>();
	for (const send of sends.filter(({ audience }) => audience !== 'subscriber')) {
		campaigns.set(send.recipients, [...(campaigns.get(send.recipients) ?? []), send]);
	}
	const [several] = [...campaigns.values()].filter(({ length }) => length > 1);
	const [first] = several ?? [];
	if (several === undefined || first === undefined) return [];
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
export function withoutKeysHints(ends: readonly ItemEnd[], hasKeys: boolean): NodeExecutionHint[] {
	const sends = ends.filter(({ how }) => how === 'sent' || how === 'previewed');
	if (hasKeys || sends.length < 2) return [];
	return [
		hint(
			'info',
			'If the execution is stopped or n8n crashes while it sends, Retry sends all items again. The option Send Only Once prevents that.',
		),
	];
}

/** A dry run lists at most this many reasons. */
const mostReasons = 20;

function unsendableLines(ends: readonly ItemEnd[]): string[] {
	const groups = [...groupByReason(unsendableIn(ends))];
	const lines = groups.map(([reason, failures]) => `${nameItems(failures)}: ${clip(reason)}`);
	const more = lines.length - mostReasons;
	return [
		...lines.slice(0, mostReasons).map((line) => escaped(capitalize(line))),
		...(more > 0 ? [`${counted(more, 'more reason')}: see the error column`] : []),
	];
}

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
	if (sends.length === 1) return `It would go ${whom}, ${forWhen(sends) ?? 'right away'}:`;
	const isToOne = sends.every(({ audience }) => audience === 'subscriber');
	const what = counted(sends.length, isToOne ? 'notification' : 'campaign');
	return `${what}, ${whom}. The first one:`;
}

/**
 * What a dry run would have sent, and what not.
 * @param activeSubscribers how many the site has, if that is known
 */
export function dryRunHints(
	ends: readonly ItemEnd[],
	activeSubscribers: number | undefined,
): NodeExecutionHint[] {
	const previews = ends.filter(({ how }) => how === 'previewed');
	const unsendable = unsendableIn(ends);
	const checked = previews.length + unsendable.length;
	if (checked === 0) return [];
	const [first] = previews;
	const test = first?.test?.body.sid;
	const lines = ['Nothing was sent: this was a dry run.'];
	if (unsendable.length > 0) {
		lines.push(`${previews.length} of ${checked} would be sent. The others would not:`);
		lines.push(...unsendableLines(ends), '');
	}
	if (first?.send !== undefined) {
		const sends = previews.flatMap(({ send }) => send ?? []);
		lines.push(wouldGo(sends, activeSubscribers), ...notification(first.send));
	}
	if (test !== undefined) {
		lines.push(`From the editor, the first item would go to subscriber ${escaped(test)} alone.`);
	}
	return [hint(unsendable.length > 0 ? 'warning' : 'info', ...lines)];
}

/** Who got the items of a test run, and whom they are meant for. */
export function testHints(ends: readonly ItemEnd[]): NodeExecutionHint[] {
	const test = ends.find(({ send }) => send?.isTest);
	if (test === undefined) return [];
	const rest = ends.filter(({ how }) => how === 'toNobody');
	const meant = [test, ...rest].flatMap((end) => end.meant ?? end.send ?? []);
	const went =
		test.how === 'sent'
			? `This was a test: it went to subscriber ${test.send?.body.sid ?? ''} alone.`
			: 'This was a test, and nothing was sent.';
	return [
		hint(
			'info',
			[
				went,
				...(rest.length > 0 ? [`The other ${counted(rest.length, 'item')} went to nobody.`] : []),
				`When the workflow runs by itself, it goes ${toWhom(meant)}.`,
			].join(' '),
		),
	];
}

/**
 * How many items failed in a run that went on, where to look, and what to do.
 * @param step what to do: sentences
 */
export function failedHints(
	ends: readonly ItemEnd[],
	isErrorOutput: boolean,
	step: string,
): NodeExecutionHint[] {
	const failures = failuresIn(ends);
	if (failures.length === 0) return [];
	const where = isErrorOutput ? 'the Error output' : 'the error column';
	const failed = `${failures.length} of ${counted(ends.length, 'item')} failed: see ${where}.`;
	return [hint('warning', escaped(`${failed} ${step}`))];
}

/** That the option Unknown Outcome did its work. */
export function unknownOutcomeHints(ends: readonly ItemEnd[]): NodeExecutionHint[] {
	const choice = ends
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
