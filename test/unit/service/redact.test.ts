import * as fc from 'fast-check';
import { createRedactor } from '../../../nodes/PushCampaign/service/redact';

const secret = 'geheim/ü?=key';
const base64 = Buffer.from(secret).toString('base64');

test.each([
	['plain', secret],
	['percent-encoded', encodeURIComponent(secret)],
	['in base64', base64],
	['in base64 without padding', base64.replace(/=+$/, '')],
])('hides a secret %s', (_how, spelling) => {
	const redact = createRedactor([secret]);
	expect(redact(spelling)).toBe('***');
	expect(redact(`a ${spelling} b ${spelling} c`)).toBe('a *** b *** c');
	expect(redact({ [`x ${spelling}`]: [{ deep: `${spelling}!` }] })).toEqual({
		'x ***': [{ deep: '***!' }],
	});
});

test('hides a secret in the base64 of addresses', () => {
	const marked = '>>>???~~~>';
	expect(Buffer.from(marked).toString('base64')).toMatch(/\+.*\/.*==$/);
	const spelling = Buffer.from(marked).toString('base64url');
	expect(createRedactor([marked])(spelling)).toBe('***');
});

test('leaves a padding behind nowhere: the longer spelling goes first', () => {
	expect(base64).toMatch(/=$/);
	expect(createRedactor([secret])(base64)).toBe('***');
	expect(createRedactor(['secret', 'secret-longer'])('secret-longer')).toBe('***');
	expect(createRedactor(['secret-longer', 'secret'])('secret-longer')).toBe('***');
});

test('leaves what is no text, and every other text, as it is', () => {
	const value = { n: 1, t: true, z: null, u: undefined, list: [1, 'word'], o: {} };
	expect(createRedactor([secret])(value)).toEqual(value);
	expect(createRedactor([])('word')).toBe('word');
});

test('does not hide values so short that they occur in words', () => {
	expect(createRedactor(['tokens'])('tokens')).toBe('***');
	expect(createRedactor(['token'])('a token')).toBe('a token');
	expect(createRedactor([''])('abc')).toBe('abc');
});

test('keeps a name __proto__ a name', () => {
	const redacted = createRedactor([secret])(JSON.parse('{"__proto__": {"a": 1}}'));
	expect(JSON.stringify(redacted)).toBe('{"__proto__":{"a":1}}');
});

test('no secret is left in any JSON value', () => {
	fc.assert(
		fc.property(
			fc.string({ unit: 'grapheme', minLength: 6 }).filter((text) => !text.includes('*')),
			fc.string(),
			fc.string(),
			fc.jsonValue({ maxDepth: 2 }),
			(hidden, before, after, other) => {
				const redact = createRedactor([hidden]);
				const bytes = Buffer.from(hidden).toString('base64');
				const spellings = [hidden, encodeURIComponent(hidden), bytes];
				const echo = spellings.map((text) => ({ [before + text]: [text + after, other] }));
				const texts: string[] = [];
				JSON.stringify(redact(echo), (name, value: unknown) => {
					texts.push(name, ...(typeof value === 'string' ? [value] : []));
					return value;
				});
				for (const text of texts) {
					for (const spelling of spellings) expect(text).not.toContain(spelling);
				}
			},
		),
	);
});
