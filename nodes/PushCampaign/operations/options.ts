import type { INodeProperties, IDisplayOptions } from 'n8n-workflow';

import { countCharacters } from '../service/text';
import { atMost, invalid, isBlank, readBoolean, toFields } from './parameters';
import type { Fields, ItemParameters, Parameter } from './parameters';

/** How a user wants requests to be made. */
export interface RequestOptions {
	readonly maxParallel: number;
	/** Milliseconds for one request. */
	readonly timeout: number;
	readonly rateLimitRetries: number;
}

/** What a user can choose beside that for a send. */
export interface SendOptions extends RequestOptions {
	readonly dryRun: boolean;
	/** What is sent once under this key is never sent under it again. */
	readonly idempotencyKey?: string;
	readonly resendUnknown: boolean;
	readonly shortenTexts: boolean;
}

const dryRun = {
	displayName: 'Dry Run',
	name: 'dryRun',
	type: 'boolean',
	// On when it is added: who adds it to see what would be sent must not send.
	default: true,
	description: 'Whether to only check the fields and show what would be sent, without sending it',
} as const satisfies INodeProperties;

const maxKeyCharacters = 255;

const idempotencyKey = {
	displayName: 'Idempotency Key',
	name: 'idempotencyKey',
	type: 'string',
	default: '',
	placeholder: 'e.g. order-1042-shipped',
	description:
		'An ID of what the notification is about, such as the ID of a feed entry, an order number, or a date and a segment. This node never sends twice under the same key, not even in a later execution or after a crash.',
	...atMost(maxKeyCharacters),
} as const satisfies INodeProperties;

const maxParallel = {
	displayName: 'Max Parallel Requests',
	name: 'maxParallel',
	type: 'number',
	default: 100,
	typeOptions: { minValue: 1, maxValue: 500 },
	description:
		'The most requests under way at the same time. Within that the node finds the pace of the service by itself. With 1, the items are sent strictly in order.',
} as const satisfies INodeProperties;

const rateLimitRetries = {
	displayName: 'Rate Limit Retries',
	name: 'rateLimitRetries',
	type: 'number',
	default: 5,
	typeOptions: { minValue: 0, maxValue: 1000 },
	description:
		'How often to try an item again, after a pause, that the service refuses because of too many requests. After that many refusals in a row, with nothing accepted in between, the run gives up. With 0, an item fails at once.',
} as const satisfies INodeProperties;

const resendUnknown = {
	displayName: 'Resend Unknown',
	name: 'resendUnknown',
	type: 'boolean',
	default: false,
	description:
		'Whether to send again what an earlier try left unknown. Turn it on only when the campaign is not in the dashboard of your push service, otherwise subscribers get it twice.',
} as const satisfies INodeProperties;

const shortenTexts = {
	displayName: 'Shorten Long Texts',
	name: 'shortenTexts',
	type: 'boolean',
	// On when it is added, as a user who adds it expects.
	default: true,
	description:
		'Whether to cut texts that are too long instead of refusing them. Title, message, campaign name and button titles then end in "…", after a whole word where possible.',
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

const collection = {
	displayName: 'Options',
	name: 'options',
	type: 'collection',
	placeholder: 'Add option',
	default: {},
} as const satisfies INodeProperties;

/** The options of the operations that send. */
export const sendOptions = (displayOptions: IDisplayOptions): INodeProperties => ({
	...collection,
	displayOptions,
	options: [
		dryRun,
		idempotencyKey,
		maxParallel,
		rateLimitRetries,
		resendUnknown,
		shortenTexts,
		timeout,
	],
});

/** The options of the operations that read. */
export const readOptions = (displayOptions: IDisplayOptions): INodeProperties => ({
	...collection,
	displayOptions,
	options: [maxParallel, rateLimitRetries, timeout],
});

function toNumber(
	options: Fields,
	parameter: typeof maxParallel | typeof timeout | typeof rateLimitRetries,
): number {
	const { name, displayName, default: fallback, typeOptions } = parameter;
	const { minValue, maxValue } = typeOptions;
	if (!(name in options)) return fallback;
	const value = options[name];
	if (
		typeof value === 'number' &&
		Number.isInteger(value) &&
		value >= minValue &&
		value <= maxValue
	) {
		return value;
	}
	throw invalid(displayName, `is not a whole number from ${minValue} to ${maxValue}`);
}

/**
 * Reads an idempotency key. An option that is there and gives none must not send without protection.
 */
function toKey(options: Fields): string | undefined {
	const { displayName, name } = idempotencyKey;
	if (!(name in options)) return undefined;
	const value = options[name];
	if (isBlank(value)) {
		throw invalid(
			displayName,
			'is empty',
			`An expression that comes to nothing must not switch the protection off. Give an ID of what the notification is about, or remove ${displayName} from the options.`,
		);
	}
	if (typeof value === 'number' && Math.abs(value) > Number.MAX_SAFE_INTEGER) {
		throw invalid(
			displayName,
			'is a number too large to be exact, its last digits are lost already',
			`Give ${displayName} as text.`,
		);
	}
	if (typeof value !== 'string' && !(typeof value === 'number' && Number.isFinite(value))) {
		throw invalid(displayName, 'is neither text nor a number');
	}
	const key = String(value).trim();
	// n8n's database would take all of them for the same.
	if (/\p{Surrogate}/u.test(key)) {
		throw invalid(
			displayName,
			'holds half of a character',
			'The text was cut in the middle of an emoji. Give an ID, or cut the text elsewhere.',
		);
	}
	const length = countCharacters(key);
	if (length <= maxKeyCharacters) return key;
	throw invalid(
		displayName,
		`is ${length} characters long, more than the ${maxKeyCharacters} that are kept`,
		`Give a shorter ${displayName}, such as an ID. Of a long text a hash will do.`,
	);
}

function toRequestOptions(options: Fields): RequestOptions {
	return {
		maxParallel: toNumber(options, maxParallel),
		timeout: toNumber(options, timeout),
		rateLimitRetries: toNumber(options, rateLimitRetries),
	};
}

const optionsOf = (item: ItemParameters) => toFields(item.get(collection), collection.displayName);

/**
 * Reads the options of one item that reads; what is left over from a send is not looked at.
 * @throws InvalidInput naming the option
 */
export function readRequestOptions(item: ItemParameters): RequestOptions {
	return toRequestOptions(optionsOf(item));
}

/**
 * Reads the options of one item that sends.
 * @throws InvalidInput naming the option
 */
export function readSendOptions(item: ItemParameters): SendOptions {
	const options = optionsOf(item);
	const key = toKey(options);
	// Each is off where it is not there, also one that is on when it is added.
	const isOn = ({ name, displayName }: Parameter) =>
		name in options && readBoolean(options[name], displayName);
	return {
		...toRequestOptions(options),
		dryRun: isOn(dryRun),
		...(key === undefined ? {} : { idempotencyKey: key }),
		resendUnknown: isOn(resendUnknown),
		shortenTexts: isOn(shortenTexts),
	};
}
