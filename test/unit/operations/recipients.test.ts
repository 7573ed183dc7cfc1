import { sendToAttributes } from '../../../nodes/PushCampaign/operations/sendToAttributes';
import { sendToSegments } from '../../../nodes/PushCampaign/operations/sendToSegments';
import { sendToSubscriber } from '../../../nodes/PushCampaign/operations/sendToSubscriber';
import { itemOf, refusalOf } from './support';

type Context = Parameters<typeof itemOf>[1];
const beyond = Number('12345678901234567890');

describe('Segment IDs', () => {
	const read = (segmentIds: unknown, context?: Context) =>
		sendToSegments.select(itemOf({ segmentIds }, context)).segment;

	test.each([
		['12', ['12']],
		[' 12, 34;56\r\n78,,12 ', ['12', '34', '56', '78']],
		['12，34；56、78､9', ['12', '34', '56', '78', '9']],
		['12،34؛56፣78፤9', ['12', '34', '56', '78', '9']],
		['12|34 ｜ 56\u037E78\u2028\u200B9\u00A0', ['12', '34', '56', '78', '9']],
		[12, [12]],
		['news_7', ['news_7']],
		['12345678901234567890', ['12345678901234567890']],
		['\u202A12\u202C, 12\u200E;\u00AD34', ['12', '34']],
	])('of %j are %j', (given, ids) => {
		expect(read(given)).toEqual(ids);
	});

	test('are an array that an expression gives', () => {
		const ids = [12, '34', ' 56', '78\u00A0\u200B\n', 12];
		const given = read('={{ $json.ids.concat() }}', { input: { ids } });
		expect(given).toEqual([12, '34', '56', '78', 12]);
	});

	test.each([
		['', 'is missing'],
		[' , ;', 'is missing'],
		[[], 'is missing'],
		['News readers', 'holds what is not one ID: "News readers"'],
		['[12, 34]', 'holds what is not one ID: "[12"'],
		['12, "34"', 'holds what is not one ID: ""34""'],
		[['12', ' '], 'holds what is not one ID: ""'],
		[['12,34'], 'holds what is not one ID: "12,34"'],
		[[1.5], 'holds what is not one ID: 1.5'],
		[{ id: 12 }, 'holds what is not one ID: {"id":12}'],
		[beyond, 'so large a number that its last digits are lost'],
		[[beyond], 'so large a number that its last digits are lost'],
		['1\u200B2', 'holds U+200B, a character that nobody sees: "1\u200B2"'],
		['1\uFE0F2', 'holds what is not one ID'],
		['12, MÃ¼nchen', 'holds Ã¼, as if a file had been read'],
		[['12', 'MÃ¼nchen'], 'holds Ã¼, as if a file had been read'],
	])('are refused: %j', (given, refusal) => {
		expect(refusalOf(() => read(given))).toMatch(/^'Segment IDs' /);
		expect(refusalOf(() => read(given))).toContain(refusal);
	});

	test('are refused if a blank behind the braces makes a text of an array that has lost digits', () => {
		const context = { input: { s: [beyond] } };
		expect(refusalOf(() => read('={{ $json.s }} ', context))).toContain('last digits are lost');
	});

	test.each([...'()[]{}"\'`“”„‘’«»'])('are refused if one holds the character %s', (mark) => {
		const what = `'Segment IDs' holds what is not one ID: "3${mark}4"`;
		expect(refusalOf(() => read(`12, 3${mark}4`))).toBe(what);
	});
});

describe('Subscriber ID', () => {
	const read = (subscriberId: unknown, context?: Context) =>
		sendToSubscriber.select(itemOf({ subscriberId }, context)).sid;

	test.each([
		[5001, '5001'],
		[' 5001\n', '5001'],
		['007', '007'],
		['12345678901234567890123', '12345678901234567890123'],
		['\u00A05001\u200B', '5001'],
		['\0\u20605001\uFEFF\u0007', '5001'],
		['\u200E5001\u200F\u3164\u180E', '5001'],
		[0, '0'],
	])('of %j is text: %s', (given, id) => {
		expect(read(given)).toBe(id);
	});

	test.each([
		['', "'Subscriber ID' is missing"],
		['abc', `'Subscriber ID' is not a number: "abc"`],
		['5001, 5002', `'Subscriber ID' holds what is not one ID: "5001, 5002"`],
		['-5', `'Subscriber ID' is not a number: "-5"`],
		['٥', `'Subscriber ID' is not a number: "٥"`],
		[true, "'Subscriber ID' holds what is not one ID: true"],
		[2 ** 53, "'Subscriber ID' is so large a number that its last digits are lost: "],
	])('is refused: %j', (given, refusal) => {
		expect(refusalOf(() => read(given))).toContain(refusal);
	});

	test('is refused if a blank behind the braces makes a text of a number that has lost digits', () => {
		const context = { input: { s: 2 ** 60 } };
		expect(refusalOf(() => read('={{ $json.s }} ', context))).toContain('last digits are lost');
	});
});

describe('Attributes', () => {
	const fromPairs = (pairs: unknown, context?: Context) =>
		sendToAttributes.select(itemOf({ attributes: { pairs } }, context)).attribute;

	test('are pairs, and an expression may give a number or a boolean', () => {
		const pairs = [
			{ name: ' plan ', value: 'pro' },
			{ name: 'age', value: '={{ $json.age }}' },
			{ name: 'vip', value: '={{ $json.vip }}' },
			{ name: '__proto__', value: '\u200B Oslo\u00A0' },
			{ name: '\u202Acity\u00AD', value: 'pro\u200E' },
			{ name: 'heart', value: '❤\uFE0F' },
			{ name: 'left', value: 'None' },
			{ name: 'name', value: 'O\u0092Neil' },
		];
		const given = fromPairs(pairs, { input: { age: 42, vip: false } });
		expect(Object.entries(given ?? {})).toEqual([
			['plan', 'pro'],
			['age', 42],
			['vip', false],
			['__proto__', 'Oslo'],
			['city', 'pro'],
			['heart', '❤\uFE0F'],
			['left', 'None'],
			['name', 'O’Neil'],
		]);
	});

	const one = { name: 'plan', value: 'pro' };
	test.each([
		[[], "'Attributes' has no attribute"],
		['={{ $json.pairs }}', "'Attributes' has no attribute"],
		[[one, { name: 'plan ', value: 'free' }], `'Attributes' has the name "plan" twice`],
		[[{ ...one, name: 'NULL' }], "'Name' in attribute 1 of 'Attributes' holds NULL, as if "],
		[[{ ...one, value: 'NaN' }], "'Value' in attribute 1 of 'Attributes' holds NaN, as if "],
		[[{ ...one, name: '' }], "'Name' in attribute 1 of 'Attributes' is missing"],
		[[one, { name: 'city', value: '' }], "'Value' in attribute 2 of 'Attributes' is missing"],
		[[{ ...one, value: beyond }], "'Value' in attribute 1 of 'Attributes' is so large a number"],
	])('are refused: %j', (pairs, refusal) => {
		expect(refusalOf(() => fromPairs(pairs))).toContain(refusal);
	});
});

describe('Attributes (JSON)', () => {
	const fromJson = (attributesJson: unknown, context?: Context) =>
		sendToAttributes.select(itemOf({ specifyAttributes: 'json', attributesJson }, context))
			.attribute;

	test.each([
		{ given: '{"plan": "pro", "age": 42, "vip": true}' },
		{ given: { plan: 'pro', age: 42, vip: true } },
		{ given: { '\u202Aplan\u202C': 'pro\u200E', age: 42, vip: true } },
		{ given: ' {" plan ": "pro\\n", "age": 42, "vip": true}\n' },
	])('are names and values: $given', ({ given }) => {
		expect(fromJson(given)).toEqual({ plan: 'pro', age: 42, vip: true });
	});

	test.each([
		['', 'is missing'],
		['{plan: "pro"}', 'is not valid JSON: "{plan: "pro"}"'],
		['["plan"]', 'is not a set of names and values: ["plan"]'],
		['{}', 'has no attribute'],
		['null', 'holds null'],
		['{"a": "b', 'is not valid JSON'],
		['{"": "pro"}', 'is missing'],
		['{"plan": "pro", "plan ": "free"}', 'has the name "plan" twice'],
		['{"city":"Oslo","city":"Bergen"}', 'has the name "city" twice'],
		['{"city" : 1, "\\u0063ity"\n: 1}', 'has the name "city" twice'],
		['{"a": {"b": 1}, "a": 2}', 'has the name "a" twice'],
		['{"a": {"b": 1}}', `a in 'Attributes (JSON)' is not a text, a number or a boolean: {"b":1}`],
		['{"id": 9007199254740993}', "id in 'Attributes (JSON)' is so large a number"],
		['{"plan": null}', "plan in 'Attributes (JSON)' is missing"],
		['{"plan": "{{ $json.plan }}"}', 'but is set to Fixed'],
	])('are refused: %j', (given, refusal) => {
		expect(refusalOf(() => fromJson(given))).toContain(refusal);
	});

	const stranger = 'x", "vip": "yes';
	const row = { plan: stranger, line: 'a\nb', path: 'C:\\new', age: '5, "vip": "yes"', n: 'a"b' };
	test.each([
		'{"plan": "{{ $json.plan }}"}',
		'{"plan": "a {{ $json.plan }} b", "city": "Oslo"}',
		'{"{{ $json.plan }}": 1}',
		'{"plan": "{{ $json.line }}"}',
		'{"plan": "{{ $json.path }}"}',
		'{"n": "{{ $json.n }}"}',
		'{"age": {{ $json.age }}}',
		'{"city": "Oslo", "age":\n{{ $json.age }} }',
		'{"city": {{ JSON.stringify($json.n) }}, "plan": "{{ $json.plan }}"}',
		'{"plan": "a\\"b {{ $json.n.length }}"}',
	])('are refused if what fills them in may be more than a value: %s', (json) => {
		const read = () => fromJson(`=${json}`, { input: row });
		expect(refusalOf(read)).toMatch(
			/^'Attributes \(JSON\)' has a part that may be more than a value in JSON, \{\{ /,
		);
	});

	test.each([
		['{{ { plan: $json.plan } }}', { plan: stranger }],
		['{"plan": {{ JSON.stringify($json.plan) }}}', { plan: stranger }],
		[' {{ JSON.stringify({ plan: $json.plan }) }}\n', { plan: stranger }],
		[
			'{"plan": "{{ $json.city }}-{{ $json.age }}", "age": {{ $json.age }}}',
			{ plan: 'Oslo-5', age: 5 },
		],
		['{ {{ $json.pairs }} }', { vip: true }],
	])('are filled in by values: %s', (json, attribute) => {
		const input = { plan: stranger, city: 'Oslo', age: 5, pairs: '"vip": true' };
		expect(fromJson(`=${json}`, { input })).toEqual(attribute);
	});

	test('are no names if they are values', () => {
		const json = '{"a":"a","b":"b\\":","c":":","\\"d\\":":"\\\\", ":e":"a"}';
		expect(fromJson(json)).toEqual({ a: 'a', b: 'b":', c: ':', '"d":': '\\', ':e': 'a' });
	});

	test('are not read if the fields are chosen, and the other way round', () => {
		const both = {
			attributes: { pairs: [{ name: 'plan', value: 'pro' }] },
			attributesJson: '{"city": "Oslo"}',
		};
		const read = (specifyAttributes: string) =>
			sendToAttributes.select(itemOf({ ...both, specifyAttributes })).attribute;
		expect(read('keypair')).toEqual({ plan: 'pro' });
		expect(read('json')).toEqual({ city: 'Oslo' });
		expect(refusalOf(() => read('both'))).toBe(
			`'Specify Attributes' is none of keypair, json: "both"`,
		);
	});
});
