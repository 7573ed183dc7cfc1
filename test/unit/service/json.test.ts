import { parseBody } from '../../../nodes/PushCampaign/service/json';
import { createRedactor } from '../../../nodes/PushCampaign/service/redact';

const secret = 'a/key"of the\\site';
const redact = createRedactor([secret, 'the-token', 'short']);

describe('an answer that repeats a secret', () => {
	test.each([
		{ name: 'as JSON writes it', body: JSON.stringify({ says: `key ${secret}` }) },
		{ name: 'with \\/ for /', body: JSON.stringify({ says: `key ${secret}` }).replace('/', '\\/') },
	])('$name has another text in its place', ({ body }) => {
		expect(parseBody(body, redact)).toEqual({ says: 'key (withheld)' });
	});

	test('as it is, more than once, has another text in each place', () => {
		expect(redact(`${secret}, ${secret} and the-token`)).toBe(
			'(withheld), (withheld) and (withheld)',
		);
	});

	test('as a name has another name', () => {
		expect(parseBody('{"the-token":1}', redact)).toEqual({ '(withheld)': 1 });
	});

	test('keeps nothing of a secret that holds the other one', () => {
		expect(createRedactor(['the-key', 'the-key-2'])('x the-key-2')).toBe('x (withheld)');
	});

	test('keeps a secret that is too short to be told from words', () => {
		expect(redact('a short text')).toBe('a short text');
	});
});

describe('an answer', () => {
	test.each([
		{ json: '{"ID":12345678901234567890}', value: { ID: '12345678901234567890' } },
		{ json: '[-12345678901234567890]', value: ['-12345678901234567890'] },
		{ json: '[9007199254740991,9007199254740993]', value: [9007199254740991, '9007199254740993'] },
		{ json: '["a\\"12345678901234567890"]', value: ['a"12345678901234567890'] },
		{ json: '[1.2345678901234567890]', value: [Number('1.2345678901234567890')] },
		{ json: '[12345678901234567890e2]', value: [Number('1.234567890123456789e21')] },
	])('%# with a long number keeps its digits: $json', ({ json, value }) => {
		expect(parseBody(json, redact)).toEqual(value);
	});

	test('that is parsed already is read as well', () => {
		expect(parseBody({ a: ['the-token'] }, redact)).toEqual({ a: ['(withheld)'] });
	});

	test.each(['<html>', '', '{"a":', undefined])('%j is not JSON', (body) => {
		expect(parseBody(body, redact)).toBeUndefined();
	});
});
