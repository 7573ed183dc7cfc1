import { DateTime } from 'luxon';

import type { PreparedSend } from '../operations/operation';
import { describeRecipients } from '../operations/send';
import { capitalize, clip } from '../service/text';
import { isToMany, meantBy } from './duplicates';
import { idsOf, mendingOf } from './failureTexts';
import { counted, groupBy, listSome, mostNamed, reasonsOf } from './names';
import type { Hint, Line } from './results';
import { failedHint, info, warning } from './results';
import type { ItemThat, RunItem } from './runItem';
import { failuresIn, sentEarlier } from './runItem';
import type { Run } from './start';

// What the editor says above the output of a run.

const areToOne = (sends: readonly PreparedSend[]) =>
	sends.every(({ audience }) => audience === 'subscriber');

/** A hint names at most this many audiences. */
const mostAudiences = 3;

/** To whom sends go: `to 3 subscribers`, `each to all subscribers`, `to segment 12; segment 34`. */
function toWhom(sends: readonly PreparedSend[], activeSubscribers?: number): string {
	const each = sends.map((send) => clip(describeRecipients(send, activeSubscribers)));
	const names = [...new Set(each)];
	if (names.length === 1) return `${sends.length === 1 ? '' : 'each '}to ${names[0]}`;
	if (areToOne(sends)) return `to ${counted(names.length, 'subscriber')}`;
	if (names.length > mostAudiences) return `to ${names.length} audiences`;
	return `to ${names.join('; ')}`;
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

type GoingOut = ItemThat<'sent' | 'shown'>;

/** What was sent now, or would go out, with an item that it is the same as, or by itself. */
const goingOut = (items: readonly RunItem[]): GoingOut[] =>
	items.filter((item) => item.how === 'sent' || item.how === 'shown');

const firstsIn = (items: readonly RunItem[]): GoingOut[] =>
	goingOut(items).filter(({ sameAs }) => sameAs === undefined);

/** What was sent to whom, now and earlier, and when it goes out. */
function sentHint(items: readonly RunItem[]): Hint {
	const sends = firstsIn(items)
		.filter(({ how }) => how === 'sent')
		.map(({ send }) => send);
	const before = sentEarlier(items);
	const earlier = before > 0 ? ` ${counted(before, 'was', 'were')} sent earlier.` : '';
	if (sends.length + before === 0) return undefined;
	if (sends.length === 0) return info(`Nothing was sent now.${earlier}`);
	const whom = toWhom(sends);
	const scheduled = sends.filter(({ timing }) => timing.effective);
	const time = when(scheduled, 'for');
	if (items.length === 1)
		return info(`${time === undefined ? 'Sent' : `Scheduled ${time},`} ${whom}.`);
	const sent = `${sends.length} sent${before > 0 ? ' now,' : ':'} ${whom}.${earlier}`;
	if (time === undefined) return info(sent);
	const areAll = scheduled.length === sends.length;
	return info(sent, `${areAll ? 'Scheduled' : `${scheduled.length} of them scheduled`} ${time}.`);
}

/** Items that are the same notification. */
function sameHint(items: readonly RunItem[]): Hint {
	const same = goingOut(items).filter(({ sameAs }) => sameAs !== undefined);
	const [first] = same;
	if (first === undefined) return undefined;
	const goes = first.how === 'sent' ? 'was sent' : 'goes out';
	if (new Set(same.map(({ sameAs }) => sameAs)).size > 1) {
		return info(
			`${same.length} items are the same notification as another item: each ${goes} once.`,
		);
	}
	const whom = toWhom([meantBy(first)]);
	return info(`${same.length + 1} items are the same notification ${whom}: it ${goes} once.`);
}

/** Several campaigns to the same people: everybody there gets each of them. */
function sameAudienceHint(items: readonly RunItem[]): Hint {
	const campaigns = firstsIn(items).filter(isToMany);
	const audienceOf = (item: GoingOut) => `${item.connection.site} ${meantBy(item).recipients}`;
	const several = [...groupBy(campaigns, audienceOf).values()].find(({ length }) => length > 1);
	if (several === undefined) return undefined;
	const whom = toWhom([meantBy(several[0])]);
	return warning(
		`These ${several.length} notifications go ${whom}, so everybody there gets each of them.`,
	);
}

/** Who is not there any more, of a run that reached others. */
function goneHint(items: readonly RunItem[]): Hint {
	const gone = items.filter((item) => item.how === 'gone');
	if (gone.length === 0) return undefined;
	const who = counted(gone.length, 'subscriber is', 'subscribers are');
	const them = gone.length === 1 ? 'it' : 'them';
	return warning(`${who} not there any more: ${idsOf(gone)}. Nothing was sent for ${them}.`);
}

/** Which IDs an earlier execution has told as unknown. */
function alreadyUnknownHint(items: readonly RunItem[]): Hint {
	const unknown = items.filter((item) => item.how === 'before' && item.isUnknown);
	if (unknown.length === 0) return undefined;
	const ids = [...new Set(unknown.map(({ key }) => `'${clip(key?.id ?? '')}'`))];
	const [was, it] = unknown.length === 1 ? ['it was', 'it'] : ['they were', 'them'];
	const what = `Of ${counted(unknown.length, 'item')} it is unknown whether ${was} sent`;
	const named = `${ids.length === 1 ? 'ID' : 'IDs'} ${listSome(ids)}`;
	return warning(`${what}: ${named}. Nothing was sent for ${it}.`);
}

/** The notification as subscribers see it, with its whole link and its pictures, and the times that it has. */
function notification({ body, timing }: PreparedSend): Line[] {
	const { timezone, expireAt, quietHours } = timing;
	const buttons = (body.action_buttons ?? []).map(({ title, url }) => `[${title}] ${url}`);
	const lines: Line[] = [{ bold: body.title }, body.message, body.target_url, ...buttons];
	if (body.image !== undefined) lines.push(`Picture: ${body.image}`);
	if (body.icon !== undefined) lines.push(`Icon: ${body.icon}`);
	if (expireAt !== undefined) {
		lines.push(`Delivered until ${moment({ at: expireAt.at, timezone })}.`);
	}
	if (quietHours !== undefined) {
		lines.push(`Quiet hours: ${quietHours.from} to ${quietHours.to}, ${quietHours.timezone}.`);
	}
	return lines;
}

/** To whom a dry run would go, and when: "3 campaigns, each to all 10,000 active subscribers". */
function wouldGo(sends: readonly PreparedSend[], activeSubscribers: number | undefined): string {
	const whom = toWhom(sends, activeSubscribers);
	const [first] = sends;
	const time = (first && when([first], 'on')) ?? 'right away';
	if (sends.length === 1) return `It would go ${whom} ${time}:`;
	const what = counted(sends.length, areToOne(sends) ? 'notification' : 'campaign');
	return `${what}, ${whom}. The first one, ${time}:`;
}

/** What a dry run would have sent, and what not, as On Error is set. */
function dryRunHint(
	items: readonly RunItem[],
	{ isContinuing, activeSubscribers }: Circumstances,
): Hint {
	const shown = items.filter((item) => item.how === 'shown');
	const unsendable = failuresIn(items);
	const sends = firstsIn(shown).map(({ send }) => send);
	const checked = shown.length + unsendable.length;
	const lines: Line[] = ['Nothing was sent: this was a dry run.'];
	if (unsendable.length > 0) {
		const are = unsendable.length === 1 ? 'is' : 'are';
		lines.push(
			isContinuing
				? `${sends.length} of ${checked} would be sent. The others would not:`
				: `${unsendable.length} of ${counted(checked, 'item')} ${are} not valid, so none would be sent:`,
		);
		const reasons = reasonsOf(unsendable, mostNamed).map(capitalize);
		lines.push(...reasons, ...mendingOf(unsendable), '');
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
function testHint(items: readonly RunItem[]): Hint {
	const meant = firstsIn(items).map(meantBy);
	const sent = items.find(({ how }) => how === 'sent');
	const others = items.filter(({ how }) => how === 'shown').length;
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
	const same = [sameHint(items), sameAudienceHint(items)];
	if (kind === 'dryRun') return [dryRunHint(items, circumstances), ...same];
	const sent = kind === 'test' ? testHint(items) : sentHint(items);
	const failed = failedHint(failuresIn(items).length, items.length, isErrorOutput, which);
	return [failed, sent, ...same, goneHint(items), alreadyUnknownHint(items)];
}
