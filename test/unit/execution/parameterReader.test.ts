import type { INodeParameters } from 'n8n-workflow';
import { hasExpression, parametersOf } from '../../../nodes/PushCampaign/execution/parameterReader';
import { executeFunctions } from './support';

interface World {
	/** The parameters as the user wrote them. */
	readonly written: INodeParameters;
	readonly items?: object[];
	/** Changes what n8n gives for a parameter. */
	readonly evaluate?: (value: unknown, itemIndex: number) => unknown;
}

/** A reader beside what n8n was asked for: the parameter, or the expression, and the item's index. */
function readerOf({ written, items = [{}], evaluate = (value) => value }: World) {
	const asked: string[] = [];
	const json = items.map((item) => ({ json: { ...item } }));
	const { context } = executeFunctions({ items: json, parameters: written });
	const { getNodeParameter, evaluateExpression } = context;
	Object.assign(context, {
		getNodeParameter(name: string, itemIndex: number, fallback: null, options?: object) {
			const value: unknown = getNodeParameter.call(context, name, itemIndex, fallback, options);
			if (options !== undefined) return value;
			asked.push(`${name} ${itemIndex}`);
			return evaluate(value, itemIndex);
		},
		evaluateExpression(expression: string, itemIndex: number) {
			asked.push(`${expression.replace(/\s+/g, ' ')} ${itemIndex}`);
			return evaluateExpression.call(context, expression, itemIndex);
		},
	});
	return { parametersFor: parametersOf(context), asked };
}

const title = { name: 'title', displayName: 'Title' };

/** Reads the title of all items, with the part of each that gave nothing. */
function readAll(world: World) {
	const { parametersFor, asked } = readerOf(world);
	const items = (world.items ?? [{}]).map((_item, index) => parametersFor(index));
	const values = items.map((item) => item.get(title));
	return { values, empty: items.map((item) => item.originOf('title').emptyPart), asked };
}

/** The same of a text that is written so. */
const readTitles = (written: string, items: object[], evaluate?: World['evaluate']) =>
	readAll({ written: { title: written }, items, ...(evaluate && { evaluate }) });

test('a parameter that is missing is undefined, and the timezone is the workflow’s', () => {
	const item = readerOf({ written: {} }).parametersFor(0);
	expect([item.get(title), item.timezone]).toEqual([undefined, 'UTC']);
});

test('what holds no expression is taken as it is written', () => {
	const options = { timeout: 5, list: [{ name: 'a' }] };
	const { values, asked } = readAll({ written: { title: options }, items: [{}, {}] });
	expect(values).toEqual([options, options]);
	expect(asked).toEqual([]);
});

describe('an expression alone', () => {
	test('with a field of the item is read without n8n once that gave the same', () => {
		const items = [{ a: { 'the b': 'x' } }, { a: { 'the b': '{{ 1 }}' } }, { a: { 'the b': 'z' } }];
		for (const written of ['={{ $json.a["the b"] }}', "={{$json.a['the b']}}"]) {
			expect(readTitles(written, items)).toMatchObject({
				values: ['x', '{{ 1 }}', 'z'],
				asked: ['title 0'],
			});
		}
	});

	test('is left to n8n if the field is no text, and for good if n8n gave something else for the first', () => {
		const items = [{ a: 'x' }, { a: 7 }, { a: 'z' }];
		expect(readTitles('={{ $json.a }}', items)).toMatchObject({
			values: ['x', 7, 'z'],
			asked: ['title 0', 'title 1'],
		});
		expect(readTitles('={{ $json.a }}', items, (value) => `n8n’s ${String(value)}`)).toMatchObject({
			values: ['n8n’s x', 'n8n’s 7', 'n8n’s z'],
			asked: ['title 0', 'title 1', 'title 2'],
		});
	});

	const inherited = {};
	Object.setPrototypeOf(inherited, { b: 'inherited' });
	test.each([null, undefined, 'text', 7, [], inherited])('in %j is left to n8n', (a) => {
		const { asked } = readTitles('={{ $json.a.b }}', [{ a: { b: 'x' } }, { a }]);
		expect(asked).toEqual(['title 0', 'title 1']);
	});

	test.each([
		'={{ $json.a.trim() }}',
		'={{ $json.a + $json.a }}',
		'={{ $json.a[0] }}',
		'={{ $json }}',
		'={{ $input.item.json.a }}',
	])('that is more than a field is left to n8n: %s', (written) => {
		const { asked } = readTitles(written, [{ a: 'x' }, { a: 'y' }]);
		expect(asked).toEqual(['title 0', 'title 1']);
	});
});

describe('a text with parts', () => {
	test('of fields of the item is put together without n8n once that gave the same', () => {
		const items = [
			{ a: 'x', b: '!' },
			{ a: '$& {{ $json.b }}', b: '' },
			{ a: '', b: '' },
		];
		expect(readTitles('=Hello {{ $json.a }}\n{you}{{$json["b"]}}', items)).toEqual({
			values: ['Hello x\n{you}!', 'Hello $& {{ $json.b }}\n{you}', 'Hello \n{you}'],
			empty: [undefined, '{{$json["b"]}}', '{{ $json.a }}'],
			asked: ['title 0'],
		});
	});

	const list = '{{ [( $json.a.name ),( $json.b.trim() )] }}';
	const written = '={{ $json.a.name }} of {{ $json.b.trim() }}';

	test('is asked for as the list of its parts once joining them gave the same', () => {
		const items = [{ name: 'x' }, { name: 7 }, { name: false }, { name: null }, {}, { name: '' }];
		const input = items.map((a) => ({ a, b: ' shop ' }));
		expect(readTitles(written, input)).toEqual({
			values: ['x', '7', 'false', '', '', ''].map((name) => `${name} of shop`),
			empty: [...Array<undefined>(3), ...Array<string>(3).fill('{{ $json.a.name }}')],
			asked: ['title 0', ...input.map((_item, index) => `${list} ${index}`)],
		});
	});

	test('is asked for part by part if one of them reads from what is not there', () => {
		const { values, empty, asked } = readTitles(written, [
			{ b: ' shop ' },
			{ a: { name: 'x' }, b: 'y' },
		]);
		expect(values).toEqual([' of shop', 'x of y']);
		expect(empty).toEqual(['{{ $json.a.name }}', undefined]);
		expect(asked).toContain('{{ $json.a.name }} 0');
	});

	test('is asked for itself if a part is an object', () => {
		const items = [
			{ a: { name: 'x' }, b: 'y' },
			{ a: { name: { first: 'x' } }, b: 'y' },
		];
		const { values, asked } = readTitles(written, items);
		expect(values).toEqual(['x of y', '[object Object] of y']);
		expect(asked).toContain('title 1');
	});

	test('has an empty part if what it gives is not a number', () => {
		const { values, empty } = readTitles('=Save {{ $json.percent * 2 }}%', [{ percent: 'x' }, {}]);
		expect(values).toEqual(['Save %', 'Save %']);
		expect(empty).toEqual(Array(2).fill('{{ $json.percent * 2 }}'));
	});

	test.each([
		{ name: 'changes each time', written: '={{ $json.a }} at {{ Math.random() }}' },
		{ name: 'gives a list', written: '={{ $json.a }}: {{ $json.b }}' },
	])('has an empty part beside one that $name', ({ written }) => {
		const items = [
			{ a: 'x', b: ['y'] },
			{ a: '', b: ['y'] },
		];
		expect(readTitles(written, items).empty).toEqual([undefined, '{{ $json.a }}']);
	});

	test('has an empty part for a list without entries', () => {
		const { values, empty } = readTitles('=News {{ $json.a }}', [{ a: ['x'] }, { a: [] }]);
		expect(values).toEqual(['News x', 'News ']);
		expect(empty).toEqual([undefined, '{{ $json.a }}']);
	});

	test('is left to n8n for good if it gives something else for the first item', () => {
		const items = [{ a: 'x' }, { a: '' }];
		expect(
			readTitles('=Hello {{ $json.a }}', items, (value) => `! ${String(value)}`.slice(0, 5)),
		).toEqual({
			values: ['! Hel', '! Hel'],
			empty: [undefined, undefined],
			asked: ['title 0', 'title 1'],
		});
	});

	test.each([
		{ name: 'a comment', written: '=Hello {{ $json.a // the name }}', value: 'Hello x' },
		{ name: 'an object', written: '=Hello {{ {a: $json.a}.a }}', value: 'Hello x' },
		{ name: 'an escaped brace', written: '=\\{{ {{ $json.a }}', value: '\\{{ x' },
		{ name: 'braces that were never opened', written: '={{ $json.a }} }}', value: 'x }}' },
	])('is what n8n makes of it with $name', ({ written: text, value }) => {
		expect(readTitles(text, [{ a: 'x' }, { a: 'x' }]).values).toEqual([value, value]);
	});
});

test('each text in a collection is read by itself, and known by its place', () => {
	const pairs = [{ name: '=For {{ $json.a }}', value: 'b' }, { name: '={{ $json.a.trim() }}' }];
	const written = { title: { pairs, unit: 'h' } };
	const { parametersFor, asked } = readerOf({ written, items: [{ a: 'x' }, { a: '' }] });
	const items = [parametersFor(0), parametersFor(1)];
	expect(items.map((item) => item.get(title))).toEqual([
		{ pairs: [{ name: 'For x', value: 'b' }, { name: 'x' }], unit: 'h' },
		{ pairs: [{ name: 'For ', value: 'b' }, { name: null }], unit: 'h' },
	]);
	const names = ['title.pairs[0].name', 'title.pairs[1].name'];
	expect(asked).toEqual([`${names[0]} 0`, `${names[1]} 0`, `${names[1]} 1`]);
	expect(items.map((item) => item.originOf('title.pairs[0].name'))).toEqual([
		{ expression: '=For {{ $json.a }}', emptyPart: undefined },
		{ expression: '=For {{ $json.a }}', emptyPart: '{{ $json.a }}' },
	]);
	expect(items[1]?.originOf('title.pairs[0].value')).toEqual({});
});

// So that a message can say that the expression is at fault.
test('what an expression returned nothing for is null, what was left empty is not', () => {
	expect(readTitles('={{ $json.a }}', [{ a: ' ' }, { a: '' }, {}]).values).toEqual([
		null,
		null,
		null,
	]);
	expect(readTitles('={{ $json.a }}{{ $json.b }}', [{ a: ' ' }, {}]).values).toEqual([null, null]);
	expect(readTitles('', [{}]).values).toEqual(['']);
});

test('an expression that n8n refuses is refused with the name of the parameter', () => {
	const { parametersFor } = readerOf({ written: { title: { a: '={{ $("Gone").item }}' } } });
	expect(() => parametersFor(0).get(title)).toThrow(/^Title can't be evaluated: /);
});

test('whether there is an expression in a parameter is known', () => {
	expect([{ a: ['={{ 1 }}'] }, { a: 'b = {{ c }}' }].map(hasExpression)).toEqual([true, false]);
});
