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
		{ given: '12', ids: ['12'] },
		{ given: ' 12, 34;56\r\n78,,12 ', ids: ['12', '34', '56', '78'] },
		{ given: 12, ids: [12] },
		{ given: [12, '34', 12], ids: [12, '34', 12] },
		{ given: 'news_7', ids: ['news_7'] },
		{ given: '12345678901234567890', ids: ['12345678901234567890'] },
	])('of $given are $ids', ({ given, ids }) => {
		expect(read(given)).toEqual(ids);
	});

	test('are an array that an expression gives', () => {
		expect(read('={{ $json.ids }}', { gives: { segmentIds: [12, 34] } })).toEqual([12, 34]);
	});

	test.each([
		{ given: '', refusal: 'is missing' },
		{ given: ' , ;', refusal: 'is missing' },
		{ given: [], refusal: 'is missing' },
		{ given: '={{ $json.ids }}', refusal: 'is empty for this item' },
		{ given: 'News readers', refusal: 'holds what is not one ID: "News readers"' },
		{ given: '[12, 34]', refusal: 'holds what is not one ID: "[12"' },
		{ given: '12, "34"', refusal: 'holds what is not one ID: ""34""' },
		{ given: [12, null], refusal: 'holds what is not one ID: null' },
		{ given: [1.5], refusal: 'holds what is not one ID: 1.5' },
		{ given: { id: 12 }, refusal: 'holds what is not one ID: {"id":12}' },
		{ given: beyond, refusal: 'so large a number that its last digits are lost' },
		{ given: '12\ud83c', refusal: 'half of a character' },
	])('are refused: $given', ({ given, refusal }) => {
		expect(refusalOf(() => read(given))).toMatch(/^Segment IDs /);
		expect(refusalOf(() => read(given))).toContain(refusal);
	});
});

describe('Subscriber ID', () => {
	const read = (subscriberId: unknown, context?: Context) =>
		sendToSubscriber.select(itemOf({ subscriberId }, context)).sid;

	test.each([
		{ given: 5001, id: '5001' },
		{ given: ' 5001\n', id: '5001' },
		{ given: '007', id: '007' },
		{ given: '12345678901234567890123', id: '12345678901234567890123' },
	])('of $given is text: $id', ({ given, id }) => {
		expect(read(given)).toBe(id);
	});

	test.each([
		{ given: '', refusal: 'Subscriber ID is missing' },
		{ given: 'abc', refusal: 'Subscriber ID is not a number: "abc"' },
		{ given: '5001, 5002', refusal: 'Subscriber ID holds what is not one ID: "5001, 5002"' },
		{ given: -1, refusal: 'Subscriber ID holds what is not one ID: -1' },
		{ given: true, refusal: 'Subscriber ID holds what is not one ID: true' },
		{
			given: 2 ** 53,
			refusal: 'Subscriber ID is so large a number that its last digits are lost: 9007199254740992',
		},
	])('is refused: $given', ({ given, refusal }) => {
		expect(refusalOf(() => read(given))).toBe(refusal);
	});

	test('is refused if a blank behind the braces makes a text of a number that has lost digits', () => {
		const context = { input: { s: 2 ** 60 }, gives: { subscriberId: `${2 ** 60} ` } };
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
			{ name: '__proto__', value: 'x' },
		];
		const gives = { 'attributes.pairs[1].value': 42, 'attributes.pairs[2].value': false };
		const given = fromPairs(pairs, { gives });
		expect(Object.entries(given ?? {})).toEqual([
			['plan', 'pro'],
			['age', 42],
			['vip', false],
			['__proto__', 'x'],
		]);
	});

	const one = { name: 'plan', value: 'pro' };
	test.each([
		{ pairs: [], refusal: 'Attributes has no attribute' },
		{ pairs: '={{ $json.pairs }}', refusal: 'Attributes has no attribute' },
		{
			pairs: [one, { name: 'plan ', value: 'free' }],
			refusal: 'Attributes has the name "plan" twice',
		},
		{ pairs: [{ ...one, name: '' }], refusal: 'Name in Attribute 1 of Attributes is missing' },
		{
			pairs: [one, { name: 'city', value: '' }],
			refusal: 'Value in Attribute 2 of Attributes is missing',
		},
		{
			pairs: [{ ...one, value: '={{ $json.x }}' }],
			refusal: 'Value in Attribute 1 of Attributes is empty for this item',
		},
		{
			pairs: [{ ...one, value: beyond }],
			refusal:
				'Value in Attribute 1 of Attributes is so large a number that its last digits are lost: 12345678901234567000',
		},
	])('are refused: $pairs', ({ pairs, refusal }) => {
		expect(refusalOf(() => fromPairs(pairs))).toBe(refusal);
	});
});

describe('Attributes (JSON)', () => {
	const fromJson = (attributesJson: unknown, context?: Context) =>
		sendToAttributes.select(itemOf({ specifyAttributes: 'json', attributesJson }, context))
			.attribute;

	test.each([
		{ given: '{"plan": "pro", "age": 42, "vip": true}' },
		{ given: { plan: 'pro', age: 42, vip: true } },
	])('are names and values: $given', ({ given }) => {
		expect(fromJson(given)).toEqual({ plan: 'pro', age: 42, vip: true });
	});

	test.each([
		{ given: '', refusal: 'is missing' },
		{ given: '{plan: "pro"}', refusal: 'is not valid JSON: "{plan: "pro"}"' },
		{ given: '["plan"]', refusal: 'is not a set of names and values: ["plan"]' },
		{ given: '{}', refusal: 'has no attribute' },
		{ given: '{"": "pro"}', refusal: 'is missing' },
		{ given: '{"plan": "pro", "plan ": "free"}', refusal: 'has the name "plan" twice' },
		{ given: '{"plan": null}', refusal: 'plan in Attributes (JSON) is missing' },
		{
			given: '{"plan": ["pro"]}',
			refusal: 'plan in Attributes (JSON) is not a text, a number or a boolean: ["pro"]',
		},
		{ given: '{"plan": "{{ $json.plan }}"}', refusal: 'but is set to Fixed' },
		{
			given: '={"plan": "{{ $json.plan }}"}',
			refusal: 'has nothing in the place of {{ $json.plan }}',
		},
	])('are refused: $given', ({ given, refusal }) => {
		const context = { gives: { attributesJson: '{"plan": ""}' } };
		expect(refusalOf(() => fromJson(given, context))).toContain(refusal);
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
			'Specify Attributes is none of keypair, json: "both"',
		);
	});
});
