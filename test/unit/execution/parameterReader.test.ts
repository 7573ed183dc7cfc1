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

const askedForEachItem: Array<{ name: string; written: GenericValue }> = [
	{ name: 'a call in it', written: '={{ $json.title.trim() }}' },
	{
		name: 'a collection around it',
		written: { name: '={{ $json.title.trim() }}', text: '={{ $json.title }}' },
	},
	{ name: 'two fields', written: '={{ $json.title + $json.title }}' },
	{ name: 'a field and another expression', written: '={{ $json.title }} of {{ $now }}' },
	{ name: 'a backslash', written: '=\\{{ $json.title }}' },
	{ name: 'a brace before the field', written: '={{{ $json.title }}' },
	{ name: 'braces that are left open', written: '={{ $json.title }} {{' },
	{ name: 'braces that were never opened', written: '={{ $json.title }} }}' },
	{ name: 'a field of another node', written: "={{ $('Shop').item.json.title }}" },
	{ name: 'a position', written: '={{ $json.title[0] }}' },
	{ name: 'the whole item', written: '={{ $json }}' },
	{ name: 'the item by another name', written: '={{ $input.item.json.title }}' },
];

test.each(askedForEachItem)(
	'n8n evaluates an expression with $name for each item',
	({ written }) => {
		const items = [{ title: 'evaluated' }, { title: 'evaluated' }];
		const { values, evaluated } = readAll(written, items);
		expect(values).toEqual(['evaluated', 'evaluated']);
		expect(evaluated).toEqual([0, 1]);
	},
);

type Title = string | number;
const titled = (title: Title): IDataObject => ({ title });
const itself = (title: Title) => title;

/** A parameter of fields of the item alone, which the node can put together itself. */
interface Template {
	readonly written: GenericValue;
	readonly itemOf: (title: Title) => IDataObject;
	readonly valueFor: (title: Title) => unknown;
}
const templates: Template[] = [
	{ written: '={{ $json.title }}', itemOf: titled, valueFor: itself },
	{
		written: '={{$json["the title"]}}',
		itemOf: (title) => ({ 'the title': title }),
		valueFor: itself,
	},
	{
		written: "={{ $json['the-title'] }}",
		itemOf: (title) => ({ 'the-title': title }),
		valueFor: itself,
	},
	{
		written: '={{ $json.page.head["title"] }}',
		itemOf: (title) => ({ page: { head: { title } } }),
		valueFor: itself,
	},
	{
		written: '=Hello {{ $json.title }}\n{you}{{$json["more"]}}',
		itemOf: (title) => ({ title, more: '!' }),
		valueFor: (title) => `Hello ${title}\n{you}!`,
	},
	{
		written: {
			name: '=For {{ $json.title }}',
			unit: 'h',
			pairs: [{ icon: null, value: '={{ $json.title }}' }],
		},
		itemOf: titled,
		valueFor: (title) => ({
			name: `For ${title}`,
			unit: 'h',
			pairs: [{ icon: null, value: title }],
		}),
	},
];

/** What n8n gives for the first items, and for which items it is asked. */
interface Answers {
	readonly name: string;
	readonly given: Title[];
	readonly byN8n: Title[];
	readonly asked: number[];
}
const answers: Answers[] = [
	{
		name: 'is put together if n8n gives the same',
		given: ['a', '$&', '{{ 1 }}'],
		byN8n: ['a'],
		asked: [0],
	},
	{
		name: 'is left to n8n wherever the field is no text',
		given: ['a', 2, 'c'],
		byN8n: ['a', 'two'],
		asked: [0, 1],
	},
	{
		name: 'is left to n8n for good if that gives something else',
		given: ['a', 'b'],
		byN8n: ['uno', 'b'],
		asked: [0, 1],
	},
	{
		name: 'is left to n8n for good if the first is no text',
		given: [1, 'b'],
		byN8n: ['1', 'due'],
		asked: [0, 1],
	},
];

describe.each(templates)('the parameter $written', ({ written, itemOf, valueFor }) => {
	test.each(answers)('of each item $name', ({ given, byN8n, asked }) => {
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
