import type { IDataObject, INodeParameters } from 'n8n-workflow';
import { pollerOf } from './support/poll';
import {
	credentialsFor,
	database,
	failureOf,
	inputOf,
	push,
	runsAt,
	titlesAt,
	toOne,
	useSimulator,
	workflowOf,
} from './support/pushCampaign';
import { runWorkflow } from './support/run';
import { chain } from './support/workflow';

// What n8n's own expressions make of a text: that the judge reads it as n8n does. Its other rules are in unit/operations.

const simulator = useSimulator();
const run = runsAt(simulator);

/** Runs the action node behind a node called Shop. */
const runBehindShop = async (parameters: INodeParameters, json: IDataObject) =>
	await runWorkflow(chain([{ name: 'Shop', type: 'n8n-nodes-base.noOp' }, push(parameters)]), {
		credentials: credentialsFor(simulator()),
		input: inputOf(json),
	});

/** Why a run is refused that sends nothing. */
async function refusalOf(parameters: INodeParameters, json: IDataObject) {
	const told = failureOf(await runBehindShop(parameters, json));
	expect(told).toMatchObject({ name: 'NodeOperationError', itemIndex: 0 });
	expect(simulator().requests).toEqual([]);
	return told;
}

const attributesOf = (pair: { name: string; value: string }): INodeParameters => ({
	operation: 'sendToAttributes',
	attributes: { pairs: [pair] },
});

describe('a part of a text that gave nothing is refused as it is written', () => {
	const nothing = 'nothing';
	const html = { htmlToText: true };
	test.each<[code: string, gave: string, json?: IDataObject, options?: INodeParameters]>([
		// A column of the item, in every spelling.
		['$json.name', nothing],
		['$json.name', nothing, { name: ' \u00A0\u200B' }],
		['$json.name', nothing, { name: [] }],
		['$json.names', nothing, { names: ['', null] }],
		["$json[ 'name' ]", nothing],
		['$json[`name`]', nothing],
		['$json\n.name', nothing],
		['$json["name"]', nothing],
		[String.raw`$json['Today\'s deal']`, nothing, { "Today's deal": '' }],
		['$json.body.name', nothing, { body: 'a text' }],
		['$json.user?.name', nothing, { user: null }],
		['$json.rows[0].name', nothing, { rows: [] }],
		// An earlier node.
		["$('Shop').item.json.name", nothing],
		["$('Shop').first().json.name", nothing],
		["$('Shop').item.json.user.name", nothing],
		["$('Shop').all()[3].json.name", nothing],
		// A price.
		['$json.price * 0.8', nothing, { price: '19,90' }],
		['$json.price * 0.8', nothing, { price: '$19' }],
		['$json.price * 0.8', nothing, { price: '#N/A' }],
		['$json.price * 0.8', nothing],
		['Number($json.price).toFixed(2)', 'NaN', { price: '19,90' }],
		['Number($json.price).toFixed(2)', 'NaN', { price: '$19' }],
		['Number($json.price).toFixed(2)', 'NaN', { price: '#N/A' }],
		['parseFloat($json.price).toString()', 'NaN'],
		['Math.round((1 - $json.price / $json.was) * 100)', '-Infinity', { price: 9, was: 0 }],
		['$json.price / $json.count', 'Infinity', { price: 9, count: 0 }],
		['Math.max(...$json.prices)', '-Infinity', { prices: [] }],
		['Math.min(...$json.prices)', 'Infinity', { prices: [] }],
		// What is taken apart, or put into a text.
		["$json.name.split(' ')[0]", nothing],
		["$json.name.split(' ')[1]", nothing, { name: 'Ann' }],
		['$json.name.trim()', nothing],
		['$json.name.trim()', nothing, { name: ' ' }],
		['$json.tags.join(", ")', nothing, { tags: ['', ''] }],
		['encodeURIComponent($json.slug)', 'undefined'],
		['encodeURIComponent($json.slug)', 'null', { slug: null }],
		['String($json.name)', 'undefined'],
		['String($json.name)', 'null', { name: null }],
		['`${$json.name}`', 'undefined'],
		// What a sheet or a database has for it, in its own spelling.
		...['None', 'NULL', 'N/A', 'null', 'nan', String.raw`\N`, '#N/A', ' Err:502 ', '#BEZUG!'].map(
			(name): [string, string, IDataObject] => ['$json.name', name.trim(), { name }],
		),
		['$json.news', 'false', { news: false }],
		["$('Shop').item.json.news", 'false', { news: 'false' }],
		['$json.sale > 5', 'false', { sale: 1 }],
		['$json.tags.includes("new")', 'false', { tags: [] }],
		// Tags alone, of which nobody sees anything.
		['$json.text', nothing, { text: '<p></p>' }, html],
		['$json.text', nothing, { text: '<br>&nbsp;' }, html],
		['$json.text', nothing, { text: '<img src="a.png">' }, html],
		['$json.text.replace("x", "")', nothing, { text: '<p>x</p>' }, html],
		// What looks like a choice, and stands in quotes or in a pattern.
		["$json.name.replace('||', '?').trim()", nothing, { name: '' }],
		['$json.name.split("? :")[0]', nothing],
		["$json.name?.replace(/(?:x)/, 'a && b: c')", nothing],
		['`${$json.name}`.replace("undefined", "")', nothing],
		[String.raw`$json.name?.replace('it\'s ?? :', '')`, nothing],
		// Another word that did not come to stand there.
		["$json.name.trim() || 'there'", nothing],
		["$json.name || 'there'", nothing, { name: ' ' }],
		[`$json.user.name || "there"`, nothing],
		["$json.name.split(' ')[0] || 'there'", nothing],
	])('%j gave %s', async (code, gave, json = {}, options = {}) => {
		const told = await refusalOf({ title: `=Hi {{ ${code} }}!`, options }, json);
		const shown = code.replace('\n', ' ');
		expect(told.message).toContain(`'Title' has a part that gave ${gave}, {{ ${shown} }}: "Hi `);
		expect(told.description).toContain(`Fill in what {{ ${shown} }} reads`);
	});

	test.each([
		['$json.name', "{{ $json.name || 'there' }}"],
		['$json.name.trim()', "{{ $json.name?.trim() || 'there' }}"],
		["$json.user['first.name']", "{{ $json.user?.['first.name'] || 'there' }}"],
		["$json.user.name.split('.')[0]", "{{ $json.user?.name?.split('.')?.[0] || 'there' }}"],
		["$('Shop').item.json.name", "{{ $('Shop')?.item?.json?.name || 'there' }}"],
		['Math.round($json.price)', "{{ Math.round($json.price) || 'there' }}"],
	])('of %j the word that is proposed stands in its place', async (code, proposed) => {
		const told = await refusalOf({ title: `=Hi {{ ${code} }}` }, {});
		expect(told.description).toContain(`, or write what stands in its place, such as ${proposed}.`);
		await runBehindShop({ title: `=Hi ${proposed}` }, {});
		expect(titlesAt(simulator())).toEqual(['Hi there']);
	});

	const utm = (content: string) => ({ utmParameters: { parameters: { content } } });
	const url = (part: string) => `=https://shop.example/p/${part}`;
	test.each<[field: string, parametersWith: (part: string) => INodeParameters]>([
		["'Title'", (part) => ({ title: `=New: ${part}` })],
		["'Message'", (part) => ({ message: `=New: ${part}` })],
		["'Target URL'", (part) => ({ targetUrl: url(part) })],
		["'Campaign Name'", (part) => ({ additionalFields: { name: `=New: ${part}` } })],
		["'Icon URL'", (part) => ({ additionalFields: { iconUrl: url(part) } })],
		["'Image URL'", (part) => ({ additionalFields: { imageUrl: url(part) } })],
		["'Content' in 'UTM Parameters'", (part) => ({ additionalFields: utm(`=x-${part}`) })],
		["'Send Only Once'", (part) => ({ options: { idempotencyKey: `=order-${part}` } })],
		[
			"'Title' in button 1 of 'Action Buttons'",
			(part) => ({
				actionButtons: { button: [{ title: `=Buy ${part}`, url: 'https://a.example' }] },
			}),
		],
		[
			"'URL' in button 1 of 'Action Buttons'",
			(part) => ({ actionButtons: { button: [{ title: 'Buy', url: url(part) }] } }),
		],
		["'Segment IDs'", (part) => ({ operation: 'sendToSegments', segmentIds: `=12,${part}` })],
		["'Subscriber ID'", (part) => ({ operation: 'sendToSubscriber', subscriberId: `=5${part}` })],
		[
			"'Name' in attribute 1 of 'Attributes'",
			(part) => attributesOf({ name: `=x-${part}`, value: 'pro' }),
		],
		[
			"'Value' in attribute 1 of 'Attributes'",
			(part) => attributesOf({ name: 'plan', value: `=x-${part}` }),
		],
		[
			"'Attributes (JSON)'",
			(part) => ({
				...{ operation: 'sendToAttributes', specifyAttributes: 'json' },
				attributesJson: `={"plan": "x-${part}"}`,
			}),
		],
		["'Campaign ID'", (part) => ({ operation: 'getStatus', campaignId: `=10${part}` })],
	])('in every field: %s', async (field, parametersWith) => {
		const codes = ["$('Shop').item.json.x", 'Number($json.x)', '$json.x.trim()', 'String($json.x)'];
		for (const code of codes) {
			const { message } = await refusalOf(parametersWith(`{{ ${code} }}`), {});
			const gave = code.startsWith('String') ? 'undefined' : 'nothing';
			expect(message).toContain(`${field} has a part that gave ${gave}, {{ ${code} }}: `);
		}
		expect(database.keyRows).toEqual([]);
	});
});

describe('a text is sent if somebody meant it', () => {
	test.each<[title: string, json: IDataObject, sent: string]>([
		['{{ $json.name.length }} left', { name: 'Ann' }, '3 left'],
		[
			String.raw`{{ $json['Today\'s \u0064eal'] }} {{ $json["a\\b\n"] }}`,
			{ "Today's deal": 'Tulips', 'a\\b\n': 'now' },
			'Tulips now',
		],
		['{{ $json.title }}', { title: '={{ 1 + 1 }} `${1}` $&' }, '={{ 1 + 1 }} `${1}` $&'],
		['Order {{ $json.n }}, {{ $json.free }} €', { n: 12, free: 0 }, 'Order 12, 0 €'],
		// A name or a word in another spelling.
		['Hi {{ $json.name }}', { name: 'Nan' }, 'Hi Nan'],
		['Hi {{ $json.name }}', { name: 'Null' }, 'Hi Null'],
		['Delays: {{ $json.delays }}', { delays: 'none' }, 'Delays: none'],
		['Hi {{ $json.name }}', { name: 'None of you' }, 'Hi None of you'],
		// Whoever writes this has thought of nothing.
		["Hi {{ $json.name || '' }}", {}, 'Hi'],
		["Hi {{ $json.name ?? '' }}", {}, 'Hi'],
		["Sale{{ $json.off ? ': ' + $json.off : '' }}", {}, 'Sale'],
		["Sale{{ $json.off && ' -' + $json.off }} now", { off: '' }, 'Sale now'],
		["Sale{{ $if($json.off, $json.off, '') }}", {}, 'Sale'],
		["Sale{{ $json.off.ifEmpty('') }}", { off: '' }, 'Sale'],
		["Only {{ $json.price ?? 'N/A' }}", {}, 'Only N/A'],
		['Open: {{ $json.open ? "true" : "false" }}', {}, 'Open: false'],
		["Hi {{ `${$json.name || ''}` }}", {}, 'Hi'],
		[String.raw`Hi {{ $json.name?.replace('\'', '"') ?? '' }}`, {}, 'Hi'],
		// What reads nothing.
		["Sale{{ '' }}s", {}, 'Sales'],
		["One{{ ' ' }}two", {}, 'One two'],
		// Words that the text itself or the item holds.
		[
			'50+ times {{ $json.title }}',
			{ title: 'undefined' + ' behavior' },
			'50+ times undefined behavior',
		],
		["New: {{ $('Shop').item.json.title }}", { title: 'A null + one' }, 'New: A null + one'],
		["C++: {{ $('Shop').item.json.title }}", { title: 'null' + ' pointers' }, 'C++: null pointers'],
		['{{ "New: " + $json.title }}', { title: 'What NaN means' }, 'New: What NaN means'],
	])('%j of %j is "%s"', async (title, json, sent) => {
		await runBehindShop({ title: `=${title}` }, json);
		expect(titlesAt(simulator())).toEqual([sent]);
	});
});

test.each<[what: string, parameters: INodeParameters, json: IDataObject, message: RegExp]>([
	[
		'a DateTime that is none',
		{ message: '=Ends {{ DateTime.fromISO("x") }}' },
		{},
		/^'Message' .*Invalid DateTime/,
	],
	['a joined word', { title: "={{ 'Hello ' + $json.name }}" }, {}, /^'Title' holds undefined/],
	['a joined word in a part', { title: '=Hi {{ "you, " + $json.name }}' }, {}, /holds undefined/],
	[
		'a word with a sign',
		{ title: '={{ String(-1 / $json.n) }}' },
		{ n: 0 },
		/^'Title' holds -Infinity/,
	],
	...['{{ $json.id }} ', 'id: {{ $json.id }}', "{{ 'id ' + $json.id }}", '{{ [$json.id] }}!'].map(
		(title): [string, INodeParameters, IDataObject, RegExp] => [
			`a number that has lost its last digits: ${title}`,
			{ title: `=${title}` },
			{ id: 820_982_911_946_154_500 },
			/^'Title' holds 820982911946154500, a number so large that its last digits are lost/,
		],
	),
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
	...[
		{ title: '=={{ $json.x }}' },
		{ targetUrl: '==https://shop.example' },
		{ options: { dryRun: '=={{ true }}' } },
		{ additionalFields: { sendAt: '=={{ $now }}' } },
		attributesOf({ name: 'plan', value: '=={{ $json.x }}' }),
	].map((parameters): [string, INodeParameters, IDataObject, RegExp] => [
		`a second equals sign: ${JSON.stringify(parameters)}`,
		parameters,
		{ x: 'Sale' },
		/ begins with an equals sign in front of its expression: "=/,
	]),
])('%s is refused by its field, and nothing is sent', async (_what, parameters, json, message) => {
	expect((await refusalOf(parameters, json)).message).toMatch(message);
});

test('a part of a trigger’s campaign IDs that gave nothing is refused', async () => {
	const campaignIds = "=1001,{{ $vars.more }},{{ '1' + '2' }}";
	const poll = pollerOf(
		{ campaignIds },
		{ credentials: credentialsFor(simulator()), mode: 'manual' },
	);
	await expect(poll()).rejects.toThrow(
		"'Campaign IDs' has a part that gave nothing, {{ $vars.more }}: ",
	);
});

test('digits that a text of the item has as well are not lost', async () => {
	const id = '820982911946154500';
	await run(
		{ ...toOne, subscriberId: '={{ $json.text }} ' },
		inputOf({ id: Number(id), text: id }),
	);
	expect(simulator().requests[0]?.json).toMatchObject({ sid: id });
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
