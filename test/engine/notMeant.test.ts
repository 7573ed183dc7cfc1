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
		'a missing part, as the editor writes it when a column with an apostrophe is dragged',
		{ title: String.raw`=New: {{ $json['Today\'s deal'] }}` },
		{ "Today's deal": '' },
		/^'Title' has nothing in the place of \{\{ \$json\['Today\\'s deal'\] \}\}/,
	],
	[
		'a part that is the error of a sheet',
		{ title: '=Hi {{ $json.n }}, welcome!' },
		{ n: '#N/A' },
		/^'Title' has nothing in the place of /,
	],
	[
		'an address within the cell of another one',
		{ targetUrl: '=https://{{ $json.domain }}' },
		{ domain: 'https://shop.example/x' },
		/^'Target URL' is one address behind another/,
	],
	[
		'lost digits before a blank',
		{ operation: 'sendToSubscriber', subscriberId: '={{ $json.id }} ' },
		{ id: 820_982_911_946_154_500 },
		/^'Subscriber ID' .*digits/,
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
])('%s is refused by its field, and nothing is sent', async (_what, parameters, json, message) => {
	const told = failureOf(await run(parameters, json));
	expect(told).toMatchObject({ name: 'NodeOperationError', itemIndex: 0 });
	expect(told.message).toMatch(message);
	expect(simulator().requests).toEqual([]);
});

test.each<[what: string, title: string, json: IDataObject, sent: string]>([
	['the first letter of a text', '=Initial {{ $json.name[0] }}.', { name: 'Ann' }, 'Initial A.'],
	['the length of a text', '={{ $json.name.length }} left', { name: 'Ann' }, '3 left'],
	[
		'a part with escapes',
		String.raw`=New: {{ $json['Today\'s \u0064eal'] }} {{ $json["a\\b\n"] }}`,
		{ "Today's deal": 'Tulips', 'a\\b\n': 'now' },
		'New: Tulips now',
	],
	['a part with a choice', "=Hello {{ $json.name || 'there' }}", {}, 'Hello there'],
	['a number as its text', '={{ $json.year }}', { year: 2030 }, '2030'],
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

test('in a workflow whose timezone is none nothing is sent, and its settings are named', async () => {
	const { nodes, connections, settings } = workflowOf({
		additionalFields: { sendAt: '={{ $now.plus({ hours: 1 }) }}', sendAtTimezone: 'Europe/Berlin' },
	});
	const told = failureOf(
		await runWorkflow(
			{ nodes, connections, settings: { ...settings, timezone: 'Mars/Base' } },
			{ credentials: credentialsFor(simulator()) },
		),
	);
	expect(told.message).toBe('The timezone in the workflow\'s settings is none: "Mars/Base"');
	expect(told.cause).toBe('configuration-invalid');
	expect(simulator().requests).toEqual([]);
});
