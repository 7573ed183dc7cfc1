import {
	readRequestOptions,
	readSendOptions,
} from '../../../nodes/PushCampaign/operations/options';
import { refusal } from '../service/support';
import { itemOf } from './support';

const requestDefaults = { maxParallel: 100, timeout: 30_000, rateLimitRetries: 5 };
const defaults = {
	...requestDefaults,
	dryRun: false,
	resendUnknown: false,
	shortenTexts: false,
};
const read = (options: unknown) => readSendOptions(itemOf({ options }));
const readOfReads = (options: unknown) => readRequestOptions(itemOf({ options }));

test.each([undefined, null, '', {}])('options %j are the defaults', (options) => {
	expect(read(options)).toEqual(defaults);
	expect(readOfReads(options)).toEqual(requestDefaults);
});

test('an operation that reads does not look at the options of a send', () => {
	const leftOver = { dryRun: 'x', idempotencyKey: '', resendUnknown: 7, shortenTexts: null };
	expect(readOfReads({ ...leftOver, timeout: 5 })).toEqual({ ...requestDefaults, timeout: 5 });
});

test.each([
	{ dryRun: true },
	{ resendUnknown: true },
	{ shortenTexts: true },
	{ idempotencyKey: 'order-1042' },
	{ idempotencyKey: '🌷'.repeat(255) },
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
	[{ shortenTexts: '' }, 'Shorten Long Texts', 'Shorten Long Texts is not true or false'],
	[{ idempotencyKey: true }, 'Idempotency Key', 'Idempotency Key is neither text nor a number'],
	[{ idempotencyKey: NaN }, 'Idempotency Key', 'Idempotency Key is neither text nor a number'],
	[{ idempotencyKey: ['a'] }, 'Idempotency Key', 'Idempotency Key is neither text nor a number'],
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
	expect([refused.message, refused.advice]).toEqual([
		message,
		`Change ${field} and run the workflow again.`,
	]);
});

test.each([
	[' order 7 \n', 'order 7'],
	[7, '7'],
	[0, '0'],
	[-1.5, '-1.5'],
	[Number.MAX_SAFE_INTEGER, '9007199254740991'],
	['9007199254740993', '9007199254740993'],
	[` ${'x'.repeat(255)} `, 'x'.repeat(255)],
])('the idempotency key %j is %s', (idempotencyKey, key) => {
	expect(read({ idempotencyKey })).toEqual({ ...defaults, idempotencyKey: key });
});

test.each(['', ' \n', null, undefined])(
	'an idempotency key that is there and blank (%j) does not switch the protection off',
	(idempotencyKey) => {
		const { message, advice } = refusal(() => read({ idempotencyKey, dryRun: true }));
		expect(message).toBe('Idempotency Key is empty');
		expect(advice).toBe(
			'An expression that comes to nothing must not switch the protection off. Give an ID of what the notification is about, or remove Idempotency Key from the options.',
		);
	},
);

test.each([2 ** 53, -(2 ** 53), 1e300, Infinity])(
	'%d has lost digits as an idempotency key',
	(idempotencyKey) => {
		const { message, advice } = refusal(() => read({ idempotencyKey }));
		expect(message).toBe(
			'Idempotency Key is a number too large to be exact, its last digits are lost already',
		);
		expect(advice).toBe('Give Idempotency Key as text.');
	},
);

test('a longer idempotency key is refused', () => {
	const { message, advice } = refusal(() => read({ idempotencyKey: '🌷'.repeat(256) }));
	expect(message).toBe('Idempotency Key is 256 characters long, more than the 255 that are kept');
	expect(advice).toBe(
		'Give a shorter Idempotency Key, such as an ID. Of a long text a hash will do.',
	);
});
