import { getSubscriberCount } from '../../../nodes/PushCampaign/operations/getSubscriberCount';
import { sendToAll } from '../../../nodes/PushCampaign/operations/sendToAll';
import { refusal } from '../service/support';
import { content, itemOf } from './support';

const requestDefaults = { maxParallel: 100, timeout: 30_000, rateLimitRetries: 5 };
const defaults = { ...requestDefaults, dryRun: false, resendUnknown: false, shortenTexts: false };
const read = (options: unknown) => sendToAll.prepare(itemOf({ ...content, options })).options;
const readOfReads = (options: unknown) => getSubscriberCount.prepare(itemOf({ options })).options;

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
	[' order 7 \n', 'order 7'],
	[0, '0'],
	[-1.5, '-1.5'],
	[Number.MAX_SAFE_INTEGER, '9007199254740991'],
	['9007199254740993', '9007199254740993'],
	[` ${'🌷'.repeat(255)} `, '🌷'.repeat(255)],
])('the idempotency key %j is %s', (idempotencyKey, key) => {
	expect(read({ idempotencyKey })).toEqual({ ...defaults, idempotencyKey: key });
});

const toggle = 'is not true or false';
const wholeNumber = (from: number, to: number) => `is not a whole number from ${from} to ${to}`;
const exact = 'is neither text nor an exact number: enter it as text';

// An option that was added and whose expression gave nothing is there without a value.
test.each<[name: string, rule: string, option: string, values: unknown[]]>([
	['Dry Run', toggle, 'dryRun', ['false', null, undefined]],
	['Shorten Long Texts', toggle, 'shortenTexts', ['']],
	['Resend Unknown', toggle, 'resendUnknown', [1]],
	['Max Parallel Requests', wholeNumber(1, 500), 'maxParallel', [0, 501, 1.5, '9', undefined]],
	['Timeout', wholeNumber(1, 2_147_483_647), 'timeout', [0, 2 ** 31, null]],
	['Rate Limit Retries', wholeNumber(0, 1000), 'rateLimitRetries', [-1, 1001, NaN]],
	['Idempotency Key', 'is empty', 'idempotencyKey', ['', ' \n', null, undefined]],
	['Idempotency Key', exact, 'idempotencyKey', [true, NaN, ['a'], 2 ** 53, -(2 ** 53), Infinity]],
	// n8n's database would take all of them for the same key.
	[
		'Idempotency Key',
		'was cut in the middle of a character',
		'idempotencyKey',
		['order \ud83d', '\udc00'],
	],
	[
		'Idempotency Key',
		'is longer than 255 characters: use a hash of it',
		'idempotencyKey',
		['🌷'.repeat(256)],
	],
])('%s %s: %s %j', (name, rule, option, values) => {
	for (const value of values) {
		expect(refusal(() => read({ [option]: value })).message).toBe(`${name} ${rule}`);
	}
});

test('a blank idempotency key is refused with what to do', () => {
	expect(refusal(() => read({ idempotencyKey: '' })).advice).toBe(
		'An empty key does not turn deduplication off. Enter an ID of what the notification is about, or remove Idempotency Key from the options.',
	);
});

test.each(['text', 7, []])('%j in place of the options is refused', (options) => {
	expect(refusal(() => read(options)).message).toBe('Options is not a set of fields');
});
