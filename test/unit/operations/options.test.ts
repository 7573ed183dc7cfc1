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

const wholeNumber = (from: number, to: number) => `is not a whole number from ${from} to ${to}`;

test.each<[field: string, rule: string, refused: unknown[]]>([
	['Dry Run', 'is not true or false', [{ dryRun: 'false' }, { dryRun: undefined }]],
	['Shorten Long Texts', 'is not true or false', [{ shortenTexts: '' }]],
	['Resend Unknown', 'is not true or false', [{ resendUnknown: 1 }]],
	[
		'Idempotency Key',
		'is neither text nor a number',
		[true, NaN, ['a']].map((idempotencyKey) => ({ idempotencyKey })),
	],
	[
		'Max Parallel Requests',
		wholeNumber(1, 500),
		[0, 501, 1.5, '9'].map((maxParallel) => ({ maxParallel })),
	],
	['Timeout', wholeNumber(1, 2_147_483_647), [0, 2 ** 31, null].map((timeout) => ({ timeout }))],
	[
		'Rate Limit Retries',
		wholeNumber(0, 1000),
		[-1, 1001, NaN].map((rateLimitRetries) => ({ rateLimitRetries })),
	],
	['Options', 'is not a set of fields', ['text', []]],
])('%s %s: %j', (field, rule, refused) => {
	for (const options of refused) {
		const { message, advice } = refusal(() => read(options));
		expect(message).toBe(`${field} ${rule}`);
		expect(advice).toBe(`Change ${field} and run the workflow again.`);
	}
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

// n8n's database would take all of them for the same key.
test.each(['order \ud83d', '\udc00'])(
	'half of a character in an idempotency key is refused',
	(key) => {
		const { message, advice } = refusal(() => read({ idempotencyKey: key }));
		expect(message).toBe('Idempotency Key holds half of a character');
		expect(advice).toContain('cut in the middle of an emoji');
	},
);

test('a longer idempotency key is refused', () => {
	const { message, advice } = refusal(() => read({ idempotencyKey: '🌷'.repeat(256) }));
	expect(message).toBe('Idempotency Key is 256 characters long, more than the 255 that are kept');
	expect(advice).toBe(
		'Give a shorter Idempotency Key, such as an ID. Of a long text a hash will do.',
	);
});
