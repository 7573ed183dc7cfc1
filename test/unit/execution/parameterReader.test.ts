import type { GenericValue, IDataObject, IGetNodeParameterOptions } from 'n8n-workflow';
import { hasExpression, parametersOf } from '../../../nodes/PushCampaign/execution/parameterReader';
import { executeFunctions } from './support';

interface World {
	/** The parameters as the user wrote them. */
	readonly written: IDataObject;
	readonly items?: IDataObject[];
	/** What n8n makes of an expression; by default nothing that a test compares with. */
	readonly evaluate?: ((written: unknown, itemIndex: number) => unknown) | undefined;
}

/** A reader beside the items of which it asked n8n to evaluate a parameter. */
function readerOf({ written, items = [{}], evaluate = () => 'evaluated' }: World) {
	const evaluated: number[] = [];
	const { context } = executeFunctions({ items: items.map((json) => ({ json })) });
	Object.assign(context, {
		getTimezone: () => 'Europe/Berlin',
		getNodeParameter(
			name: string,
			itemIndex: number,
			fallback: null,
			options?: IGetNodeParameterOptions,
		) {
			const value = written[name] ?? fallback;
			if (options?.rawExpressions) return value;
			evaluated.push(itemIndex);
			return hasExpression(value) ? evaluate(value, itemIndex) : value;
		},
	});
	return { parametersFor: parametersOf(context), evaluated };
}

const title = { name: 'title', displayName: 'Title' };

/** Reads the title of all items. */
function readAll(written: GenericValue, items: IDataObject[], evaluate?: World['evaluate']) {
	const { parametersFor, evaluated } = readerOf({ written: { title: written }, items, evaluate });
	return { values: items.map((_item, index) => parametersFor(index).get(title)), evaluated };
}

test('a parameter that is missing is undefined, and the timezone is the workflow’s', () => {
	const item = readerOf({ written: {} }).parametersFor(0);
	expect([item.get(title), item.timezone]).toEqual([undefined, 'Europe/Berlin']);
});

test('what holds no expression is evaluated once for all items', () => {
	const options = { timeout: 5 };
	const { values, evaluated } = readAll(options, [{}, {}, {}]);
	expect(values).toEqual([options, options, options]);
	expect(evaluated).toEqual([0]);
});

test.each<[what: string, written: GenericValue]>([
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
])('%s with an expression is evaluated for each item', (_what, written) => {
	const items = [{ title: 'evaluated' }, { title: 'evaluated' }];
	const { values, evaluated } = readAll(written, items);
	expect(values).toEqual(['evaluated', 'evaluated']);
	expect(evaluated).toEqual([0, 1]);
});

type Title = string | number;
const titled = (title: Title): IDataObject => ({ title });
const itself = (title: Title) => title;

describe.each<
	[
		written: GenericValue,
		itemOf: (title: Title) => IDataObject,
		valueFor: (title: Title) => unknown,
	]
>([
	['={{ $json.title }}', titled, itself],
	['={{$json["the title"]}}', (title) => ({ 'the title': title }), itself],
	["={{ $json['the-title'] }}", (title) => ({ 'the-title': title }), itself],
	['={{ $json.page.head["title"] }}', (title) => ({ page: { head: { title } } }), itself],
	[
		'=Hello {{ $json.title }}\n{you}{{$json["more"]}}',
		(title) => ({ title, more: '!' }),
		(title) => `Hello ${title}\n{you}!`,
	],
	[
		{
			name: '=For {{ $json.title }}',
			unit: 'h',
			pairs: [{ icon: null, value: '={{ $json.title }}' }],
		},
		titled,
		(title) => ({ name: `For ${title}`, unit: 'h', pairs: [{ icon: null, value: title }] }),
	],
])('the parameter %j', (written, itemOf, valueFor) => {
	test.each<[what: string, given: Title[], byN8n: Title[], asked: number[]]>([
		['is put together if n8n gives the same', ['a', '$&', '{{ 1 }}'], ['a'], [0]],
		['is left to n8n wherever the field is no text', ['a', 2, 'c'], ['a', 'two'], [0, 1]],
		['is left to n8n for good if that gives something else', ['a', 'b'], ['uno', 'b'], [0, 1]],
		['is left to n8n for good if the first is no text', [1, 'b'], ['1', 'due'], [0, 1]],
	])('for each item %s', (_what, given, byN8n, asked) => {
		const { values, evaluated } = readAll(written, given.map(itemOf), (_written, index) =>
			valueFor(byN8n[index] ?? ''),
		);
		expect(values).toEqual(given.map((title, index) => valueFor(byN8n[index] ?? title)));
		expect(evaluated).toEqual(asked);
	});
});

const inherited: IDataObject = {};
Object.setPrototypeOf(inherited, { title: 'inherited' });

test.each([null, undefined, 'text', 7, [], inherited])('a field of %j is left to n8n', (page) => {
	const items = [{ page: { title: 'one' } }, { page }];
	const { values, evaluated } = readAll('={{ $json.page.title }}', items, () => 'one');
	expect(values).toEqual(['one', 'one']);
	expect(evaluated).toEqual([0, 1]);
});

test('an expression whose text an item happens to hold is evaluated for each item', () => {
	const items = [
		{ title: '', more: '{{ $json.more.trim() }}' },
		{ title: 'two', more: ' ! ' },
	];
	const byN8n = ['{{ $json.more.trim() }}', 'two!'];
	const written = '={{ $json.title }}{{ $json.more.trim() }}';
	expect(readAll(written, items, (_written, index) => byN8n[index]).values).toEqual(byN8n);
});

// So that a message can say that the expression is at fault.
test('what an expression gave nothing for is null, what was left empty is not', () => {
	const written = { none: '', name: '={{ $json.title }}', list: [{ a: '={{ 1 }}', b: ' ' }] };
	const given = { ...written, name: ' ', list: [{ a: undefined, b: ' ' }] };
	const told = { none: '', name: null, list: [{ a: null, b: ' ' }] };
	const items = [{ title: '' }, { title: '' }];
	expect(readAll(written, items, () => given).values).toEqual([told, told]);
	expect(readAll('={{ $json.title }}', items, () => '').values).toEqual([null, null]);
	expect(readAll('', items).values).toEqual(['', '']);
});

test('what n8n gives in the place of a text is taken as it is', () => {
	const circular: IDataObject = {};
	circular['self'] = circular;
	expect(readAll('={{ $json.title }}', [{ title: '7' }], () => circular).values).toEqual([
		circular,
	]);
});
