import { z } from 'zod/v3';

import { cut } from './text';

/** The failure types of the specification; other services of this interface may send more. */
export const failureTypes = [
	'header_invalid',
	'bad_request',
	'authentication_failure',
	'rate_limit',
	'missing_parameter',
	'invalid_format',
	'invalid_value',
	'invalid_type',
	'invalid_sid',
] as const;
export type FailureType = (typeof failureTypes)[number];

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

/** An ID as text, whether the service gives it as text or as a number. */
const idText = z
	.union([z.string().trim().min(1), z.number().int().nonnegative().refine(Number.isSafeInteger)])
	.transform(String)
	// Half of a surrogate pair is no text that could be asked for again.
	.refine((id) => !/\p{Surrogate}/u.test(id));

/** Specification, POST send/all: Success response. */
export const campaignCreated = z.object({
	status: z.literal('success'),
	description: text,
	ID: idText,
});

/** Specification, POST send/sid: Success response; it has no campaign ID. */
export const notificationSent = z.object({ status: z.literal('success'), description: text });

/** What the first answer to a send said. */
export interface SendReceipt {
	/** Missing for one subscriber: the service gives none there. */
	readonly campaignId?: string | undefined;
	readonly description: string;
	/** As sent. */
	readonly sendAt?: string | undefined;
}

/** One that can't be read is `undefined`, and never taken for 0. */
function toCount(value: unknown): number | undefined {
	const count = typeof value === 'string' && /^[0-9]+$/.test(value) ? Number(value) : value;
	return typeof count === 'number' && Number.isSafeInteger(count) && count >= 0 ? count : undefined;
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

const isBlank = (value: unknown) =>
	value === undefined || value === null || (typeof value === 'string' && value.trim() === '');

/**
 * A counter, carried as text holding an integer, or null where the service gives none: left out, null or
 * blank. The specification does not say what a campaign shows that waits for its time.
 */
const optionalCounter = z
	.unknown()
	.transform((value) => (isBlank(value) ? null : toCount(value)))
	.pipe(z.number().nullable());

/**
 * A service that has no counters to give may as well leave out the whole set, or write an empty one as an
 * empty list: any other shape is no answer.
 */
const isNone = (count: unknown) =>
	count === undefined || count === null || (Array.isArray(count) && count.length === 0);

/** Specification, Campaign status record. */
export const campaignStatus = z.object({
	notification_status: z.string().min(1).transform(cut),
	notification_id: idText,
	count: z.preprocess(
		(count) => (isNone(count) ? {} : count),
		z
			.object(
				Object.fromEntries(Object.values(counterFields).map((field) => [field, optionalCounter])),
			)
			.transform((count): Counters => mapCounters((name) => count[counterFields[name]] ?? null)),
	),
});

const namesCampaign = campaignStatus.pick({ notification_id: true });

/** A campaign ID as the service writes it: an integer (specification, POST send/all), without leading zeros. */
export function toPlainId(id: string): string {
	return /^\d+$/.test(id) ? id.replace(/^0+(?=\d)/, '') : id;
}

/** Whether an answer is the record of another campaign than the one that was asked for. */
export function isOfAnotherCampaign(answer: unknown, campaignId: string): boolean {
	const { success, data } = namesCampaign.safeParse(answer);
	return !success || toPlainId(data.notification_id) !== toPlainId(campaignId);
}

/** Specification, Subscriber count record: a count that the service does not give is null, one of them is there. */
export const subscriberCount = z
	.object({ total_life_time_subscribers: optionalCounter, active_subscribers: optionalCounter })
	.refine((record) => Object.values(record).some((count) => count !== null));

const ownWords: ReadonlySet<string> = new Set([
	'success',
	'failure',
	...failureTypes,
	...Object.keys(failureAnswer.shape),
	...Object.keys(campaignStatus.shape),
	...Object.values(counterFields),
	'total_life_time_subscribers',
	'active_subscribers',
]);

/** Whether a text is a word of the interface: the name of a field, or what one says in every answer. */
export const isOwnWord = (text: string) => ownWords.has(text);

/** Shares of a campaign's counters; null where they can't be known. */
export interface Rates {
	/** Delivered of those that were successfully sent, rounded to 4 decimals. */
	readonly deliveryRate: number | null;
	/** Clicked of those that were delivered, rounded to 4 decimals. */
	readonly clickRate: number | null;
}

/** The share of one counter in another, rounded to 4 decimals; null where it can't be known. */
function rate(part: number | null, whole: number | null): number | null {
	if (part === null || whole === null || whole === 0) return null;
	return Math.round((part / whole) * 10_000) / 10_000;
}

/** The rates of a campaign. */
export function toRates({ successfullySent, delivered, clicked }: Counters): Rates {
	return { deliveryRate: rate(delivered, successfullySent), clickRate: rate(clicked, delivered) };
}
