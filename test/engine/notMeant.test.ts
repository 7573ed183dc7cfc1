import type { INodeExecutionData, INodeParameters } from 'n8n-workflow';
import {
	credentialsFor,
	failureOf,
	inputOf,
	outputOf,
	push,
	useSimulator,
} from './support/pushCampaign';
import { runWorkflow } from './support/run';
import { chain } from './support/workflow';

// What was sent so, or is easily written so, by people who do not program.

const simulator = useSimulator();

const run = async (parameters: INodeParameters, input: INodeExecutionData[] = [{ json: {} }]) =>
	await runWorkflow(chain([push(parameters)]), { credentials: credentialsFor(simulator()), input });

const bodies = () => simulator().requests.map(({ json }) => json);
const rendered = { title: { rendered: 'X' } };
const keyed = (idempotencyKey: string) => ({ options: { idempotencyKey } });

interface Row {
	readonly name: string;
	readonly parameters: INodeParameters;
	readonly item?: INodeExecutionData['json'];
	readonly message: string;
}
const rows: Row[] = [
	{
		name: 'an object in the place of a text',
		parameters: { title: '=New: {{ $json.title }}' },
		item: rendered,
		message:
			'Title holds [object Object], which is an object and not a text: "New: [object Object]"',
	},
	{
		name: 'a missing value that is added to a text',
		parameters: { message: "={{ 'Hello ' + $json.name }}" },
		message: 'Message holds undefined: its expression found no value: "Hello undefined"',
	},
	{
		name: 'a link without its last part',
		parameters: { targetUrl: '=https://example.com/{{ $json.slug }}' },
		message: 'Target URL has an empty part: {{ $json.slug }} gave nothing: "https://example.com/"',
	},
	{
		name: 'a text without a part that n8n evaluates',
		parameters: { title: '=Hello {{ $json.customer.name.trim() }}, only today' },
		message:
			'Title has an empty part: {{ $json.customer.name.trim() }} gave nothing: "Hello , only today"',
	},
	{
		name: 'an expression in a field that is set to Fixed',
		parameters: { title: 'Hello {{ $json.name }}' },
		item: { name: 'Ada' },
		message:
			'Title holds {{ $json.name }} as plain text, because the field is set to Fixed: "Hello {{ $json.name }}"',
	},
	{
		name: 'a template of a sheet that was not filled in',
		parameters: { title: '={{ $json.title }}' },
		item: { title: 'Hello {{$json.name}}' },
		message:
			'Title holds {{$json.name}}, a template that was not filled in: "Hello {{$json.name}}"',
	},
	{
		name: 'a date that can’t be read',
		parameters: { message: '=Until {{ DateTime.fromISO("soon").toFormat("d LLL") }}' },
		message: 'Message holds Invalid DateTime, a date that can’t be read: "Until Invalid DateTime"',
	},
	{
		name: 'half of an emoji in an address',
		parameters: { targetUrl: '=https://example.com/{{ "🌷".slice(0, 1) }}' },
		message: 'Target URL was cut in the middle of a character: "https://example.com/\uFFFD"',
	},
	{
		name: 'a missing value in a button',
		parameters: {
			actionButtons: {
				button: [
					{ title: '', url: '' },
					{ title: '=See {{ $json.name }}', url: 'https://a.example' },
				],
			},
		},
		message:
			'Title of button 2 in Action Buttons has an empty part: {{ $json.name }} gave nothing: "See"',
	},
	{
		name: 'a missing value in a UTM parameter',
		parameters: {
			additionalFields: { utmParameters: { parameters: { campaign: '=sale-{{ $json.city }}' } } },
		},
		message: 'Campaign in UTM Parameters has an empty part: {{ $json.city }} gave nothing: "sale-"',
	},
	{
		name: 'a missing value in an attribute',
		parameters: {
			operation: 'sendToAttributes',
			attributes: { pairs: [{ name: 'plan', value: "={{ 'pro-' + $json.city }}" }] },
		},
		message:
			'Value of pair 1 in Attributes holds undefined: its expression found no value: "pro-undefined"',
	},
	{
		name: 'a missing value in JSON',
		parameters: {
			operation: 'sendToAttributes',
			specifyAttributes: 'json',
			attributesJson: '={"plan": "{{ $json.plan }}", "city": "Oslo"}',
		},
		message:
			'Attributes (JSON) has an empty part: {{ $json.plan }} gave nothing: "{"plan": "", "city": "Oslo"}"',
	},
	{
		name: 'a missing segment',
		parameters: { operation: 'sendToSegments', segmentIds: '=12, {{ $json.segment }}' },
		message: 'Segment IDs has an empty part: {{ $json.segment }} gave nothing: "12,"',
	},
	{
		name: 'a key that is the same for all orders',
		parameters: keyed('=Order {{ $json.orderId }} is on its way'),
		message:
			'Idempotency Key has an empty part: {{ $json.orderId }} gave nothing: "Order is on its way"',
	},
	{
		name: 'a key that is the same for all orders, though parts may be empty',
		parameters: { options: { idempotencyKey: '=order-{{ $json.id }}', allowEmptyParts: true } },
		message: 'Idempotency Key has an empty part: {{ $json.id }} gave nothing: "order-"',
	},
	{
		name: 'a key of an object',
		parameters: keyed('=post-{{ $json.guid }}'),
		item: { guid: { rendered: 'x' } },
		message:
			'Idempotency Key holds [object Object], which is an object and not a text: "post-[object Object]"',
	},
	{
		name: 'a key of a missing value',
		parameters: keyed('={{ `order_${$json.id ?? null}` }}'),
		message: 'Idempotency Key holds null, as if a value were missing: "order_null"',
	},
];

test.each(rows)('nothing is sent of $name', async ({ parameters, item = {}, message }) => {
	expect(failureOf(await run(parameters, inputOf(item)))).toMatchObject({ message, itemIndex: 0 });
	expect(bodies()).toEqual([]);
});

test('each item is judged, also those that n8n is not asked for', async () => {
	const title = '=Hello {{ $json.name }}';
	const input = inputOf({ name: 'Ada' }, { name: 'Bob' }, { name: '' }, {});
	const node = push({ title }, { onError: 'continueRegularOutput' });
	const { data } = await runWorkflow(chain([node]), {
		credentials: credentialsFor(simulator()),
		input,
	});
	expect(data.resultData.error).toBeUndefined();
	expect(bodies()).toMatchObject([{ title: 'Hello Ada' }, { title: 'Hello Bob' }]);
});

test('a part may be empty with Allow Empty Parts', async () => {
	const parameters = { title: '=Hello{{ $json.name }}!', options: { allowEmptyParts: true } };
	expect(outputOf(await run(parameters))).toMatchObject([{ title: 'Hello!' }]);
});

test.each([
	{ name: 'the item holds', title: '={{ $json.title }}', item: { title: 'NaN is undefined' } },
	{ name: 'the expression holds', title: "={{ 'NaN is ' + 'undefined' }}", item: {} },
	{ name: 'was entered', title: 'NaN is undefined', item: {} },
])('a word of JavaScript is sent that $name', async ({ title, item }) => {
	await run({ title }, inputOf(item));
	expect(bodies()).toMatchObject([{ title: 'NaN is undefined' }]);
});

test('half of an emoji is left out of a text', async () => {
	await run({ title: '={{ $json.text.slice(0, 7) }}' }, inputOf({ text: 'Tulip 🌷🌷' }));
	expect(bodies()).toMatchObject([{ title: 'Tulip ' }]);
});

test('HTML is sent as plain text with Convert HTML to Text', async () => {
	const text = 'You won&#8217;t <b>believe</b> &amp; more';
	const parameters = {
		title: text,
		message: text,
		additionalFields: { name: text },
		actionButtons: { button: [{ title: text, url: 'https://a.example/?a=1&amp;b=2' }] },
	};
	await run({ ...parameters, options: { htmlToText: true } });
	await run(parameters);
	const plain = 'You won’t believe & more';
	const url = 'https://a.example/?a=1&amp;b=2';
	const sent = (each: string) => ({
		title: each,
		message: each,
		name: each,
		action_buttons: [{ title: each, url }],
	});
	expect(bodies()).toMatchObject([sent(plain), sent(text)]);
});

test('HTML becomes text before its length is judged', async () => {
	await run({ title: `${'<b>a</b>'.repeat(100)}`, options: { htmlToText: true } });
	expect(bodies()).toMatchObject([{ title: 'a'.repeat(100) }]);
});

test('a text that is nearly all one address keeps most of it with Shorten Long Texts', async () => {
	const title = `Neu: https://shop.example/${'x'.repeat(119)}`;
	await run({ title, options: { shortenTexts: true } });
	expect(bodies()).toMatchObject([{ title: `${title.slice(0, 99)}…` }]);
});
