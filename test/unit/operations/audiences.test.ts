import * as fc from 'fast-check';
import type { SendOperation } from '../../../nodes/PushCampaign/operations/operation';
import { sendToAttributes } from '../../../nodes/PushCampaign/operations/sendToAttributes';
import { sendToSegments } from '../../../nodes/PushCampaign/operations/sendToSegments';
import { sendToSubscriber } from '../../../nodes/PushCampaign/operations/sendToSubscriber';
import { refusal } from '../service/support';
import { itemOf } from './support';

// Specification, Audience fields. What a value must be is told with the schemas.

const select = (operation: SendOperation, parameters: Record<string, unknown>) =>
	operation.select(itemOf(parameters));
const selectPairs = (pairs: unknown, specifyAttributes: unknown = 'keypair') =>
	select(sendToAttributes, { specifyAttributes, attributes: { pairs } });
const selectJson = (attributesJson: unknown) =>
	select(sendToAttributes, { specifyAttributes: 'json', attributesJson });
const selectSegments = (segmentIds: unknown) => select(sendToSegments, { segmentIds });
const selectSubscriber = (subscriberId: unknown) => select(sendToSubscriber, { subscriberId });
const pairsOf = (...names: unknown[]) => names.map((name) => ({ name, value: 'x' }));

test('pairs become an object, in their order', () => {
	const pairs = [
		{ name: 'plan', value: 'pro' },
		{ name: 'age', value: 7 },
		{ name: ' spaced ', value: ' x ' },
		{ name: '__proto__', value: false },
	];
	for (const mode of ['keypair', null, undefined]) {
		expect(JSON.stringify(selectPairs(pairs, mode))).toBe(
			'{"attribute":{"plan":"pro","age":7," spaced ":" x ","__proto__":false}}',
		);
	}
});

test.each([
	['{"plan": "pro", "age": 7, "vip": true}', { plan: 'pro', age: 7, vip: true }],
	[
		{ plan: 'pro', none: '' },
		{ plan: 'pro', none: '' },
	],
	[' {"a": 1} \n', { a: 1 }],
	// A text that begins with a colon is no name, nor is what stands between two texts.
	['{"a\\"b": ":", "c": "\\\\"}', { 'a"b': ':', c: '\\' }],
	['{"a":"b",":x":1,"c":"d",":y":2}', { a: 'b', ':x': 1, c: 'd', ':y': 2 }],
	['{"a":"a","b":"b",\n":c":1}', { a: 'a', b: 'b', ':c': 1 }],
])('the JSON %j', (json, attribute) => {
	expect(selectJson(json)).toEqual({ attribute });
});

const name = fc.string({ minLength: 1 }).filter((text) => text.trim() !== '');
const value = fc.oneof(fc.string(), fc.boolean(), fc.integer(), fc.constantFrom(0.5, -1e-7));

test('an object of texts, numbers and booleans comes through as it is, as text and as object', () => {
	fc.assert(
		fc.property(fc.dictionary(name, value, { minKeys: 1, noNullPrototype: true }), (attribute) => {
			expect(selectJson(JSON.stringify(attribute, null, 1))).toEqual({ attribute });
			expect(selectJson(attribute)).toEqual({ attribute });
		}),
	);
});

test('a name twice in JSON is seen wherever it stands, and however it is written', () => {
	const message = 'Attributes (JSON) has a name twice';
	expect(refusal(() => selectJson('{"a" : 1, "\\u0061"\n: 2}')).message).toBe(message);
	const names = fc.uniqueArray(name, { minLength: 1, maxLength: 5 });
	fc.assert(
		fc.property(names, fc.nat(), fc.string(), (each, pick, text) => {
			const twice = [...each, each[pick % each.length]];
			const json = twice.map((key) => `${JSON.stringify(key)}:${JSON.stringify(text)}`).join();
			expect(refusal(() => selectJson(`{${json}}`)).message).toBe(message);
		}),
	);
});

test.each([
	['12', ['12']],
	[' 12 , 34 ', ['12', '34']],
	['12,12,34', ['12', '34']],
	[',12,,', ['12']],
	['007', ['007']],
	['12; 34;;56\n34\r\n78\r9', ['12', '34', '56', '78', '9']],
	[' ["12", 34, "12"] ', ['12', 34, '12']],
	['[12345678901234567890]', ['12345678901234567890']],
	[0, [0]],
	// An array is sent as it is.
	[
		[' 12 ', 34, ' 12 '],
		[' 12 ', 34, ' 12 '],
	],
])('the segments %j', (segmentIds, segment) => {
	expect(selectSegments(segmentIds)).toEqual({ segment });
});

test('a subscriber is addressed by digits as text', () => {
	expect(selectSubscriber(5001)).toEqual({ sid: '5001' });
	expect(selectSubscriber(' 12345678901234567890 ')).toEqual({
		sid: '12345678901234567890',
	});
});

const nothing = 'is empty for this item: its expression gave nothing';
const attribute = 'is not a text, a number or a boolean';

test.each<[name: string, rule: string, given: unknown[], read: (given: unknown) => unknown]>([
	['Attributes', 'is empty', [[], undefined], selectPairs],
	['Attributes', 'is not a list of fields', ['plan', ['plan']], selectPairs],
	[
		'Attributes',
		'is not a set of fields',
		['x', ['x']],
		(attributes) => select(sendToAttributes, { attributes }),
	],
	['Attributes', 'has the name "a" twice', [pairsOf('a', 'b', 'a')], selectPairs],
	['Name of pair 2 in Attributes', 'is missing', [pairsOf('a', ' ')], selectPairs],
	['Name of pair 2 in Attributes', 'is not text', [pairsOf('a', 7)], selectPairs],
	['Value of pair 1 in Attributes', 'is missing', [[{ name: 'a', value: ' ' }]], selectPairs],
	['Value of pair 1 in Attributes', nothing, [[{ name: 'a', value: null }]], selectPairs],
	['Value of pair 1 in Attributes', attribute, [[{ name: 'a', value: {} }]], selectPairs],
	['Attributes (JSON)', 'is missing', ['', ' ', undefined], selectJson],
	['Attributes (JSON)', nothing, [null], selectJson],
	['Attributes (JSON)', 'is not valid JSON', ['{', 'plan=pro'], selectJson],
	['Attributes (JSON)', 'is not a set of names and values', ['[]', '7', 7], selectJson],
	['Attributes (JSON)', 'is empty', ['{}', {}], selectJson],
	['Attributes (JSON)', 'has an attribute without a name', ['{" ": 1}'], selectJson],
	['Attributes (JSON) at "b"', attribute, ['{"a": 1, "b": {"c": 1}}', { b: null }], selectJson],
	[
		'Specify Attributes',
		'is neither "keypair" nor "json"',
		['pairs', '', 7, true],
		(mode) => selectPairs([], mode),
	],
	['Segment IDs', 'is missing', [undefined], selectSegments],
	['Segment IDs', nothing, [null], selectSegments],
	['Segment IDs', 'is empty', ['', ' , ', [], '[]'], selectSegments],
	['Segment IDs', 'is neither text, nor a number, nor an array', [{}, true], selectSegments],
	['“[12”', 'is not a segment ID', ['[12, 34', '[12'], selectSegments],
	['“spring buyers”', 'is not a segment ID', ['12, spring buyers'], selectSegments],
	['Subscriber ID', nothing, [null], selectSubscriber],
	['Subscriber ID', 'is not a number: "a@b.com"', ['a@b.com'], selectSubscriber],
])('%s %s: %j', (field, rule, refused, read) => {
	for (const given of refused) expect(refusal(() => read(given)).message).toBe(`${field} ${rule}`);
});

const twice =
	'The service knows one value per name. Keep one of them, or send once for each value.';

test.each([
	[() => selectPairs([]), 'Add at least one attribute with its name and value.'],
	[() => selectPairs(pairsOf('a', 'a')), twice],
	[() => selectJson('{"a": 1, "a": 2}'), twice],
	[() => selectJson('{'), 'Write it like {"plan": "pro", "city": "Oslo"}.'],
	[() => selectJson(''), 'Fill in Attributes (JSON).'],
	[
		() => selectSegments(null),
		'Check the expression in Segment IDs, and the item that it reads from.',
	],
])('%s is refused with what to do: %s', (read, advice) => {
	expect(refusal(read).advice).toBe(advice);
});
