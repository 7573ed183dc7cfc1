import { z } from 'zod/v3';

import { wordsByType } from './failureWords';
import { cut } from './text';

/**
 * Specification, Errors. A body that says `failure` but lacks its description is still the service's
 * word that nothing was done; one whose type is not a text is not.
 */
export const failureAnswer = z.object({
	status: z.literal('failure'),
	type: z.string().nullish(),
	description: z.string().nullish(),
});

/** What the service says about itself goes into every item and saved execution. */
const text = z.string().transform(cut);

const wholeNumber = z.number().int().nonnegative().safe();

/** An ID as text, whether the service gives it as text or as a number. */
const idText = z
	.union([z.string().trim().min(1), wholeNumber])
	.transform(String)
	// Half of a surrogate pair is no text that could be asked for again.
	.refine((id) => !/\p{Surrogate}/u.test(id));

/** Specification, POST send/sid: Success response; it has no campaign ID. */
export const notificationSent = z.object({ status: z.literal('success'), description: text });

/** Specification, POST send/all: Success response. */
export const campaignCreated = notificationSent.extend({ ID: idText });

/** What the first answer to a send said. */
export interface SendReceipt {
	/** Missing for one subscriber: the service gives none there. */
	readonly campaignId?: string | undefined;
	readonly description: string;
	/** As sent. */
	readonly sendAt?: string | undefined;
}

/** The six counters: the names that users see, and the service's own. */
const counterFields = {
	totalAttempts: 'total_attempts',
	successfullySent: 'successfully_sent',
	failedToSend: 'failed_to_send',
	delivered: 'delivered',
	clicked: 'clicked',
	closed: 'closed',
} as const;
export type CounterName = keyof typeof counterFields;

export const isCounterName = (name: unknown): name is CounterName =>
	typeof name === 'string' && Object.hasOwn(counterFields, name);

export const counterNames = Object.keys(counterFields).filter(isCounterName);

/** A value for each of the six counters. */
export function mapCounters<Value>(
	valueOf: (name: CounterName) => Value,
): Record<CounterName, Value>;
export function mapCounters(valueOf: (name: CounterName) => unknown): Record<string, unknown> {
	return Object.fromEntries(counterNames.map((name) => [name, valueOf(name)]));
}

/** The counters of a campaign; null where the service gives none. */
export type Counters = Record<CounterName, number | null>;

/**
 * A counter, carried as text holding an integer, or null where the service gives none: left out, null or
 * blank. The specification does not say what a campaign shows that waits for its time. One that can't be read
 * makes the answer unusable, and is never taken for 0.
 */
const optionalCounter = z.preprocess((value) => {
	if (value === undefined || (typeof value === 'string' && value.trim() === '')) return null;
	return typeof value === 'string' && /^[0-9]+$/.test(value) ? Number(value) : value;
}, wholeNumber.nullable());

const counters = z
	.object(Object.fromEntries(Object.values(counterFields).map((field) => [field, optionalCounter])))
	.transform((count): Counters => mapCounters((name) => count[counterFields[name]] ?? null));

/** Counters that a service has none of: it may as well leave out the whole set, or write it as an empty list. */
const noCounters = z
	.union([z.undefined(), z.null(), z.tuple([])])
	.transform(() => mapCounters(() => null));

/** Specification, Campaign status record. */
export const campaignStatus = z.object({
	notification_status: z.string().min(1).transform(cut),
	notification_id: idText,
	count: z.union([counters, noCounters]),
});

/** A campaign ID as the service writes it: an integer (specification, POST send/all), without leading zeros. */
export const toPlainId = (id: string) => (/^\d+$/.test(id) ? id.replace(/^0+(?=\d)/, '') : id);

/** Whether an answer is the record of this campaign. */
export function isOfCampaign(answer: unknown, campaignId: string): boolean {
	const { data } = campaignStatus.pick({ notification_id: true }).safeParse(answer);
	return data !== undefined && toPlainId(data.notification_id) === toPlainId(campaignId);
}

/** Specification, Subscriber count record: a count that the service does not give is null, one of them is there. */
export const subscriberCount = z
	.object({ total_life_time_subscribers: optionalCounter, active_subscribers: optionalCounter })
	.refine((record) => Object.values(record).some((count) => count !== null));

/** The words of the interface: names of fields, and what they say in every answer. */
export const ownWords: ReadonlySet<string> = new Set([
	'success',
	'failure',
	...wordsByType.keys(),
	...[failureAnswer, campaignStatus, subscriberCount.innerType()].flatMap(({ shape }) =>
		Object.keys(shape),
	),
	...Object.values(counterFields),
]);

/** The share of one counter in another, rounded to 4 decimals; null where it can't be known. */
function rate(part: number | null, whole: number | null): number | null {
	if (part === null || whole === null || whole === 0) return null;
	return Math.round((part / whole) * 10_000) / 10_000;
}

/** The rates of a campaign: delivered of those that were successfully sent, clicked of those delivered. */
export const toRates = ({ successfullySent, delivered, clicked }: Counters) => ({
	deliveryRate: rate(delivered, successfullySent),
	clickRate: rate(clicked, delivered),
});
