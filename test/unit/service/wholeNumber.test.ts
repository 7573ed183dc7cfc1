import * as fc from 'fast-check';
import { wholeNumber } from '../../../nodes/PushCampaign/service/wholeNumber';

const read = (value: unknown, bounds: [from: number, to?: number] = [1]) => {
	const result = wholeNumber(...bounds).safeParse(value);
	return result.success ? result.data : result.error.issues[0]?.message;
};

test.each([
	{ name: 'a number', value: 7 },
	{ name: 'text, as a table gives it', value: '7' },
	{ name: 'text with spaces around it', value: ' 7\n' },
	{ name: 'text with a zero in front', value: '07' },
])('$name is read as a whole number', ({ value }) => {
	expect(read(value)).toBe(7);
});

test.each([
	{ value: '-7', quoted: '"-7"' },
	{ value: '1,5', quoted: '"1,5"' },
	{ value: '7.5', quoted: '"7.5"' },
	{ value: '7e1', quoted: '"7e1"' },
	{ value: '', quoted: '""' },
	{ value: 'abc', quoted: '"abc"' },
	{ value: '0', quoted: '"0"' },
	{ value: '9007199254740992', quoted: '"9007199254740992"' },
	{ value: 1.5, quoted: '1.5' },
	{ value: -7, quoted: '-7' },
	{ value: Number.NaN, quoted: 'NaN' },
	{ value: Infinity, quoted: 'Infinity' },
	{ value: true, quoted: 'true' },
	{ value: [7], quoted: '[7]' },
	{ value: { amount: 7 }, quoted: '{"amount":7}' },
])('$quoted is refused, and quoted', ({ value, quoted }) => {
	expect(read(value)).toBe(`is not a whole number from 1: ${quoted}`);
});

test.each([{ value: null }, { value: undefined }])('$value is empty', ({ value }) => {
	expect(read(value)).toBe('is empty');
});

test('a number and its text are read alike, within the bounds and outside', () => {
	fc.assert(
		fc.property(fc.nat(), fc.nat(), fc.nat(), (value, from, to) => {
			const isInside = from <= value && value <= to;
			for (const given of [value, String(value)]) {
				const refused = `is not a whole number from ${from} to ${to}: ${JSON.stringify(given)}`;
				expect(read(given, [from, to])).toBe(isInside ? value : refused);
			}
		}),
		{ examples: [[5, 5, 5]] },
	);
});

test('a value of any type is read or refused', () => {
	fc.assert(
		fc.property(fc.anything({ withDate: true, withNullPrototype: true }), (value) => {
			expect(read(value)).toBeDefined();
		}),
	);
});
