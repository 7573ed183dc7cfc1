import type { INodeProperties, IDisplayOptions } from 'n8n-workflow';

import type { ItemParameters } from './itemParameters';
import { invalid, toBoolean, toRecord } from './fields';

/** How a user wants requests to be made. */
export interface RequestOptions {
	readonly dryRun: boolean;
	readonly maxParallel: number;
	/** Milliseconds for one request. */
	readonly timeout: number;
	readonly rateLimitRetries: number;
	readonly resendUnknown: boolean;
}

const numbers = {
	maxParallel: { displayName: 'Max Parallel Requests', default: 100, min: 1, max: 500 },
	// The longest wait that a timer can hold.
	timeout: { displayName: 'Timeout', default: 30_000, min: 1, max: 2_147_483_647 },
	rateLimitRetries: { displayName: 'Rate Limit Retries', default: 5, min: 0, max: 1_000 },
} as const;

const dryRun = {
	displayName: 'Dry Run',
	name: 'dryRun',
	type: 'boolean',
	default: false,
	description:
		'Whether to only check the fields and put out the request that would be made, without sending anything',
} as const satisfies INodeProperties;

const maxParallel = {
	displayName: numbers.maxParallel.displayName,
	name: 'maxParallel',
	type: 'number',
	default: numbers.maxParallel.default,
	typeOptions: { minValue: numbers.maxParallel.min, maxValue: numbers.maxParallel.max },
	description:
		'How many requests are under way at once at the most. The node finds the pace of the service below that by itself. With 1 the items go out strictly one after another.',
} as const satisfies INodeProperties;

const rateLimitRetries = {
	displayName: numbers.rateLimitRetries.displayName,
	name: 'rateLimitRetries',
	type: 'number',
	default: numbers.rateLimitRetries.default,
	typeOptions: { minValue: numbers.rateLimitRetries.min },
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
	displayName: numbers.timeout.displayName,
	name: 'timeout',
	type: 'number',
	default: numbers.timeout.default,
	typeOptions: { minValue: numbers.timeout.min },
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

function toNumber(options: Record<string, unknown>, name: keyof typeof numbers): number {
	const { displayName, default: fallback, min, max } = numbers[name];
	if (!(name in options)) return fallback;
	const value = options[name];
	if (typeof value === 'number' && Number.isInteger(value) && value >= min && value <= max) {
		return value;
	}
	throw invalid(displayName, `is not a whole number from ${min} to ${max}`);
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
