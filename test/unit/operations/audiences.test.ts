import * as fc from 'fast-check';
import { sendToAttributes } from '../../../nodes/PushCampaign/operations/sendToAttributes';
import { sendToSegments } from '../../../nodes/PushCampaign/operations/sendToSegments';
import { sendToSubscriber } from '../../../nodes/PushCampaign/operations/sendToSubscriber';
import { refusal } from '../service/support';
import { itemOf } from './support';

// Specification, Audience fields.

describe('attributes as pairs', () => {
	const select = (pairs: unknown, specifyAttributes: unknown = 'keypair') =>
		sendToAttributes.select(itemOf({ specifyAttributes, attributes: { pairs } }));

	test('become an object, in their order', () => {
		const pairs = [
			{ name: 'plan', value: 'pro' },
			{ name: 'age', value: 7 },
			{ name: 'vip', value: false },
			{ name: ' spaced ', value: ' x ' },
		];
		const attribute = { plan: 'pro', age: 7, vip: false, ' spaced ': ' x ' };
		expect(select(pairs)).toEqual({ attribute });
		expect(select(pairs, null)).toEqual({ attribute });
		expect(Object.keys(select(pairs).attribute ?? {})).toEqual(Object.keys(attribute));
	});

	test('may have the name __proto__', () => {
		const selection = select([{ name: '__proto__', value: 'x' }]);
		expect(JSON.stringify(selection)).toBe('{"attribute":{"__proto__":"x"}}');
	});

	test.each([
		[[], 'Attributes is empty'],
		[undefined, 'Attributes is empty'],
		['plan', 'Attributes is not a list of names and values'],
		[['plan'], 'Attributes is not a list of names and values'],
		[
			[{ name: 'id', value: Number('12345678901234567890') }],
			'Value of pair 1 in Attributes is a number too large to be exact, its last digits are lost already: give it as text',
		],
		[[{ value: 'x' }], 'Name of pair 1 in Attributes is missing'],
		[[{ name: ' ', value: 'x' }], 'Name of pair 1 in Attributes is missing'],
		[[{ name: 7, value: 'x' }], 'Name of pair 1 in Attributes is not text'],
		[
			[{ name: 'a', value: null }],
			'Value of pair 1 in Attributes is empty for this item: its expression gave nothing',
		],
		[[{ name: 'a', value: 'x' }, { name: 'b' }], 'Value of pair 2 in Attributes is missing'],
		[[{ name: 'a', value: ' ' }], 'Value of pair 1 in Attributes is missing'],
		[
			[{ name: 'a', value: { b: 1 } }],
			'Value of pair 1 in Attributes is not a text, a number or a boolean',
		],
		[['x', 'y'].map((value) => ({ name: 'a', value })), 'Attributes has the name "a" twice'],
	])('%j is refused', (pairs, message) => {
		expect(refusal(() => select(pairs)).message).toBe(message);
	});

	test('that are no collection are refused', () => {
		const item = itemOf({ attributes: ['x'] });
		expect(refusal(() => sendToAttributes.select(item)).message).toBe(
			'Attributes is not a set of fields',
		);
		expect(refusal(() => sendToAttributes.select(itemOf({}))).message).toBe('Attributes is empty');
	});
});

const jsonExample = 'Write it like {"plan": "pro", "city": "Oslo"}.';

test.each([
	[{ attributes: {} }, 'Add at least one attribute with its name and value.'],
	[
		{ attributes: { pairs: ['x', 'y'].map((value) => ({ name: 'a', value })) } },
		'The service knows one value per name. Keep one of them, or send once for each value.',
	],
	[{ specifyAttributes: 'json' }, 'Fill in Attributes (JSON).'],
	[{ specifyAttributes: 'json', attributesJson: '{' }, jsonExample],
	[{ specifyAttributes: 'json', attributesJson: '[]' }, jsonExample],
	[{ specifyAttributes: 'json', attributesJson: '{}' }, jsonExample],
	[
		{ specifyAttributes: 'json', attributesJson: null },
		'Check the expression in Attributes (JSON), and the item that it reads from.',
	],
])('%j is refused with what to do: %s', (parameters, advice) => {
	expect(refusal(() => sendToAttributes.select(itemOf(parameters))).advice).toBe(advice);
});

test.each(['pairs', '', 7, true, {}])('attributes specified as %j are refused', (mode) => {
	const item = itemOf({ specifyAttributes: mode, attributesJson: '{"a":1}' });
	expect(refusal(() => sendToAttributes.select(item)).message).toBe(
		'Specify Attributes is neither "keypair" nor "json"',
	);
});

describe('attributes as JSON', () => {
	const select = (attributesJson: unknown) =>
		sendToAttributes.select(itemOf({ specifyAttributes: 'json', attributesJson }));

	test.each([
		['{"plan": "pro", "age": 7, "vip": true}', { plan: 'pro', age: 7, vip: true }],
		[
			{ plan: 'pro', none: '' },
			{ plan: 'pro', none: '' },
		],
		[' {"a": 1} \n', { a: 1 }],
		['{"a\\"b": ":", "c": "\\\\"}', { 'a"b': ':', c: '\\' }],
		// A text that begins with a colon is no name, nor is what stands between two texts.
		['{"a":"b",":x":1,"c":"d",":y":2}', { a: 'b', ':x': 1, c: 'd', ':y': 2 }],
		['{"a":"a","b":"b"}', { a: 'a', b: 'b' }],
		['{"a":"b",\n":c":1}', { a: 'b', ':c': 1 }],
	])('%j', (json, attribute) => {
		expect(select(json)).toEqual({ attribute });
	});

	test('may have the name __proto__', () => {
		expect(JSON.stringify(select('{"__proto__": "x"}'))).toBe('{"attribute":{"__proto__":"x"}}');
	});

	test.each<[message: string, refused: unknown[]]>([
		['Attributes (JSON) is missing', ['', ' ', undefined]],
		['Attributes (JSON) is empty for this item: its expression gave nothing', [null]],
		['Attributes (JSON) is not valid JSON', ['{', 'plan=pro']],
		['Attributes (JSON) is not a set of names and values', ['[]', 'null', '7', 7, [{ a: 1 }]]],
		['Attributes (JSON) is empty', ['{}', {}]],
		['Attributes (JSON) has an attribute without a name', ['{" ": 1}']],
		[
			'Attributes (JSON) has a value for "b" that is not a text, a number or a boolean',
			['{"a": 1, "b": {"c": 1}}', { b: ['x'] }, { b: null }],
		],
		[
			'Attributes (JSON) has a value for "b" that is a number too large to be exact, its last digits are lost already: give it as text',
			['{"a": 1, "b": 12345678901234567890}', { b: Number('12345678901234567890') }],
		],
	])('%s: %j', (message, refused) => {
		for (const json of refused) expect(refusal(() => select(json)).message).toBe(message);
	});

	test.each([
		['a', '{"a": 1, "b": 2, "a": 3}'],
		['a', '{"a": 1, "\\u0061": 2}'],
		['a', '{"a" : 1, "a"\n: 2}'],
		['__proto__', '{"__proto__": 1, "__proto__": 2}'],
	])('the name %s twice in %s', (name, json) => {
		expect(refusal(() => select(json)).message).toBe(`Attributes has the name "${name}" twice`);
	});

	const value = fc.oneof(
		fc.string(),
		fc.boolean(),
		fc.integer(),
		fc.double({ noNaN: true, min: -1e6, max: 1e6 }).map((x) => (Object.is(x, -0) ? 0 : x)),
	);
	const name = fc.string({ minLength: 1 }).filter((text) => text.trim() !== '');

	test('an object of texts, numbers and booleans comes through as it is, as text and as object', () => {
		fc.assert(
			fc.property(
				fc.dictionary(name, value, { minKeys: 1, noNullPrototype: true }),
				(attribute) => {
					expect(select(JSON.stringify(attribute, null, 1))).toEqual({ attribute });
					expect(select(attribute)).toEqual({ attribute });
				},
			),
		);
	});

	test('a name twice is seen wherever it stands', () => {
		fc.assert(
			fc.property(
				fc.uniqueArray(name, { minLength: 1, maxLength: 5 }),
				fc.nat(),
				fc.string(),
				(names, pick, text) => {
					const twice = names[pick % names.length] ?? '';
					const json = `{${[...names, twice].map((each) => `${JSON.stringify(each)}:${JSON.stringify(text)}`).join(',')}}`;
					expect(refusal(() => select(json)).message).toBe(
						`Attributes has the name "${twice}" twice`,
					);
				},
			),
		);
	});
});

describe('segments', () => {
	const select = (segmentIds: unknown) => sendToSegments.select(itemOf({ segmentIds }));

	test.each([
		['12', ['12']],
		[' 12 , 34 ', ['12', '34']],
		['12,12,34', ['12', '34']],
		[',12,,', ['12']],
		['007', ['007']],
		['12345678901234567890', ['12345678901234567890']],
		['12; 34;;56', ['12', '34', '56']],
		['12\n34\r\n56\r78', ['12', '34', '56', '78']],
		['[12, 13]', [12, 13]],
		[' ["12", 34, "12"] ', ['12', 34, '12']],
		['[12345678901234567890]', ['12345678901234567890']],
		[12, [12]],
		[0, [0]],
		// An array is sent as it is.
		[
			['12', 34, '12'],
			['12', 34, '12'],
		],
		[[' 12 '], [' 12 ']],
		[[0], [0]],
	])('%j', (segmentIds, segment) => {
		expect(select(segmentIds)).toEqual({ segment });
	});

	test.each<[what: string, refused: unknown[]]>([
		['is missing', [undefined]],
		['is empty for this item: its expression gave nothing', [null]],
		['is empty', ['', ' , ', [], '[]']],
		['is neither text, nor a number, nor an array', [{}, true]],
		[
			'holds an ID that is neither text nor a whole number',
			[1.5, -1, '[1.5]', '[[12]]', '[{"id": 12}]', [null], [['12']]],
		],
	])('%s: %j', (what, refused) => {
		for (const segmentIds of refused) {
			expect(refusal(() => select(segmentIds)).message).toBe(`Segment IDs ${what}`);
		}
	});

	test.each([
		...['12 34', '12\t34', '12\u00a034', '["12 34"]', ['12 34']].map((ids) => [ids, '12 34']),
		['12, 34 56', '34 56'],
		['(12)', '(12)'],
		['[12, 34', '[12'],
		['12]', '12]'],
		['[a, b]', '[a'],
		[['[12', '13]'], '[12'],
		['{"id": 12}', '{"id": 12}'],
		['"12", "34"', '"12"'],
		["'12'", "'12'"],
		['“12”', '“12”'],
	])('%j is refused: %s may be more than an ID', (segmentIds, id) => {
		expect(refusal(() => select(segmentIds)).message).toBe(
			`Segment IDs holds "${String(id)}", which is not one ID`,
		);
	});

	test('a text becomes the texts between its commas', () => {
		const id = fc.stringMatching(/^[a-z0-9]{1,6}$/);
		fc.assert(
			fc.property(fc.uniqueArray(id, { minLength: 1 }), (segment) => {
				expect(select(segment.join(' , '))).toEqual({ segment });
				expect(select(segment)).toEqual({ segment });
			}),
		);
	});
});

describe('a subscriber', () => {
	const select = (subscriberId: unknown) => sendToSubscriber.select(itemOf({ subscriberId }));

	test('is addressed by digits as text', () => {
		expect(select(5001)).toEqual({ sid: '5001' });
		expect(select(' 12345678901234567890 ')).toEqual({ sid: '12345678901234567890' });
	});

	test.each([
		['', 'Subscriber ID is missing', 'Fill in Subscriber ID.'],
		[
			null,
			'Subscriber ID is empty for this item: its expression gave nothing',
			'Check the expression in Subscriber ID, and the item that it reads from.',
		],
		[
			'a@b.com',
			'Subscriber ID is not a number: "a@b.com"',
			'Give the ID of one subscriber: digits alone, such as 5001.',
		],
	])('%j is refused', (subscriberId, message, advice) => {
		expect(refusal(() => select(subscriberId))).toMatchObject({ message, advice });
	});
});
