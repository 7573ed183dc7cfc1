import { getSubscriberCount } from '../../../nodes/PushCampaign/operations/getSubscriberCount';
import { sendToAll } from '../../../nodes/PushCampaign/operations/sendToAll';
import { refusal, withAnyValue } from '../service/support';
import { content, itemOf } from './support';

const requestDefaults = { maxParallel: 100, timeout: 30_000, rateLimitRetries: 5 };
const switches = ['dryRun', 'resendUnknown', 'allowEmptyParts', 'htmlToText', 'shortenTexts'];
const off = Object.fromEntries(switches.map((option) => [option, false]));
const defaults = { ...requestDefaults, ...off };
const read = (options: unknown) => sendToAll.prepare(itemOf({ ...content, options })).options;
const readOfReads = (options: unknown) => getSubscriberCount.prepare(itemOf({ options })).options;

const shown = (value: unknown) => (value === undefined ? 'undefined' : JSON.stringify(value));

test.each([undefined, null, '', {}].map((options) => ({ options, name: shown(options) })))(
	'options that are $name are the defaults',
	({ options }) => {
		expect(read(options)).toEqual(defaults);
		expect(readOfReads(options)).toEqual(requestDefaults);
	},
);

test('a read ignores the options of a send', () => {
	const leftOver = { dryRun: 'x', idempotencyKey: '', resendUnknown: 7, shortenTexts: null };
	expect(readOfReads({ ...leftOver, timeout: 5 })).toEqual({ ...requestDefaults, timeout: 5 });
});

test.each(
	[
		...switches.map((option) => ({ [option]: true })),
		{ sendOnce: 'ever' },
		{ sendOnce: 'perDay' },
		{ maxParallel: 1 },
		{ maxParallel: 500 },
		{ timeout: 1 },
		{ timeout: 2_147_483_647 },
		{ rateLimitRetries: 0 },
		{ rateLimitRetries: 1000 },
	].map((options) => ({ options, name: shown(options) })),
)('$name is accepted', ({ options }) => {
	expect(read(options)).toEqual({ ...defaults, ...options });
});

test('numbers that an expression gives as text count as numbers', () => {
	const options = { maxParallel: '7', timeout: '5000', rateLimitRetries: '0' };
	const numbers = { maxParallel: 7, timeout: 5000, rateLimitRetries: 0 };
	expect(read(options)).toEqual({ ...defaults, ...numbers });
	expect(readOfReads(options)).toEqual(numbers);
});

describe('an idempotency key', () => {
	test.each([
		{ name: 'is trimmed', given: ' order 7 \n', key: 'order 7' },
		{ name: 'may be zero', given: 0, key: '0' },
		{ name: 'may be a fraction', given: -1.5, key: '-1.5' },
		{
			name: 'may be the largest exact number',
			given: Number.MAX_SAFE_INTEGER,
			key: '9007199254740991',
		},
		{ name: 'keeps every digit of text', given: '9007199254740993', key: '9007199254740993' },
		{
			name: 'may have 255 characters after trimming',
			given: ` ${'🌷'.repeat(255)} `,
			key: '🌷'.repeat(255),
		},
	])('$name', ({ given, key }) => {
		expect(read({ idempotencyKey: given })).toEqual({ ...defaults, idempotencyKey: key });
	});

	test('that is blank is refused with what to do', () => {
		expect(refusal(() => read({ idempotencyKey: '' })).advice).toBe(
			'An empty key does not turn deduplication off. Enter an ID of what the notification is about, or remove Idempotency Key from the options.',
		);
	});
});

const toggle = 'is not true or false';
const nothing = 'is empty for this item: its expression returned nothing';
const notExact = 'is neither text nor an exact number, so enter it as text';

// An option that was added and whose expression returned nothing is there without a value.
test.each([
	{ field: 'Dry Run', rule: `${toggle}: "false"`, option: 'dryRun', values: ['false'] },
	{ field: 'Dry Run', rule: nothing, option: 'dryRun', values: [null, undefined] },
	{ field: 'Shorten Long Texts', rule: 'is empty', option: 'shortenTexts', values: [''] },
	{ field: 'Resend Unknown', rule: `${toggle}: 1`, option: 'resendUnknown', values: [1] },
	...[
		{ given: 0, quoted: '0' },
		{ given: '501', quoted: '"501"' },
	].map(({ given, quoted }) => ({
		field: 'Max Parallel Requests',
		rule: `is not a whole number from 1 to 500: ${quoted}`,
		option: 'maxParallel',
		values: [given],
	})),
	{
		field: 'Timeout',
		rule: 'is not a whole number from 1 to 2147483647: 2147483648',
		option: 'timeout',
		values: [2 ** 31],
	},
	{ field: 'Timeout', rule: 'is empty', option: 'timeout', values: [null, undefined] },
	{
		field: 'Rate Limit Retries',
		rule: 'is not a whole number from 0 to 1000: -1',
		option: 'rateLimitRetries',
		values: [-1],
	},
	{
		field: 'Idempotency Key',
		rule: 'is empty',
		option: 'idempotencyKey',
		values: ['', ' \n', null, undefined],
	},
	{
		field: 'Idempotency Key',
		rule: notExact,
		option: 'idempotencyKey',
		values: [true, Number.NaN, ['a'], 2 ** 53, -(2 ** 53), Infinity],
	},
	...[
		{ given: 'once', quoted: '"once"' },
		{ given: '', quoted: '""' },
		{ given: true, quoted: 'true' },
	].map(({ given, quoted }) => ({
		field: 'Send Only Once',
		rule: `is neither "ever" nor "perDay": ${quoted}`,
		option: 'sendOnce',
		values: [given],
	})),
	{
		field: 'Send Only Once',
		rule: 'is neither "ever" nor "perDay"',
		option: 'sendOnce',
		values: [null],
	},
	{
		field: 'Idempotency Key',
		rule: 'is longer than 255 characters',
		option: 'idempotencyKey',
		values: ['🌷'.repeat(256)],
	},
])('a wrong value is refused with: $field $rule', ({ field, rule, option, values }) => {
	for (const value of values) {
		expect(refusal(() => read({ [option]: value })).message).toMatch(
			withAnyValue(`${field} ${rule}`),
		);
	}
});

test.each(['text', 7, []].map((options) => ({ options, name: shown(options) })))(
	'options that are $name are refused',
	({ options }) => {
		expect(refusal(() => read(options)).message).toBe(
			`Options is not a set of fields: ${shown(options)}`,
		);
	},
);
