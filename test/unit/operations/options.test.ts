import { isDryRun, readSendOptions } from '../../../nodes/PushCampaign/operations/options';
import { itemOf, prepare, refusalOf } from './support';

const read = (options: object, context?: Parameters<typeof itemOf>[1]) =>
	readSendOptions(itemOf({ options }, context));

test('without options a send goes out, in 30 seconds, without a key', () => {
	expect(read({})).toEqual({ dryRun: false, timeoutMs: 30_000 });
});

test('what was chosen is read', () => {
	const options = {
		dryRun: true,
		timeout: ' 05000\n',
		idempotencyKey: ' a-1 ',
	};
	expect(read(options)).toEqual({
		dryRun: true,
		timeoutMs: 5000,
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
		['\u200B order 7\u00A0\n', 'order 7'],
		[0, '0'],
		[-1.5, '-1.5'],
		['9007199254740993', '9007199254740993'],
	])('takes %j, as %s', (given, key) => {
		expect(keyOf(given)).toBe(key);
	});

	test.each([
		['', "'Send Only Once' is missing"],
		['  ', "'Send Only Once' is missing"],
		['\u200B', "'Send Only Once' is missing"],
		['={{ $json.id }}', "'Send Only Once': {{ $json.id }} gave nothing"],
	])('is refused if there is no ID: %j', (given, refusal) => {
		const blank = { input: { id: '\u00A0' } };
		expect(refusalOf(() => keyOf(given, blank))).toBe(refusal);
	});

	test.each([
		{ key: 2 ** 60, refusal: 'so large a number that its last digits are lost' },
		{ key: { id: 1 }, refusal: 'is not text: {"id":1}' },
		{ key: true, refusal: 'is not text: true' },
		{ key: ['a'], refusal: 'is not text: ["a"]' },
		{ key: 'or\u200Bder', refusal: 'holds U+200B, a character that nobody sees' },
	])('refuses $key', ({ key, refusal }) => {
		const read = () => keyOf(key);
		expect(refusalOf(read)).toMatch(/^'Send Only Once' /);
		expect(refusalOf(read)).toContain(refusal);
	});
});

test.each([
	[{ dryRun: '' }, "'Dry Run' is missing"],
	[{ dryRun: null }, "'Dry Run' is missing"],
	[{ dryRun: 'yes' }, `'Dry Run' is not true or false: "yes"`],
	[{ timeout: 0 }, "'Timeout' is not a whole number from 1 to 2147483647: 0"],
	[{ timeout: 2 ** 31 }, "'Timeout' is not a whole number from 1 to 2147483647: 2147483648"],
	[{ timeout: '1,5' }, `'Timeout' is not a whole number from 1 to 2147483647: "1,5"`],
	[{ timeout: '7e1' }, `'Timeout' is not a whole number from 1 to 2147483647: "7e1"`],
	[{ timeout: '' }, "'Timeout' is missing"],
])('refuses %j', (options, refusal) => {
	expect(refusalOf(() => read(options))).toBe(refusal);
});

test.each([
	['TRUE', true],
	[' False\n', false],
	['\u200Bfalse', false],
])('a switch may be the text %j', (dryRun, is) => {
	expect(read({ dryRun }).dryRun).toBe(is);
});

test.each([
	{ parameters: { options: { dryRun: '' } }, label: "'Dry Run'" },
	{ parameters: { options: { htmlToText: '' } }, label: "'Convert HTML to Text'" },
	{ parameters: { options: { shortenTexts: '' } }, label: "'Shorten Long Texts'" },
	{ parameters: { additionalFields: { autoHide: '' } }, label: "'Auto Hide'" },
])('a switch that was added and is empty is refused: $label', ({ parameters, label }) => {
	expect(refusalOf(() => prepare(parameters))).toBe(`${label} is missing`);
});

test('a dry run is known although another option is not valid', () => {
	expect(isDryRun(itemOf({ options: { dryRun: true, timeout: 0 } }))).toBe(true);
	expect(isDryRun(itemOf({ options: { dryRun: 'TRUE' } }))).toBe(true);
	expect(isDryRun(itemOf({ options: { dryRun: '={{ $json.test }}' } }))).toBe(false);
	expect(isDryRun(itemOf({}))).toBe(false);
});
