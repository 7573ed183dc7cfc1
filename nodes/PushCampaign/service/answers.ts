import { z } from 'zod/v3';

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

const text = z.string();

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

/**
 * A counter, carried as text holding an integer. One that can't be read is never taken for 0.
 * Specification, Campaign status record.
 */
const counter = z
	.union([z.string().regex(/^[0-9]+$/), z.number()])
	.transform(Number)
	.refine((count) => Number.isSafeInteger(count) && count >= 0);

/**
 * A counter of a campaign, or null where the service gives none: left out, null or blank. The
 * specification does not say what a campaign shows that waits for its time.
 */
const optionalCounter = z.union([
	z
		.string()
		.regex(/^\s*$/)
		.nullish()
		.transform(() => null),
	counter,
]);

/**
 * The counters of a campaign. A service that has none to give may as well leave out the whole set, or
 * write an empty one as an empty list: that is no counter given, and any other shape is no answer.
 */
const optionalCounters = z
	.union([
		z.record(z.string(), z.unknown()),
		z
			.array(z.unknown())
			.max(0)
			.nullish()
			.transform(() => ({})),
	])
	.pipe(
		z.object({
			total_attempts: optionalCounter,
			successfully_sent: optionalCounter,
			failed_to_send: optionalCounter,
			delivered: optionalCounter,
			clicked: optionalCounter,
			closed: optionalCounter,
		}),
	);

/** Specification, Campaign status record. */
export const campaignStatus = z.object({
	notification_status: z.string().min(1),
	notification_id: idText,
	count: optionalCounters,
});

export type CampaignStatus = z.infer<typeof campaignStatus>;

/** Specification, Subscriber count record. */
export const subscriberCount = z.object({
	total_life_time_subscribers: counter,
	active_subscribers: counter,
});

export const counterNames = [
	'totalAttempts',
	'successfullySent',
	'failedToSend',
	'delivered',
	'clicked',
	'closed',
] as const;
export type CounterName = (typeof counterNames)[number];
/** The counters of a campaign; null where the service gives none. */
export type Counters = Record<CounterName, number | null>;

/** The six counters under the names that users see. */
export function toCounters({ count }: CampaignStatus): Counters {
	return {
		totalAttempts: count.total_attempts,
		successfullySent: count.successfully_sent,
		failedToSend: count.failed_to_send,
		delivered: count.delivered,
		clicked: count.clicked,
		closed: count.closed,
	};
}

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
