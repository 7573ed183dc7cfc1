import type { IDataObject, INodeParameters } from 'n8n-workflow';
import {
	credentialsFor,
	failureOf,
	inputOf,
	runsAt,
	titlesAt,
	toOne,
	useSimulator,
	workflowOf,
} from './support/pushCampaign';
import { runWorkflow } from './support/run';

// What n8n's own expressions make of a text: that the judge reads it as n8n does. Its rules are in unit/operations.

const simulator = useSimulator();
const run = runsAt(simulator);

test.each<[what: string, parameters: INodeParameters, json: IDataObject, message: RegExp]>([
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
		'a number that has lost its last digits, before a blank',
		{ ...toOne, subscriberId: '={{ $json.id }} ' },
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
	const told = failureOf(await run(parameters, inputOf(json)));
	expect(told).toMatchObject({ name: 'NodeOperationError', itemIndex: 0 });
	expect(told.message).toMatch(message);
	expect(simulator().requests).toEqual([]);
});

test.each<[what: string, title: string, json: IDataObject, sent: string]>([
	['the length of a text', '={{ $json.name.length }} left', { name: 'Ann' }, '3 left'],
	[
		'a part with escapes',
		String.raw`=New: {{ $json['Today\'s \u0064eal'] }} {{ $json["a\\b\n"] }}`,
		{ "Today's deal": 'Tulips', 'a\\b\n': 'now' },
		'New: Tulips now',
	],
	[
		'what looks like code',
		'={{ $json.title }}',
		{ title: '={{ 1 + 1 }} `${1}` $&' },
		'={{ 1 + 1 }} `${1}` $&',
	],
])('%s is sent', async (_what, title, json, sent) => {
	await run({ title }, inputOf(json));
	expect(titlesAt(simulator())).toEqual([sent]);
});

test('what is left over from another operation is neither evaluated nor sent', async () => {
	const imageUrl = "={{ $('Not there').item.json.url }}";
	await run({ ...toOne, additionalFields: { imageUrl } }, inputOf({ id: 5001 }));
	expect(simulator().requests[0]?.json).not.toHaveProperty('image');
});

test('in a workflow whose timezone is none nothing is sent, and its settings are named', async () => {
	const json = workflowOf({ additionalFields: { sendAt: '={{ $now.plus({ hours: 1 }) }}' } });
	json.settings = { ...json.settings, timezone: 'Mars/Base' };
	const options = { credentials: credentialsFor(simulator()) };
	const told = failureOf(await runWorkflow(json, options));
	expect(told.message).toBe('The timezone in the workflow\'s settings is none: "Mars/Base"');
	expect(told.cause).toBe('configuration-invalid');
	expect(simulator().requests).toEqual([]);
});
