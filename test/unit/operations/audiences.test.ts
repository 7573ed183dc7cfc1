import * as fc from 'fast-check';
import type { SendOperation } from '../../../nodes/PushCampaign/operations/operation';
import { sendToAttributes } from '../../../nodes/PushCampaign/operations/sendToAttributes';
import { sendToSegments } from '../../../nodes/PushCampaign/operations/sendToSegments';
import { sendToSubscriber } from '../../../nodes/PushCampaign/operations/sendToSubscriber';
import { refusal, withAnyValue } from '../service/support';
import { itemOf, judgeNothing } from './support';

// Specification, Audience fields. The rules of the values are tested with the schemas.

const select = (operation: SendOperation, parameters: Record<string, unknown>) =>
	operation.select(itemOf(parameters), judgeNothing);
const selectPairs = (pairs: unknown, specifyAttributes: unknown = 'keypair') =>
	select(sendToAttributes, { specifyAttributes, attributes: { pairs } });
const selectJson = (attributesJson: unknown) =>
	select(sendToAttributes, { specifyAttributes: 'json', attributesJson });
const selectSegments = (segmentIds: unknown) => select(sendToSegments, { segmentIds });
const selectSubscriber = (subscriberId: unknown) => select(sendToSubscriber, { subscriberId });
const pairsOf = (...names: unknown[]) => names.map((name) => ({ name, value: 'x' }));

test('Attributes become an object of names and values, in their order', () => {
	const pairs = [
		{ name: 'plan', value: 'pro' },
		{ name: 'age', value: 7 },
		{ name: ' spaced ', value: ' x ' },
		{ name: '__proto__', value: false },
	];
	for (const mode of ['keypair', null, undefined]) {
		expect(JSON.stringify(selectPairs(pairs, mode))).toBe(
			'{"attribute":{"plan":"pro","age":7,"spaced":" x ","__proto__":false}}',
		);
	}
});

describe('Attributes (JSON)', () => {
	test.each([
		{
			name: 'takes texts, numbers and booleans',
			json: '{"plan": "pro", "age": 7, "vip": true}',
			attribute: { plan: 'pro', age: 7, vip: true },
		},
		{
			name: 'takes an object of an expression, and trims its names',
			json: { plan: 'pro', ' city ': ' Oslo ' },
			attribute: { plan: 'pro', city: ' Oslo ' },
		},
		{ name: 'ignores blanks around it', json: ' {"a": 1} \n', attribute: { a: 1 } },
		{
			name: 'takes no text that begins with a colon for a name',
			json: '{"a\\"b": ":", "c": "\\\\"}',
			attribute: { 'a"b': ':', c: '\\' },
		},
		{
			name: 'takes names that begin with a colon',
			json: '{"a":"b",":x":1,"c":"d",":y":2}',
			attribute: { a: 'b', ':x': 1, c: 'd', ':y': 2 },
		},
		{
			name: 'takes nothing between two texts for a name',
			json: '{"a":"a","b":"b",\n":c":1}',
			attribute: { a: 'a', b: 'b', ':c': 1 },
		},
	])('$name', ({ json, attribute }) => {
		expect(selectJson(json)).toEqual({ attribute });
	});
});

const filled = fc.string({ minLength: 1 }).filter((text) => text.trim() !== '');
const name = filled.map((text) => text.trim());
const value = fc.oneof(filled, fc.boolean(), fc.integer(), fc.constantFrom(0.5, -1e-7));

test('Attributes (JSON) sends any texts, numbers and booleans as they are, given as text or as an object', () => {
	fc.assert(
		fc.property(fc.dictionary(name, value, { minKeys: 1, noNullPrototype: true }), (attribute) => {
			expect(selectJson(JSON.stringify(attribute, null, 1))).toEqual({ attribute });
			expect(selectJson(attribute)).toEqual({ attribute });
		}),
	);
});

test('Attributes (JSON) refuses a name that is there twice, wherever it is and however it is written', () => {
	const message = 'Attributes (JSON) has a name twice';
	expect(refusal(() => selectJson('{"a" : 1, "\\u0061"\n: 2}')).message).toBe(message);
	const names = fc.uniqueArray(name, { minLength: 1, maxLength: 5 });
	fc.assert(
		fc.property(names, fc.nat(), filled, (each, pick, text) => {
			const twice = [...each, each[pick % each.length]];
			const json = twice.map((key) => `${JSON.stringify(key)}:${JSON.stringify(text)}`).join();
			expect(refusal(() => selectJson(`{${json}}`)).message).toBe(message);
		}),
	);
});

describe('Segment IDs', () => {
	test.each([
		{ name: 'take one ID', given: '12', segment: ['12'] },
		{ name: 'are separated by commas', given: ' 12 , 34 ', segment: ['12', '34'] },
		{ name: 'count an ID once that is there twice', given: '12,12,34', segment: ['12', '34'] },
		{ name: 'ignore what is empty between commas', given: ',12,,', segment: ['12'] },
		{ name: 'keep leading zeros', given: '007', segment: ['007'] },
		{
			name: 'are separated by semicolons and line breaks',
			given: '12; 34;;56\n34\r\n78\r9',
			segment: ['12', '34', '56', '78', '9'],
		},
		{
			name: 'read text that is a JSON array as one',
			given: ' ["12", 34, "12"] ',
			segment: ['12', 34, '12'],
		},
		{
			name: 'keep every digit in a JSON array',
			given: '[12345678901234567890]',
			segment: ['12345678901234567890'],
		},
		{ name: 'take a number', given: 0, segment: [0] },
		{
			name: 'send an array as it is',
			given: [' 12 ', 34, ' 12 '],
			segment: [' 12 ', 34, ' 12 '],
		},
	])('$name', ({ given, segment }) => {
		expect(selectSegments(given)).toEqual({ segment });
	});
});

test('a subscriber is addressed by digits as text', () => {
	expect(selectSubscriber(5001)).toEqual({ sid: '5001' });
	expect(selectSubscriber(' 12345678901234567890 ')).toEqual({
		sid: '12345678901234567890',
	});
});

const nothing = 'is empty for this item: its expression returned nothing';
const attribute = 'is not a text, a number or a boolean';
const lost = 'is too large for a number, its last digits are lost already';

interface Refused {
	field: string;
	rule: string;
	values: unknown[];
	read: (given: unknown) => unknown;
}
const refused: Refused[] = [
	{ field: 'Attributes', rule: 'is empty', values: [[], undefined], read: selectPairs },
	{
		field: 'Attributes',
		rule: 'is not a list of fields',
		values: ['plan', ['plan']],
		read: selectPairs,
	},
	{
		field: 'Attributes',
		rule: 'is not a set of fields',
		values: ['x', ['x']],
		read: (attributes) => select(sendToAttributes, { attributes }),
	},
	{
		field: 'Attributes',
		rule: 'has the name "a" twice',
		values: [pairsOf('a', 'b', 'a')],
		read: selectPairs,
	},
	{
		field: 'Name of pair 2 in Attributes',
		rule: 'is missing',
		values: [pairsOf('a', ' ')],
		read: selectPairs,
	},
	{
		field: 'Value of pair 1 in Attributes',
		rule: nothing,
		values: [[{ name: 'a', value: null }]],
		read: selectPairs,
	},
	{
		field: 'Value of pair 1 in Attributes',
		rule: attribute,
		values: [[{ name: 'a', value: {} }]],
		read: selectPairs,
	},
	{
		field: 'Attributes (JSON)',
		rule: 'is missing',
		values: ['', ' ', undefined],
		read: selectJson,
	},
	{ field: 'Attributes (JSON)', rule: nothing, values: [null], read: selectJson },
	{
		field: 'Attributes (JSON)',
		rule: 'is not valid JSON',
		values: ['{', 'plan=pro'],
		read: selectJson,
	},
	{
		field: 'Attributes (JSON)',
		rule: 'is not a set of names and values',
		values: ['[]', '7', 7],
		read: selectJson,
	},
	{ field: 'Attributes (JSON)', rule: 'is empty', values: ['{}', {}], read: selectJson },
	{
		field: 'Attributes (JSON)',
		rule: 'has an attribute without a name',
		values: ['{" ": 1}'],
		read: selectJson,
	},
	{
		field: 'Attributes (JSON) at "b"',
		rule: attribute,
		values: ['{"a": 1, "b": {"c": 1}}', { b: null }, { b: Infinity }],
		read: selectJson,
	},
	{ field: 'Attributes (JSON) at "b"', rule: lost, values: [{ b: 2 ** 53 }], read: selectJson },
	{
		field: 'Attributes (JSON)',
		rule: 'has the name "a" twice',
		values: ['{"a": 1, " a": 2}', { a: 1, 'a ': 1 }],
		read: selectJson,
	},
	{
		field: 'Attributes',
		rule: 'has the name "a" twice',
		values: [pairsOf('a', ' a ')],
		read: selectPairs,
	},
	{
		field: 'Specify Attributes',
		rule: 'is neither "keypair" nor "json"',
		values: ['pairs', '', 7, true],
		read: (mode) => selectPairs([], mode),
	},
	{ field: 'Segment IDs', rule: 'is missing', values: [undefined], read: selectSegments },
	{ field: 'Segment IDs', rule: nothing, values: [null], read: selectSegments },
	{
		field: 'Segment IDs',
		rule: 'is empty',
		values: ['', ' , ', [], '[]'],
		read: selectSegments,
	},
	{
		field: 'Segment IDs',
		rule: 'holds "[12", which is not a segment ID',
		values: ['[12, 34', '[12', ['1', '[12']],
		read: selectSegments,
	},
	{ field: 'Subscriber ID', rule: nothing, values: [null], read: selectSubscriber },
	{
		field: 'Subscriber ID',
		rule: 'is not a number: "a@b.com"',
		values: ['a@b.com'],
		read: selectSubscriber,
	},
];

test.each(refused)(
	'a wrong value is refused with: $field $rule',
	({ field, rule, values, read }) => {
		for (const given of values)
			expect(refusal(() => read(given)).message).toMatch(withAnyValue(`${field} ${rule}`));
	},
);

const twice =
	'The service knows one value per name. Keep one of them, or send once for each value.';

describe('a refused value comes with what to do:', () => {
	test.each([
		{
			name: 'add an attribute if there is none',
			read: () => selectPairs([]),
			advice: 'Add at least one attribute with its name and value.',
		},
		{
			name: 'keep one of two pairs with the same name',
			read: () => selectPairs(pairsOf('a', 'a')),
			advice: twice,
		},
		{
			name: 'keep one of two equal names in JSON',
			read: () => selectJson('{"a": 1, "a": 2}'),
			advice: twice,
		},
		{
			name: 'write JSON like the example',
			read: () => selectJson('{'),
			advice: 'Write it like {"plan": "pro", "city": "Oslo"}.',
		},
		{
			name: 'fill in empty JSON',
			read: () => selectJson(''),
			advice: 'Fill in Attributes (JSON).',
		},
		{
			name: 'use the ID of a segment, not its name',
			read: () => selectSegments('12, spring buyers'),
			advice:
				"Enter the ID from your push service's dashboard, not the name; separate several with commas.",
		},
		{
			name: 'check an expression that gave nothing',
			read: () => selectSegments(null),
			advice: 'Check the expression in Segment IDs, and the item that it reads from.',
		},
	])('$name', ({ read, advice }) => {
		expect(refusal(read).advice).toBe(advice);
	});
});
