import { isDryRun, readSendOptions } from '../../../nodes/PushCampaign/operations/options';
import { itemOf, refusalOf } from './support';

const read = (options: object, context?: Parameters<typeof itemOf>[1]) =>
	readSendOptions(itemOf({ options }, context));

test('without options a send goes out, in 30 seconds, without a key', () => {
	expect(read({})).toEqual({ dryRun: false, timeoutMs: 30_000, unknownOutcome: 'report' });
});

test('what was chosen is read', () => {
	const options = {
		dryRun: true,
		timeout: '5000',
		unknownOutcome: 'resend',
		idempotencyKey: ' a-1 ',
	};
	expect(read(options)).toEqual({
		dryRun: true,
		timeoutMs: 5000,
		unknownOutcome: 'resend',
		idempotencyKey: 'a-1',
	});
});

describe('Send Only Once', () => {
	const keyOf = (idempotencyKey: unknown, context?: Parameters<typeof itemOf>[1]) =>
		read({ idempotencyKey }, context).idempotencyKey;

	test.each([
		[42, '42'],
		[
			'https://blog.example/what-does-null-mean-in-sql',
			'https://blog.example/what-does-null-mean-in-sql',
		],
		['x'.repeat(255), 'x'.repeat(255)],
		['🌷'.repeat(255), '🌷'.repeat(255)],
	])('takes %s', (given, key) => {
		expect(keyOf(given)).toBe(key);
	});

	test.each(['', '  ', '\u200B', '={{ $json.id }}'])(
		'is made of the content if "%s" is blank',
		(given) => {
			expect(keyOf(given)).toBe('');
			expect(keyOf(given, { input: { id: '\u00A0' } })).toBe('');
		},
	);

	test.each([
		{ key: 'x'.repeat(256), refusal: 'is longer than 255 characters' },
		{ key: 2 ** 60, refusal: 'so large a number that its last digits are lost' },
		{ key: { id: 1 }, refusal: 'is not text: {"id":1}' },
		{ key: true, refusal: 'is not text: true' },
		{ key: 'null', refusal: 'holds null' },
		{ key: 'sale-Invalid Date', refusal: 'holds Invalid Date' },
		{
			key: '=order-{{ $json.n }}',
			gives: 'order-',
			refusal: 'has nothing in the place of {{ $json.n }}',
		},
	])('refuses $key', ({ key, gives, refusal }) => {
		const read = () => keyOf(key, { gives: { 'options.idempotencyKey': gives } });
		expect(refusalOf(read)).toMatch(/^'Send Only Once' /);
		expect(refusalOf(read)).toContain(refusal);
	});
});

test.each([
	[{ dryRun: '={{ $json.test }}' }, "'Dry Run' is empty for this item"],
	[{ dryRun: 'yes' }, `'Dry Run' is not true or false: "yes"`],
	[{ timeout: 0 }, "'Timeout' is not a whole number from 1 to 2147483647: 0"],
	[{ timeout: '' }, "'Timeout' is missing"],
	[
		{ unknownOutcome: 'always' },
		`'Unknown Outcome' is none of report, resend, countAsSent: "always"`,
	],
])('refuses %s', (options, refusal) => {
	expect(refusalOf(() => read(options))).toBe(refusal);
});

test('a dry run is known although another option is not valid', () => {
	expect(isDryRun(itemOf({ options: { dryRun: true, timeout: 0 } }))).toBe(true);
	expect(isDryRun(itemOf({ options: { dryRun: '={{ $json.test }}' } }))).toBe(false);
	expect(isDryRun(itemOf({}))).toBe(false);
});
