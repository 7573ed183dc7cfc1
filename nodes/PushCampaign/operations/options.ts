import type { INodeProperties } from 'n8n-workflow';
import { z } from 'zod/v3';

import { subscriberId } from '../service/schemas';
import { countCharacters, quote } from '../service/text';
import { issueWith, issueWithValue, withMessage } from '../service/textSchemas';
import { wholeNumber } from '../service/wholeNumber';
import { fieldOf, judgeOf, keyJudgeOf } from './judgeText';
import type { ItemParameters } from './parameters';
import { atMost, check, ifReadable, readCollection, textProperty, toggle } from './parameters';

const maxParallel = {
	displayName: 'Max Parallel Requests',
	name: 'maxParallel',
	type: 'number',
	default: 100,
	typeOptions: { minValue: 1, maxValue: 500 },
	description:
		'The most requests in flight at the same time. The node goes slower by itself if the service asks for it. With 1, items are sent strictly in order.',
} as const satisfies INodeProperties;

const rateLimitRetries = {
	displayName: 'Rate Limit Retries',
	name: 'rateLimitRetries',
	type: 'number',
	default: 5,
	typeOptions: { minValue: 0, maxValue: 1000 },
	description:
		'How many times to retry an item that the service refuses because of too many requests, with a pause before each. The run gives up after that many refusals in a row with nothing accepted in between. With 0, an item fails right away.',
} as const satisfies INodeProperties;

const timeout = {
	displayName: 'Timeout',
	name: 'timeout',
	type: 'number',
	default: 30_000,
	// The longest wait that a timer can hold.
	typeOptions: { minValue: 1, maxValue: 2_147_483_647 },
	description: 'How long one request may take, in milliseconds',
} as const satisfies INodeProperties;

const maxKeyCharacters = 255;

const sendOnce = {
	displayName: 'Send Only Once',
	name: 'sendOnce',
	type: 'options',
	default: 'ever',
	options: [
		{
			name: 'Ever',
			value: 'ever',
			description: 'The same notification never goes to the same audience again',
		},
		{
			name: 'Once a Day',
			value: 'perDay',
			description: 'It can go out again on another day, in the timezone of the workflow',
		},
	],
	description:
		'How often the same notification may go to the same audience, also if the workflow runs again or n8n restarts. If anything in it is different, it is another notification.',
} satisfies INodeProperties;

/** The collection of what only some users need, at the end of a panel. */
export const optionsProperty = (options: INodeProperties[]) =>
	({
		displayName: 'Options',
		name: 'options',
		type: 'collection',
		placeholder: 'Add option',
		default: {},
		options,
	}) satisfies INodeProperties;

export const readOptions = optionsProperty([maxParallel, rateLimitRetries, timeout]);

const idempotencyKey = textProperty({
	displayName: 'Idempotency Key',
	name: 'idempotencyKey',
	placeholder: 'e.g. order-1042-shipped',
	description:
		"An ID of what the notification is about, such as a feed entry's ID, an order number, or a date and a segment. This node never sends twice under the same ID, whatever the text says. If you have no such ID, use Send Only Once instead.",
	...atMost(maxKeyCharacters),
});

const dryRun = {
	displayName: 'Dry Run',
	name: 'dryRun',
	type: 'boolean',
	// Adding Dry Run must never send.
	default: true,
	description: 'Whether to only check the fields and show what would be sent, without sending it',
} satisfies INodeProperties;

const testSubscriberId = textProperty({
	displayName: 'Test Subscriber ID',
	name: 'testSubscriberId',
	placeholder: 'e.g. 5001',
	description:
		'Your own subscriber ID. While you try the workflow in the editor, the first three items go to you alone and the rest to nobody. When the workflow runs by itself, everything goes to the real audience.',
});

// Each switch but Resend Unknown is on when it is added, as a user who adds it expects.
export const sendOptions = optionsProperty([
	{
		displayName: 'Allow Empty Parts',
		name: 'allowEmptyParts',
		type: 'boolean',
		default: true,
		description:
			'Whether to send a text even if an expression in it returns nothing, such as a greeting for an item without a name. An idempotency key with such a part is always refused.',
	},
	{
		displayName: 'Convert HTML to Text',
		name: 'htmlToText',
		type: 'boolean',
		default: true,
		description:
			'Whether to remove HTML tags and decode HTML entities in title, message, campaign name and button titles, such as in texts from a feed or from WordPress',
	},
	dryRun,
	idempotencyKey,
	maxParallel,
	rateLimitRetries,
	{
		displayName: 'Resend Unknown',
		name: 'resendUnknown',
		type: 'boolean',
		default: false,
		description:
			"Whether to send again if it is unknown whether an earlier execution sent it. Turn it on only if the campaign is not in your push service's dashboard, or the one subscriber did not get it: otherwise it arrives twice.",
	},
	sendOnce,
	{
		displayName: 'Shorten Long Texts',
		name: 'shortenTexts',
		type: 'boolean',
		default: true,
		description:
			'Whether to cut texts that are too long instead of refusing them. Title, message, campaign name and button titles then end in "…", after a whole word where possible.',
	},
	testSubscriberId,
	timeout,
]);

/** A number within the bounds of its field; the field's default if it was not added. */
const numberFor = (field: typeof maxParallel | typeof rateLimitRetries | typeof timeout) =>
	wholeNumber(field.typeOptions.minValue, field.typeOptions.maxValue).default(field.default);

const notExact = 'is neither text nor an exact number, so enter it as text';

/** An empty key must fail, not turn deduplication off. */
const key = z
	.union([z.string(), z.number(), z.null()], withMessage(notExact))
	.refine(
		(given) => typeof given !== 'number' || Math.abs(given) <= Number.MAX_SAFE_INTEGER,
		(given) => ({ message: `${notExact}: ${quote(given)}` }),
	)
	.transform((given) => String(given ?? '').trim())
	.refine(
		(text) => text !== '',
		issueWith(
			'is empty',
			'An empty key does not turn deduplication off. Enter an ID of what the notification is about, or remove Idempotency Key from the options.',
		),
	)
	.refine(
		(text) => countCharacters(text) <= maxKeyCharacters,
		issueWithValue(`is longer than ${maxKeyCharacters} characters`, 'Use a hash of it.'),
	);

/** The options of a read: values left over from a send are not read. */
export const readSchema = z.object({
	maxParallel: numberFor(maxParallel),
	/** Milliseconds for one request. */
	timeout: numberFor(timeout),
	rateLimitRetries: numberFor(rateLimitRetries),
});

/** How a user wants requests to be made. */
export type ReadOptions = Readonly<z.infer<typeof readSchema>>;

// Each switch is off if it was not added, also one that is on when it is added.
const sendSchema = readSchema.extend({
	/** Whether a part of a text may give nothing. */
	allowEmptyParts: toggle.default(false),
	dryRun: toggle.default(false),
	htmlToText: toggle.default(false),
	/** What was sent under this key is never sent under it again. */
	idempotencyKey: key.optional(),
	resendUnknown: toggle.default(false),
	/** How often the same may be sent. An idempotency key beside it counts instead. */
	sendOnce: z.enum(['ever', 'perDay'], withMessage('is neither "ever" nor "perDay"')).optional(),
	shortenTexts: toggle.default(false),
});

/** What a user can choose for a send. */
export type SendOptions = Readonly<z.infer<typeof sendSchema>>;

/**
 * Reads the options of a send.
 * @throws InvalidInput naming the option
 */
export function readSendOptions(item: ItemParameters): SendOptions {
	// An expression in Test Subscriber ID must not end a run that is no test.
	const options = sendOptions.options.filter((option) => option !== testSubscriberId);
	const read = readCollection(item, { ...sendOptions, options }, sendSchema);
	keyJudgeOf(item)(read.idempotencyKey, fieldOf(idempotencyKey, sendOptions));
	return read;
}

/** Whether an item is only to be checked, also if it can't be sent because of its other options. Throws nothing. */
export const isDryRun = (item: ItemParameters): boolean =>
	ifReadable(() => item.get({ ...dryRun, name: fieldOf(dryRun, sendOptions).path })) === true;

/**
 * Reads whom a manual execution sends to instead.
 * @returns `undefined` if the option was not added
 * @throws InvalidInput
 */
export function readTestSubscriberId(item: ItemParameters): string | undefined {
	const field = fieldOf(testSubscriberId, sendOptions);
	const given = item.get({ ...testSubscriberId, name: field.path });
	if (given === undefined) return undefined;
	return judgeOf(item, { allowEmptyParts: false })(
		check(subscriberId, given, field.displayName),
		field,
	);
}
