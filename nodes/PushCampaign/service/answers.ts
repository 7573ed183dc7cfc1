import { z } from 'zod';

import type { Counter } from './rules';
import { campaignCounters, siteCounters } from './rules';
import { clip } from './text';

/** What the service says goes into every item and saved execution. A success without it is one all the same. */
const description = z.string().transform(clip).optional().catch(undefined);

const count = z.number().refine((number) => Number.isSafeInteger(number) && number >= 0);

/** An ID as text, whether the service gives it as text or as a number. */
const id = z.union([z.string().trim().min(1), count]).transform(String);

/** What the answer to a send says. */
export interface Receipt {
	/** Missing for one subscriber: the service gives none there. */
	readonly campaignId?: string;
	readonly description?: string | undefined;
}

/** Specification, POST send/all: Success response. */
export const campaignCreated = z
	.object({ status: z.literal('success'), description, ID: id })
	.transform(({ ID, description }): Receipt => ({ campaignId: ID, description }));

/** Specification, POST send/sid: Success response. */
export const notificationSent = z
	.object({ status: z.literal('success'), description })
	.transform(({ description }): Receipt => ({ description }));

/** Specification, Errors. Without its description it is still the service's word that nothing was done. */
export const failureAnswer = z
	.object({
		status: z.literal('failure'),
		type: z.string().nullish(),
		description: z.string().nullish(),
	})
	.transform(({ type, description }) => ({ type: type ?? '', description: description ?? '' }));

/** Counters by their names; null if the service gives none. */
export type Counters = Readonly<Record<string, number | null>>;

/**
 * A counter, which the service carries as text; null if it gives none. One that is no whole number makes the answer
 * unusable: it is never taken for 0.
 */
const optionalCount = z.preprocess((given) => {
	if (given === undefined || given === null) return null;
	if (typeof given !== 'string') return given;
	if (given.trim() === '') return null;
	return /^\d+$/.test(given) ? Number(given) : given;
}, count.nullable());

/** Reads counters from an object in which the service names them. */
const countersOf = (counters: readonly Counter[]) =>
	z
		.object(Object.fromEntries(counters.map(({ serviceName }) => [serviceName, optionalCount])))
		.transform((given): Counters =>
			Object.fromEntries(
				counters.map(({ name, serviceName }) => [name, given[serviceName] ?? null]),
			),
		);

const isEmptyList = (given: unknown) => Array.isArray(given) && given.length === 0;

/** A service without counters may leave out the whole set, or write it as an empty list. */
const campaignCounts = z.preprocess(
	(given) => (given === undefined || given === null || isEmptyList(given) ? {} : given),
	countersOf(campaignCounters),
);
/**
 * Specification, Campaign status record: that of one campaign. The record of another one, such as from a cache in
 * between, is no answer.
 */
export const campaignStatusOf = (campaignId: string) =>
	z
		.object({
			notification_status: z.string().nullish(),
			notification_id: id,
			count: campaignCounts,
		})
		.refine(({ notification_id }) => notification_id === campaignId)
		.transform((given) => ({
			campaignId: given.notification_id,
			status: clip(given.notification_status ?? '') || null,
			counters: given.count,
		}));

/** Specification, Subscriber count record. One of the two is there. */
export const subscriberCount = countersOf(siteCounters).refine((counters) =>
	Object.values(counters).some((each) => each !== null),
);

/** The share of one counter in another, rounded to 4 decimals; null if it can't be known. */
function rate(part: number | null | undefined, whole: number | null | undefined): number | null {
	if (typeof part !== 'number' || typeof whole !== 'number' || whole === 0) return null;
	return Math.round((part / whole) * 10_000) / 10_000;
}

/** The rates of a campaign: delivered of those that were successfully sent, clicked of those delivered. */
export const toRates = (counters: Counters) => ({
	deliveryRate: rate(counters['delivered'], counters['successfullySent']),
	clickRate: rate(counters['clicked'], counters['delivered']),
});
