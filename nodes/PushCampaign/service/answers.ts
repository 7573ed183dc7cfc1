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

/** Specification, Campaign status record. */
export const campaignStatus = z.object({
	notification_status: z.string().min(1),
	notification_id: idText,
	count: z.object({
		total_attempts: counter,
		successfully_sent: counter,
		failed_to_send: counter,
		delivered: counter,
		clicked: counter,
		closed: counter,
	}),
});

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
export type Counters = Record<CounterName, number>;

/** The six counters under the names that users see. */
export function toCounters({ count }: z.infer<typeof campaignStatus>): Counters {
	return {
		totalAttempts: count.total_attempts,
		successfullySent: count.successfully_sent,
		failedToSend: count.failed_to_send,
		delivered: count.delivered,
		clicked: count.clicked,
		closed: count.closed,
	};
}
