import { readRequestOptions } from '../../../nodes/PushCampaign/operations/options';
import { refusal } from '../service/support';
import { itemOf } from './support';

const defaults = {
	dryRun: false,
	maxParallel: 100,
	timeout: 30_000,
	rateLimitRetries: 5,
	resendUnknown: false,
};
const read = (options: unknown) => readRequestOptions(itemOf({ options }));

test.each([undefined, null, '', {}])('options %j are the defaults', (options) => {
	expect(read(options)).toEqual(defaults);
});

test.each([
	{ dryRun: true },
	{ resendUnknown: true },
	{ maxParallel: 1 },
	{ maxParallel: 500 },
	{ timeout: 1 },
	{ timeout: 2_147_483_647 },
	{ rateLimitRetries: 0 },
	{ rateLimitRetries: 1000 },
])('%j is taken', (options) => {
	expect(read(options)).toEqual({ ...defaults, ...options });
});

test.each([
	[{ dryRun: 'false' }, 'Dry Run', 'Dry Run is not true or false'],
	[{ dryRun: undefined }, 'Dry Run', 'Dry Run is not true or false'],
	[{ resendUnknown: 1 }, 'Resend Unknown', 'Resend Unknown is not true or false'],
	[
		{ maxParallel: 0 },
		'Max Parallel Requests',
		'Max Parallel Requests is not a whole number from 1 to 500',
	],
	[
		{ maxParallel: 501 },
		'Max Parallel Requests',
		'Max Parallel Requests is not a whole number from 1 to 500',
	],
	[
		{ maxParallel: 1.5 },
		'Max Parallel Requests',
		'Max Parallel Requests is not a whole number from 1 to 500',
	],
	[
		{ maxParallel: '9' },
		'Max Parallel Requests',
		'Max Parallel Requests is not a whole number from 1 to 500',
	],
	[{ timeout: 0 }, 'Timeout', 'Timeout is not a whole number from 1 to 2147483647'],
	[{ timeout: 2 ** 31 }, 'Timeout', 'Timeout is not a whole number from 1 to 2147483647'],
	[{ timeout: null }, 'Timeout', 'Timeout is not a whole number from 1 to 2147483647'],
	[
		{ rateLimitRetries: -1 },
		'Rate Limit Retries',
		'Rate Limit Retries is not a whole number from 0 to 1000',
	],
	[
		{ rateLimitRetries: 1001 },
		'Rate Limit Retries',
		'Rate Limit Retries is not a whole number from 0 to 1000',
	],
	[
		{ rateLimitRetries: NaN },
		'Rate Limit Retries',
		'Rate Limit Retries is not a whole number from 0 to 1000',
	],
	['text', 'Options', 'Options is not a set of fields'],
	[[], 'Options', 'Options is not a set of fields'],
])('%j is refused', (options, field, message) => {
	const refused = refusal(() => read(options));
	expect([refused.field, refused.message, refused.advice]).toEqual([
		field,
		message,
		`Change ${field} and run the workflow again.`,
	]);
});
