import type { IDataObject, IGetNodeParameterOptions } from 'n8n-workflow';
import {
	hasExpression,
	ParameterReader,
} from '../../../nodes/PushCampaign/execution/parameterReader';
import { refusal } from '../service/support';

interface World {
	/** The parameters as the user wrote them. */
	readonly written: IDataObject;
	readonly items: IDataObject[];
	/** What n8n makes of an expression; by default nothing that a test compares with. */
	readonly evaluate?: (written: unknown, itemIndex: number) => unknown;
}

/** A reader beside the names and items that it asked n8n to evaluate. */
function readerOf({ written, items, evaluate = () => 'evaluated' }: World) {
	const evaluated: string[] = [];
	const getNodeParameter = jest.fn(
		(name: string, itemIndex: number, fallback: unknown, options?: IGetNodeParameterOptions) => {
			const value = written[name] ?? fallback;
			if (options?.rawExpressions) return value;
			evaluated.push(`${name} ${itemIndex}`);
			return hasExpression(value) ? evaluate(value, itemIndex) : value;
		},
	);
	const reader = new ParameterReader({
		getInputData: () => items.map((json) => ({ json })),
		getTimezone: () => 'Europe/Berlin',
		getNodeParameter,
	});
	return { reader, evaluated };
}

const title = { name: 'title', displayName: 'Title' };

const readAll = (reader: ParameterReader, name: string, count: number) =>
	Array.from({ length: count }, (_, index) => reader.item(index).get({ name, displayName: name }));

test('a parameter that is missing is undefined, and the timezone is the workflow’s', () => {
	const { reader } = readerOf({ written: {}, items: [{}] });
	const item = reader.item(0);
	expect([item.get(title), item.timezone]).toEqual([undefined, 'Europe/Berlin']);
});

test('what holds no expression is evaluated once for all items', () => {
	const options = { timeout: 5 };
	const { reader, evaluated } = readerOf({ written: { options }, items: [{}, {}, {}] });
	expect(readAll(reader, 'options', 3)).toEqual([options, options, options]);
	expect(evaluated).toEqual(['options 0']);
});

test.each([
	['a text', '={{ $json.title.trim() }}'],
	['a collection', { name: '={{ $json.title.trim() }}', text: '={{ $json.title }}' }],
	['two fields', '={{ $json.title + $json.title }}'],
	['a field and another expression', '={{ $json.title }} of {{ $now }}'],
	['a backslash', '=\\{{ $json.title }}'],
	['a brace before the field', '={{{ $json.title }}'],
	['braces that are left open', '={{ $json.title }} {{'],
	['braces that were never opened', '={{ $json.title }} }}'],
	['another node’s field', "={{ $('Shop').item.json.title }}"],
	['a position', '={{ $json.title[0] }}'],
	['the whole item', '={{ $json }}'],
	['the item by another name', '={{ $input.item.json.title }}'],
])('%s with an expression is evaluated for each item', (_what, title) => {
	const { reader, evaluated } = readerOf({
		written: { title },
		items: [{ title: 'evaluated' }, { title: 'evaluated' }],
	});
	expect(readAll(reader, 'title', 2)).toEqual(['evaluated', 'evaluated']);
	expect(evaluated).toEqual(['title 0', 'title 1']);
});

describe.each([
	['={{ $json.title }}', (title: IDataObject[string]) => ({ title })],
	['={{$json.title}}', (title: IDataObject[string]) => ({ title })],
	['={{ $json["the title"] }}', (title: IDataObject[string]) => ({ 'the title': title })],
	["={{ $json['the-title'] }}", (title: IDataObject[string]) => ({ 'the-title': title })],
	[
		'={{ $json.page.head["title"] }}',
		(title: IDataObject[string]) => ({ page: { head: { title } } }),
	],
])('%s', (written, itemOf) => {
	const itemsOf = (...titles: Array<IDataObject[string]>) => titles.map((title) => itemOf(title));

	test('is taken from the input once n8n has given the same', () => {
		const { reader, evaluated } = readerOf({
			written: { title: written },
			items: itemsOf('one', 'two', 'three'),
			evaluate: () => 'one',
		});
		expect(readAll(reader, 'title', 3)).toEqual(['one', 'two', 'three']);
		expect(evaluated).toEqual(['title 0']);
	});

	test('is left to n8n for good once that gave something else', () => {
		const { reader, evaluated } = readerOf({
			written: { title: written },
			items: itemsOf('one', 'two', 'three'),
			evaluate: (_written, index) => ['uno', 'two', 'tre'][index],
		});
		expect(readAll(reader, 'title', 3)).toEqual(['uno', 'two', 'tre']);
		expect(evaluated).toHaveLength(3);
	});

	test('is left to n8n wherever the field is no text', () => {
		const { reader, evaluated } = readerOf({
			written: { title: written },
			items: itemsOf(7, 'one', null, 'two', { a: 1 }),
			evaluate: (_written, index) => (index === 1 ? 'one' : `evaluated ${index}`),
		});
		expect(readAll(reader, 'title', 5)).toEqual([
			'evaluated 0',
			'one',
			'evaluated 2',
			'two',
			'evaluated 4',
		]);
		expect(evaluated).toEqual(['title 0', 'title 1', 'title 2', 'title 4']);
	});
});

describe.each<
	[what: string, written: IDataObject[string], valueFor: (title: string, more: string) => unknown]
>([
	['text around a field', '=Hello {{ $json.title }}\n{you}', (title) => `Hello ${title}\n{you}`],
	['fields in a row', '={{ $json.title }}{{$json["more"]}}', (title, more) => title + more],
	[
		'a collection',
		{
			name: '=For {{ $json.title }}',
			icon: null,
			unit: 'h',
			pairs: [{ name: 7, value: '={{ $json.more }}' }],
		},
		(title, more) => ({
			name: `For ${title}`,
			icon: null,
			unit: 'h',
			pairs: [{ name: 7, value: more }],
		}),
	],
])('%s', (_what, written, valueFor) => {
	const of = (items: Array<[title: string | number, more: string]>) =>
		readerOf({
			written: { title: written },
			items: items.map(([title, more]) => ({ title, more })),
			evaluate: (_written, index) => valueFor(`${items[index]?.[0]}`, items[index]?.[1] ?? ''),
		});

	test('is put together of the input once n8n has given the same', () => {
		const { reader, evaluated } = of([
			['a', '.'],
			['$&', '!'],
			['{{ 1 }}', '\\'],
		]);
		expect(readAll(reader, 'title', 3)).toEqual([
			valueFor('a', '.'),
			valueFor('$&', '!'),
			valueFor('{{ 1 }}', '\\'),
		]);
		expect(new Set(evaluated)).toEqual(new Set(['title 0']));
	});

	test('is left to n8n wherever a field is no text', () => {
		const { reader, evaluated } = of([
			['one', '.'],
			[2, '!'],
			['three', '?'],
		]);
		expect(readAll(reader, 'title', 3)).toEqual([
			valueFor('one', '.'),
			valueFor('2', '!'),
			valueFor('three', '?'),
		]);
		expect(evaluated).toEqual(['title 0', 'title 1']);
	});

	test('is left to n8n for good once that gave something else', () => {
		const items = [
			{ title: 'one', more: '.' },
			{ title: 'two', more: '.' },
			{ title: 'three', more: '.' },
		];
		const { reader, evaluated } = readerOf({
			written: { title: written },
			items,
			evaluate: (_written, index) => valueFor(index === 0 ? 'uno' : `${items[index]?.title}`, '.'),
		});
		expect(readAll(reader, 'title', 3)).toEqual([
			valueFor('uno', '.'),
			valueFor('two', '.'),
			valueFor('three', '.'),
		]);
		expect(evaluated).toHaveLength(3);
	});
});

// So that a message can say that the expression is at fault.
test('what an expression gave nothing for is null, what was left empty is not', () => {
	const written = { none: '', name: '={{ $json.title }}', list: [{ a: '={{ 1 }}', b: ' ' }] };
	const { reader } = readerOf({
		written: { title: written, plain: '={{ $json.title }}', empty: '' },
		items: [{ title: '' }, { title: '' }],
		evaluate: (given) =>
			given === written ? { ...written, name: ' ', list: [{ a: undefined, b: ' ' }] } : '',
	});
	for (const itemIndex of [0, 1]) {
		const { get } = reader.item(itemIndex);
		const valueOf = (name: string) => get({ name, displayName: name });
		expect(valueOf('title')).toEqual({ none: '', name: null, list: [{ a: null, b: ' ' }] });
		expect([valueOf('plain'), valueOf('empty')]).toEqual([null, '']);
	}
});

test('an expression whose text an item happens to hold is evaluated for each item', () => {
	const { reader } = readerOf({
		written: { title: '={{ $json.title }}{{ $json.more.trim() }}' },
		items: [
			{ title: '', more: '{{ $json.more.trim() }}' },
			{ title: 'two', more: ' ! ' },
		],
		evaluate: (_written, index) => ['{{ $json.more.trim() }}', 'two!'][index],
	});
	expect(readAll(reader, 'title', 2)).toEqual(['{{ $json.more.trim() }}', 'two!']);
});

test('what n8n gives in the place of a text is taken as it is', () => {
	const circular: IDataObject = {};
	circular['self'] = circular;
	const written = { title: '={{ $json.title }}' };
	const { reader } = readerOf({ written, items: [{ title: '7' }], evaluate: () => circular });
	expect(readAll(reader, 'title', 1)).toEqual([circular]);
});

test.each([null, undefined, 'text', 7, []])('a field of %j is left to n8n', (page) => {
	const { reader, evaluated } = readerOf({
		written: { title: '={{ $json.page.title }}' },
		items: [{ page: { title: 'one' } }, { page }],
		evaluate: () => 'one',
	});
	expect(readAll(reader, 'title', 2)).toEqual(['one', 'one']);
	expect(evaluated).toHaveLength(2);
});

test('a field that is there only by inheritance is left to n8n', () => {
	const inherited: IDataObject = {};
	Object.setPrototypeOf(inherited, { title: 'inherited' });
	const { reader, evaluated } = readerOf({
		written: { title: '={{ $json.title }}' },
		items: [{ title: 'one' }, inherited],
		evaluate: () => 'one',
	});
	expect(readAll(reader, 'title', 2)).toEqual(['one', 'one']);
	expect(evaluated).toHaveLength(2);
});

test('an expression that breaks is refused in its words', () => {
	const { reader } = readerOf({
		written: { title: '={{ x }}' },
		items: [{}],
		evaluate: () => {
			throw new TypeError('x is not defined');
		},
	});
	const { message, advice } = refusal(() => reader.item(0).get(title));
	expect([message, advice]).toEqual([
		"Title can't be worked out: x is not defined",
		'Correct the expression in Title.',
	]);
});
