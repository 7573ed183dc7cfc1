import { z } from 'zod/v3';

import type { Counter } from './counters';
import { campaignCounters, siteCounters } from './counters';
import { knownTypes } from './failureWords';
import { truncate } from './text';

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
const text = z.string().transform(truncate);

const serviceInteger = z.number().int().nonnegative().safe();

/** An ID as text, whether the service gives it as text or as a number. */
const idText = z
	.union([z.string().trim().min(1), serviceInteger])
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

/** Counters by their names; null if the service gives none. */
export type Counters = Readonly<Record<string, number | null>>;

/**
 * A counter, carried as text holding an integer, or null if the service gives none: left out, null or blank. The
 * specification does not say what a campaign shows that waits for its time. One that can't be read makes the
 * answer unusable, and is never taken for 0.
 */
const optionalCounter = z.preprocess((value) => {
	if (value === undefined || (typeof value === 'string' && value.trim() === '')) return null;
	return typeof value === 'string' && /^[0-9]+$/.test(value) ? Number(value) : value;
}, serviceInteger.nullable());

/** Reads counters from an object in which the service names them. */
const countersIn = (counters: readonly Counter[]) =>
	z
		.object(Object.fromEntries(counters.map(({ serviceName }) => [serviceName, optionalCounter])))
		.transform((given): Counters =>
			Object.fromEntries(
				counters.map(({ name, serviceName }) => [name, given[serviceName] ?? null]),
			),
		);

const counters = countersIn(campaignCounters);

/** A service without counters may leave out the whole set, or write it as an empty list. */
const noCounters = z
	.union([z.undefined(), z.null(), z.tuple([])])
	.transform(() => counters.parse({}));

/**
 * The status of a campaign, or null if the service gives none: left out, null or blank. The specification does not
 * say what a campaign shows that waits for its time.
 */
const optionalStatus = z
	.string()
	.nullish()
	.transform((status) => (status?.trim() ? truncate(status) : null));

/** Specification, Campaign status record. */
export const campaignStatus = z.object({
	notification_status: optionalStatus,
	notification_id: idText,
	count: z.union([counters, noCounters]),
});

/** A campaign ID as the service writes it: an integer (specification, POST send/all), without leading zeros. */
export const toPlainId = (id: string) => (/^\d+$/.test(id) ? id.replace(/^0+(?=\d)/, '') : id);

/**
 * The status record of one campaign; that of another one, such as from a cache in between, is no answer.
 * @param otherwise describes a record of another campaign: it completes 'the answer is …'
 */
export const campaignStatusOf = (id: string, otherwise = 'about another campaign') =>
	campaignStatus.refine(({ notification_id }) => toPlainId(notification_id) === toPlainId(id), {
		params: { answerIs: otherwise },
	});

/** The schema's own description of an answer that it refuses, if it has one. It completes 'the answer is …'. */
export function rejectionText({ issues: [issue] }: z.ZodError): string | undefined {
	const words: unknown = issue?.code === 'custom' ? issue.params?.['answerIs'] : undefined;
	return typeof words === 'string' ? words : undefined;
}

/** Specification, Subscriber count record: a count that the service does not give is null, one of them is there. */
export const subscriberCount = countersIn(siteCounters).refine((counters) =>
	Object.values(counters).some((count) => count !== null),
);

/** The words of the interface: names of fields, and what they say in every answer. */
export const ownWords: ReadonlySet<string> = new Set([
	'success',
	'failure',
	...knownTypes,
	...[failureAnswer, campaignStatus].flatMap(({ shape }) => Object.keys(shape)),
	...[...campaignCounters, ...siteCounters].map(({ serviceName }) => serviceName),
]);

/** The share of one counter in another, rounded to 4 decimals; null if it can't be known. */
function rate(part: Counters[string] | undefined, whole: Counters[string] | undefined) {
	if (typeof part !== 'number' || typeof whole !== 'number' || whole === 0) return null;
	return Math.round((part / whole) * 10_000) / 10_000;
}

/** The rates of a campaign: delivered of those that were successfully sent, clicked of those delivered. */
export const toRates = ({ successfullySent, delivered, clicked }: Counters) => ({
	deliveryRate: rate(delivered, successfullySent),
	clickRate: rate(clicked, delivered),
});
