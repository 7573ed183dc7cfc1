import type { INodeProperties, IDisplayOptions } from 'n8n-workflow';

import { invalid, toBoolean, toRecord } from './fields';
import type { ItemParameters } from './itemParameters';

/** How a user wants requests to be made. */
export interface RequestOptions {
	readonly dryRun: boolean;
	readonly maxParallel: number;
	/** Milliseconds for one request. */
	readonly timeout: number;
	readonly rateLimitRetries: number;
	readonly resendUnknown: boolean;
}

const dryRun = {
	displayName: 'Dry Run',
	name: 'dryRun',
	type: 'boolean',
	default: false,
	description:
		'Whether to only check the fields and put out the request that would be made, without sending anything',
} as const satisfies INodeProperties;

const maxParallel = {
	displayName: 'Max Parallel Requests',
	name: 'maxParallel',
	type: 'number',
	default: 100,
	typeOptions: { minValue: 1, maxValue: 500 },
	description:
		'The most requests that are under way at once. Below that the node finds the pace of the service by itself. With 1 the items go out strictly one after another.',
} as const satisfies INodeProperties;

const rateLimitRetries = {
	displayName: 'Rate Limit Retries',
	name: 'rateLimitRetries',
	type: 'number',
	default: 5,
	typeOptions: { minValue: 0, maxValue: 1000 },
	description:
		'How often an item that the service refuses for too many requests is tried again, after a wait. With 0 it fails at once.',
} as const satisfies INodeProperties;

const resendUnknown = {
	displayName: 'Resend Unknown',
	name: 'resendUnknown',
	type: 'boolean',
	default: false,
	description:
		'Whether to send items again whose outcome was unknown in an earlier try of this execution. Turn it on only when the campaign is not in the dashboard of your push service, otherwise subscribers get it twice.',
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

function collection(options: INodeProperties[], displayOptions: IDisplayOptions): INodeProperties {
	return {
		displayName: 'Options',
		name: 'options',
		type: 'collection',
		placeholder: 'Add option',
		default: {},
		displayOptions,
		options,
	};
}

/** The options of the operations that send. */
export const sendOptions = (displayOptions: IDisplayOptions) =>
	collection([dryRun, maxParallel, rateLimitRetries, resendUnknown, timeout], displayOptions);

/** The options of the operations that read. */
export const readOptions = (displayOptions: IDisplayOptions) =>
	collection([maxParallel, rateLimitRetries, timeout], displayOptions);

const numbers = { maxParallel, timeout, rateLimitRetries };

function toNumber(options: Record<string, unknown>, name: keyof typeof numbers): number {
	const { displayName, default: fallback, typeOptions } = numbers[name];
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
 * Reads the options of one item.
 * @throws InvalidInput naming the option
 */
export function readRequestOptions(item: ItemParameters): RequestOptions {
	const options = toRecord(item.get('options', 'Options'), 'Options');
	return {
		dryRun: toBoolean(options, 'dryRun', false, dryRun.displayName),
		maxParallel: toNumber(options, 'maxParallel'),
		timeout: toNumber(options, 'timeout'),
		rateLimitRetries: toNumber(options, 'rateLimitRetries'),
		resendUnknown: toBoolean(options, 'resendUnknown', false, resendUnknown.displayName),
	};
}
