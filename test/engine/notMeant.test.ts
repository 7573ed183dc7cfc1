import type { IDataObject, INodeParameters } from 'n8n-workflow';
import {
	credentialsFor,
	failureOf,
	inputOf,
	titlesAt,
	useDatabase,
	useSimulator,
	workflowOf,
} from './support/pushCampaign';
import { runWorkflow } from './support/run';

// What nobody meant is not sent, through n8n's own expressions; the judge itself is in unit/operations.

const simulator = useSimulator();
useDatabase();

const run = async (parameters: INodeParameters, json: IDataObject = {}) =>
	await runWorkflow(workflowOf(parameters), {
		credentials: credentialsFor(simulator()),
		input: inputOf(json),
	});
const key = (idempotencyKey: string) => ({ options: { idempotencyKey } });

test.each<[what: string, parameters: INodeParameters, json: IDataObject, message: RegExp]>([
	[
		'an object in a text',
		{ title: '=Hi {{ $json.name }}' },
		{ name: { a: 1 } },
		/^'Title' holds \[object Object\]/,
	],
	['a date that is none', { message: '={{ new Date("x") }}' }, {}, /^'Message' .*Invalid Date/],
	[
		'a DateTime that is none',
		{ message: '=Ends {{ DateTime.fromISO("x") }}' },
		{},
		/^'Message' .*Invalid DateTime/,
	],
	['a joined word', { title: "={{ 'Hello ' + $json.name }}" }, {}, /^'Title' holds undefined/],
	[
		'a joined number',
		{ title: '={{ `Now ${$json.a / 0}% off` }}' },
		{ a: 1 },
		/^'Title' holds Infinity/,
	],
	[
		'a text that is one word',
		{ title: '={{ $json.name }}' },
		{ name: 'null' },
		/^'Title' holds null/,
	],
	[
		'the error of a sheet',
		{ title: '={{ $json.name }}' },
		{ name: '#N/A' },
		/^'Title' .*spreadsheet/,
	],
	[
		'a field left on Fixed',
		{ title: 'Hi {{ $json.name }}' },
		{ name: 'Ann' },
		/^'Title' holds \{\{ \$json\.name \}\}/,
	],
	[
		'a template in a sheet',
		{ title: '={{ $json.name }}' },
		{ name: 'Hi {{ $name }}' },
		/^'Title' holds \{\{ \$name \}\}/,
	],
	[
		'a missing part of a text',
		{ title: '=Hello {{ $json.name }}' },
		{},
		/^'Title' .*\{\{ \$json\.name \}\}/,
	],
	[
		'a part that is invisible',
		{ title: '=Hello {{ $json.name }}' },
		{ name: '\u00a0\u200b' },
		/^'Title' .*\{\{ \$json\.name \}\}/,
	],
	[
		'a missing part of a URL',
		{ targetUrl: '=https://a.example/{{ $json.slug }}' },
		{ slug: null },
		/^'Target URL' .*\{\{ \$json\.slug \}\}/,
	],
	[
		'a missing part of a key',
		key('=order-{{ $json.id }}'),
		{ id: ' ' },
		/^'Send Only Once' .*\{\{ \$json\.id \}\}/,
	],
	[
		'lost digits in a key',
		key('=order-{{ $json.id }}'),
		{ id: 820_982_911_946_154_500 },
		/^'Send Only Once' .*digits/,
	],
	[
		'lost digits before a blank',
		{ operation: 'sendToSubscriber', subscriberId: '={{ $json.id }} ' },
		{ id: 820_982_911_946_154_500 },
		/^'Subscriber ID' .*digits/,
	],
	[
		'a key with a date that is none',
		key("={{ 'sale-' + new Date('x') }}"),
		{},
		/^'Send Only Once' .*Invalid Date/,
	],
	[
		'a title in which nothing is visible',
		{ title: '={{ $json.title }}' },
		{ title: '\u200b\u2800' },
		/^'Title' is /,
	],
	[
		'half a character in a URL',
		{ targetUrl: '={{ $json.url }}' },
		{ url: 'https://a.example/\ud83c' },
		/^'Target URL' /,
	],
	[
		'an attribute without its value',
		{
			operation: 'sendToAttributes',
			attributes: { pairs: [{ name: 'plan', value: '={{ $json.plan }}' }] },
		},
		{},
		/^'Value' in attribute 1 of 'Attributes' is /,
	],
	[
		'a dry run that nobody can read',
		{ options: { dryRun: '={{ $json.none }}' } },
		{},
		/^'Dry Run' is /,
	],
	[
		'an expression that can’t be evaluated',
		{ title: "={{ $('Not there').item.json.a }}" },
		{},
		/^'Title' can't be evaluated: /,
	],
	[
		'a date without a time',
		{ additionalFields: { sendAt: '={{ $json.at }}' } },
		{ at: '2099-05-17' },
		/^'Send At' /,
	],
	[
		'a switch that was added and is empty',
		{ additionalFields: { autoHide: '={{ $json.hide }}' } },
		{},
		/^'Auto Hide' is empty/,
	],
	[
		'a part in any language',
		{ title: '=Größe {{ $json.größe }}' },
		{},
		/^'Title' .*\{\{ \$json\.größe \}\}/,
	],
	[
		'a part with a question mark',
		{ title: '=Hello {{ $json.user?.name }}' },
		{},
		/^'Title' .*\{\{ \$json\.user\?\.name \}\}/,
	],
	[
		'a part in brackets',
		{ title: '=Now {{ $json["Price [EUR]"] }}' },
		{},
		/^'Title' .*\["Price \[EUR\]"\]/,
	],
	[
		'a file in the wrong encoding',
		{ title: '={{ $json.title }}' },
		{ title: 'Sommerschlu\uFFFDverkauf' },
		/^'Title' holds \uFFFD/,
	],
])('%s is refused by its field, and nothing is sent', async (_what, parameters, json, message) => {
	const told = failureOf(await run(parameters, json));
	expect(told).toMatchObject({ name: 'NodeOperationError', itemIndex: 0 });
	expect(told.message).toMatch(message);
	expect(simulator().requests).toEqual([]);
});

test.each<[what: string, title: string, json: IDataObject, sent: string]>([
	[
		'a word that the item holds',
		'={{ $json.title }}',
		{ title: 'What is undefined?' },
		'What is undefined?',
	],
	['a word that the expression holds', "={{ 'null and ' + 'void' }}", {}, 'null and void'],
	['a word that was entered', 'NaN is undefined', {}, 'NaN is undefined'],
	['the first letter of a text', '=Initial {{ $json.name[0] }}.', { name: 'Ann' }, 'Initial A.'],
	['the length of a text', '={{ $json.name.length }} left', { name: 'Ann' }, '3 left'],
	['a part in quotes', '=Now {{ $json["Price [EUR]"] }}', { 'Price [EUR]': '5' }, 'Now 5'],
	['a line break within it', '={{ $json.title }}', { title: 'Sun\n\t and sea' }, 'Sun and sea'],
	['a part with a choice', "=Hello {{ $json.name || 'there' }}", {}, 'Hello there'],
	[
		'a part that may be nothing',
		'=Sale{{ $json.off ? ": " + $json.off : "" }} starts',
		{},
		'Sale starts',
	],
	['a number as its text', '={{ $json.year }}', { year: 2030 }, '2030'],
	['a number in a text', '=Summer {{ $json.year }}', { year: 2030 }, 'Summer 2030'],
	['half a character, which is left out', '={{ $json.title }}', { title: 'Sun \ud83c' }, 'Sun'],
	['blanks around it, which are left out', '={{ $json.title }}', { title: '\n  Sun ' }, 'Sun'],
	[
		'what looks like code',
		'={{ $json.title }}',
		{ title: '={{ 1 + 1 }} `${1}` $&' },
		'={{ 1 + 1 }} `${1}` $&',
	],
])('%s is sent', async (_what, title, json, sent) => {
	await run({ title }, json);
	expect(titlesAt(simulator())).toEqual([sent]);
});

test('what is left over from another operation is neither evaluated nor sent', async () => {
	const imageUrl = "={{ $('Not there').item.json.url }}";
	await run({
		operation: 'sendToSubscriber',
		subscriberId: '5001',
		additionalFields: { imageUrl },
	});
	expect(simulator().requests[0]?.json).not.toHaveProperty('image');
});
