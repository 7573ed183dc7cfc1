import * as fc from 'fast-check';
import { z } from 'zod/v3';
import { parseJson } from '../../../nodes/PushCampaign/service/json';

const record = z.object({}).passthrough();

test.each<[json: unknown, value: unknown]>([
	['{"ID": 9007199254740993}', { ID: '9007199254740993' }],
	['{"ID": 9007199254740991}', { ID: 9007199254740991 }],
	['{"ID": 9007199254740992}', { ID: '9007199254740992' }],
	['{"ID":-9007199254740993}', { ID: '-9007199254740993' }],
	['[12345678901234567890123]', ['12345678901234567890123']],
	['{"a":"say \\"12345678901234567890\\" ","b":1}', { a: 'say "12345678901234567890" ', b: 1 }],
	['{"a":"\\\\","b":12345678901234567890}', { a: '\\', b: '12345678901234567890' }],
	['[0.12345678901234567, 1234567890123456.5]', [0.12345678901234566, 1234567890123456.5]],
	['[12345678901234567890e1, 1e300]', [1.2345678901234568e20, 1e300]],
	['[0.1999999999999999999]', [0.2]],
	['[1e-99999999999999999999]', [0]],
	// A byte order mark is dropped, in front alone.
	['\uFEFF{"a":"b\uFEFF"}', { a: 'b\uFEFF' }],
	// What is no JSON, or no text, stays as it is.
	...['', '<html></html>', '{"a":12345678901234567890', undefined, null, 7].map(
		(same): [unknown, unknown] => [same, same],
	),
	[{ a: [1] }, { a: [1] }],
])('%j', (json, value) => {
	expect(parseJson(json)).toEqual(value);
});

test('a text of many megabytes is read, and no digit is lost beside it', () => {
	const text = 'x"\\'.repeat(200_000) + 'x'.repeat(17_000_000);
	const parsed = parseJson(`{"text": ${JSON.stringify(text)}, "ID": 12345678901234567890}`);
	const { text: read, ID } = z.object({ text: z.string(), ID: z.string() }).parse(parsed);
	// Not by `expect`: it would print all of it.
	expect([read === text, ID]).toEqual([true, '12345678901234567890']);
});

const nested = (depth: number) => '['.repeat(depth) + ']'.repeat(depth);

test('nesting: 64 levels are read, 65 are not, nor are a hundred thousand', () => {
	expect(Array.isArray(parseJson(nested(64)))).toBe(true);
	expect(parseJson(nested(65))).toBeUndefined();
	expect(parseJson(JSON.parse(nested(65)))).toBeUndefined();
	expect(parseJson('{"a":'.repeat(65) + '1' + '}'.repeat(65))).toBeUndefined();
	expect(['undefined', 'string']).toContain(typeof parseJson(nested(100_000)));
});

test('reads every JSON text as JSON.parse does, but for whole numbers that it would round', () => {
	fc.assert(
		fc.property(fc.json({ maxDepth: 5 }), (json) => {
			const hasLongNumber = /(?<![\d.eE+-])-?\d{16,}(?![\d.eE])/.test(json);
			if (!hasLongNumber) expect(parseJson(json)).toEqual(JSON.parse(json));
		}),
	);
});

test('no digit of a whole number is lost, whatever stands around it', () => {
	fc.assert(
		// zod drops this name, so the test could not look at it.
		fc.property(
			fc.bigInt(),
			fc.string().filter((text) => text !== '__proto__'),
			(id, text) => {
				const parsed = parseJson(`{${JSON.stringify(text)}: [${id}, ${JSON.stringify(text)}]}`);
				const [[name, list] = []] = Object.entries(record.parse(parsed));
				expect(name).toBe(text);
				expect(Array.isArray(list) && list.map(String)).toEqual([String(id), text]);
			},
		),
	);
});
