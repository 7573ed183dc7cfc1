import * as fc from 'fast-check';

import { namesIn, parseBody } from '../../../nodes/PushCampaign/service/json';

const asItIs = (_name: string, value: unknown) => value;

describe('an answer', () => {
	test.each([
		['{"ID":12345678901234567890}', { ID: '12345678901234567890' }],
		['[-12345678901234567890]', ['-12345678901234567890']],
		['[9007199254740991,9007199254740993]', [9007199254740991, '9007199254740993']],
		['["a\\"12345678901234567890"]', ['a"12345678901234567890']],
		['[1.2345678901234567890]', [Number('1.2345678901234567890')]],
		['[12345678901234567890e2]', [Number('1.234567890123456789e21')]],
	])('%s keeps the digits of its whole numbers', (json, value) => {
		expect(parseBody(json, asItIs)).toEqual(value);
	});

	test('keeps digits beside a text of many megabytes', () => {
		const text = 'x"\\'.repeat(200_000) + 'x'.repeat(17_000_000);
		const body = `{"ID":12345678901234567890,"text":${JSON.stringify(text)}}`;
		const parsed = parseBody(body, asItIs);
		// Not by the matcher alone: it would print all of it.
		expect(JSON.stringify(parsed) === JSON.stringify({ ID: '12345678901234567890', text })).toBe(
			true,
		);
	});

	test('that is parsed already is read as well', () => {
		expect(parseBody({ a: ['b'] }, asItIs)).toEqual({ a: ['b'] });
	});

	test.each(['<html>', '', '{"a":', undefined])('%j is not JSON', (body) => {
		expect(parseBody(body, asItIs)).toBeUndefined();
	});
});

describe('the names in JSON text', () => {
	test.each([
		{ json: '{}', names: [] },
		{ json: '["a", "b"]', names: [] },
		{ json: '{"a" : 1, "\\u0061"\n: 2}', names: ['a', 'a'] },
		{ json: '{"a":":","b\\":":"\\\\","c":"c"}', names: ['a', 'b":', 'c'] },
		{ json: '{"a":{"b":[{"c":1}]}}', names: ['a', 'b', 'c'] },
	])('of $json are $names', ({ json, names }) => {
		expect(namesIn(json)).toEqual(names);
	});

	test('are each there, as often as they are written', () => {
		const pairs = fc.array(fc.tuple(fc.string({ unit: 'grapheme' }), fc.json()));
		fc.assert(
			fc.property(pairs, (given) => {
				const json = `{${given.map(([name, value]) => `${JSON.stringify(name)} :${JSON.stringify(value)}`).join()}}`;
				expect(namesIn(json)).toEqual(given.map(([name]) => name));
			}),
		);
	});
});
