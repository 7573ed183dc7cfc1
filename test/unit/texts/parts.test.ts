import type { IDataObject } from 'n8n-workflow';

import { getStatus } from '../../../nodes/PushCampaign/operations/getStatus';
import { sendToAll } from '../../../nodes/PushCampaign/operations/sendToAll';
import { sendToAttributes } from '../../../nodes/PushCampaign/operations/sendToAttributes';
import { sendToSegments } from '../../../nodes/PushCampaign/operations/sendToSegments';
import { sendToSubscriber } from '../../../nodes/PushCampaign/operations/sendToSubscriber';
import { content, itemOf, prepare, refusalOf } from '../operations/support';

// What nobody meant in a text of several parts, each of which n8n evaluates by itself.

const nothing = 'nothing';
const html = { htmlToText: true };
const missingWords = ['None', 'NULL', 'N/A', 'null', 'nan', String.raw`\N`];
const sheetErrors = ['#N/A', ' Err:502 '];

test.each<[code: string, gave: string, input?: IDataObject, options?: object]>([
	// A column of the item, in every spelling.
	['$json.name', nothing],
	['$json.name', nothing, { name: ' \u00A0\u200B' }],
	['$json.name', nothing, { name: [] }],
	['$json.names', nothing, { names: ['', null] }],
	["$json[ 'name' ]", nothing],
	['$json[`name`]', nothing],
	['$json\n.name', nothing],
	[String.raw`$json['Today\'s deal']`, nothing, { "Today's deal": '' }],
	['$json.body.name', nothing, { body: 'a text' }],
	['$json.user?.name', nothing, { user: null }],
	['$json.rows[0].name', nothing, { rows: [] }],
	// A price.
	['$json.price * 0.8', nothing, { price: '19,90' }],
	['$json.price * 0.8', nothing],
	['Number($json.price).toFixed(2)', 'NaN', { price: '$19' }],
	['Math.round((1 - $json.price / $json.was) * 100)', '-Infinity', { price: 9, was: 0 }],
	['Math.min(...$json.prices)', 'Infinity', { prices: [] }],
	// What is taken apart, or put into a text.
	["$json.name.split(' ')[0]", nothing],
	["$json.name.split(' ')[1]", nothing, { name: 'Ann' }],
	['$json.name.trim()', nothing, { name: ' ' }],
	['$json.tags.join(", ")', nothing, { tags: ['', ''] }],
	['encodeURIComponent($json.slug)', 'undefined'],
	['String($json.name)', 'null', { name: null }],
	['`${$json.name}`', 'undefined'],
	// What a sheet or a database has for it, in its own spelling.
	...[...missingWords, ...sheetErrors].map((name): [string, string, IDataObject] => [
		...(['$json.name', name.trim(), { name }] as const),
	]),
	['$json.news', 'false', { news: false }],
	['$json.sale > 5', 'false', { sale: 1 }],
	// Tags alone, of which nobody sees anything.
	['$json.text', nothing, { text: '<p></p>' }, html],
	['$json.text', nothing, { text: '<br>&nbsp;<img src="a.png">' }, html],
	['$json.text.replace("x", "")', nothing, { text: '<p>x</p>' }, html],
	// What looks like a choice, and stands in quotes or in a pattern.
	["$json.name.replace('||', '?').trim()", nothing, { name: '' }],
	['$json.name.split("? :")[0]', nothing],
	["$json.name?.replace(/(?:x)/, 'a && b: c')", nothing],
	['`${$json.name}`.replace("undefined", "")', nothing],
	[String.raw`$json.name?.replace('it\'s ?? :', '')`, nothing],
	// What is no field, because the `$` was forgotten.
	['name', nothing],
	['json.name', nothing],
	["name + ''.trim()", 'undefined'],
])('a part is refused as it is written: %j gave %s', (code, gave, input = {}, options = {}) => {
	const read = () => prepare({ title: `=Hi {{ ${code} }}!`, options }, { input });
	const shown = code.replace('\n', ' ');
	expect(refusalOf(read)).toBe(`'Title': {{ ${shown} }} gave ${gave}`);
});

test.each<[title: string, input: IDataObject, sent: string]>([
	['{{ $json.name.length }} left', { name: 'Ann' }, '3 left'],
	[
		String.raw`{{ $json['Today\'s \u0064eal'] }} {{ $json["a\\b\n"] }}`,
		{ "Today's deal": 'Tulips', 'a\\b\n': 'now' },
		'Tulips now',
	],
	['{{ $json.title }}', { title: '={{ 1 + 1 }} `${1}` $&' }, '={{ 1 + 1 }} `${1}` $&'],
	['Order {{ $json.n }}, {{ $json.free }} €', { n: 12, free: 0 }, 'Order 12, 0 €'],
	// A blank beside the braces makes no part of them.
	['{{ $json.word }} ', { word: 'false' }, 'false'],
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
	["Sale{{ $ifEmpty($json.off, '') }}", { off: '' }, 'Sale'],
	["Hi {{ $json.name.trim() || 'there' }}", {}, 'Hi'],
	["Hi {{ $json.name || 'there' }}", { name: ' ' }, 'Hi'],
	["Only {{ $json.price ?? 'N/A' }}", {}, 'Only N/A'],
	['Open: {{ $json.open ? "true" : "false" }}', {}, 'Open: false'],
	["Hi {{ `${$json.name || ''}` }}", {}, 'Hi'],
	[String.raw`Hi {{ $json.name?.replace('\'', '"') ?? '' }}`, {}, 'Hi'],
	// A text and nothing else.
	["Sale{{ '' }}s", {}, 'Sales'],
	['One{{ "\\n" }}two{{ `` }}', {}, 'One two'],
	// Words that the text itself or the item holds.
	['50+ times {{ $json.title }}', { title: 'undefined behavior' }, '50+ times undefined behavior'],
	['{{ "New: " + $json.title }}', { title: 'What NaN means' }, 'New: What NaN means'],
])('a text is sent if somebody meant it: %j of %j', (title, input, sent) => {
	expect(prepare({ title: `=${title}` }, { input }).body.title).toBe(sent);
});

test.each<[what: string, title: string, input: IDataObject, refusal: RegExp]>([
	['a DateTime that is none', 'Ends {{ DateTime.fromISO("x") }}', {}, /holds Invalid DateTime/],
	['a joined word', "{{ 'Hello ' + $json.name }}", {}, /^'Title' holds undefined/],
	['a joined word in a part', 'Hi {{ "you, " + $json.name }}', {}, /^'Title' holds undefined/],
	['lost digits', 'id: {{ $json.id }}', { id: 2 ** 53 + 2 }, /^'Title' holds 9007199254740994, /],
	...['{{ $json.id }} ', 'id: {{ $json.id }}', "{{ 'id ' + $json.id }}", '{{ [$json.id] }}!'].map(
		(title): [string, string, IDataObject, RegExp] => [
			...(['lost digits', title, { id: 820_982_911_946_154_500 }] as const),
			/^'Title' holds 820982911946154500, a number so large that its last digits are lost/,
		],
	),
])('%s in a text is refused: %j of %j', (_what, title, input, refusal) => {
	expect(refusalOf(() => prepare({ title: `=${title}` }, { input }))).toMatch(refusal);
});

test('what people do not read may hold the word false', () => {
	const targetUrl = '=https://shop.example/?new={{ $json.isNew }}';
	const { body } = prepare({ targetUrl }, { input: { isNew: false } });
	expect(body.target_url).toBe('https://shop.example/?new=false');
});

test('digits that a text of the item has as well are not lost', () => {
	const text = '820982911946154500';
	const parameters = { subscriberId: '={{ $json.text }} ' };
	const input = { id: Number(text), text };
	expect(prepare(parameters, { input }, sendToSubscriber).body.sid).toBe(text);
});

describe('in every field what nobody meant is refused by the name of the field', () => {
	const toAttributes = (pair: object) => ({ attributes: { pairs: [pair] } });
	const inUtm = (parameters: object) => ({ additionalFields: { utmParameters: { parameters } } });
	test.each<[field: string, parametersOf: (value: string) => object, operation?: typeof sendToAll]>(
		[
			["'Title'", (title) => ({ title })],
			["'Message'", (message) => ({ message })],
			["'Target URL'", (targetUrl) => ({ targetUrl })],
			["'Campaign Name'", (name) => ({ additionalFields: { name } })],
			["'Icon URL'", (iconUrl) => ({ additionalFields: { iconUrl } })],
			["'Image URL'", (imageUrl) => ({ additionalFields: { imageUrl } })],
			["'Term' in 'UTM Parameters'", (term) => inUtm({ term })],
			["'Send Only Once'", (idempotencyKey) => ({ options: { idempotencyKey } })],
			[
				"'Title' in button 1 of 'Action Buttons'",
				(title) => ({ actionButtons: { button: [{ title, url: content.targetUrl }] } }),
			],
			[
				"'URL' in button 2 of 'Action Buttons'",
				(url) => ({ actionButtons: { button: [{}, { title: 'Two', url }] } }),
			],
			[
				"'Name' in attribute 1 of 'Attributes'",
				(name) => toAttributes({ name, value: 'pro' }),
				sendToAttributes,
			],
			[
				"'Value' in attribute 1 of 'Attributes'",
				(value) => toAttributes({ name: 'plan', value }),
				sendToAttributes,
			],
			["'Segment IDs'", (segmentIds) => ({ segmentIds }), sendToSegments],
			["'Subscriber ID'", (subscriberId) => ({ subscriberId }), sendToSubscriber],
		],
	)('%s', (field, parametersOf, operation = sendToAll) => {
		const refused = (value: string) => refusalOf(() => prepare(parametersOf(value), {}, operation));
		expect(refused('x[object Object]')).toMatch(`${field} holds [object Object], `);
		expect(refused('=12,{{ $json.x.trim() }}')).toBe(`${field}: {{ $json.x.trim() }} gave nothing`);
		expect(refused('=12{{ String($json.x) }}')).toMatch(`${field}: {{ String($json.x) }} gave un`);
	});

	test("'Segment IDs' in an array", () => {
		const read = () => prepare({ segmentIds: [12, '[object Object]'] }, {}, sendToSegments);
		expect(refusalOf(read)).toMatch("'Segment IDs' holds [object Object]");
	});

	test("'Attributes (JSON)'", () => {
		const refused = (attributesJson: unknown) =>
			refusalOf(() => prepare({ specifyAttributes: 'json', attributesJson }, {}, sendToAttributes));
		const part = '={"plan": "x-{{ $json.x }}"}';
		expect(refused({ plan: '[object Object]' })).toMatch(
			"plan in 'Attributes (JSON)' holds [object",
		);
		expect(refused(part)).toBe("'Attributes (JSON)': {{ $json.x }} gave nothing");
	});

	test("'Campaign ID'", () => {
		const refused = (campaignId: string) =>
			refusalOf(() => getStatus.prepare(itemOf({ campaignId })));
		expect(refused('NaN')).toBe("'Campaign ID' holds NaN, as if a value were missing");
		expect(refused('=10{{ $json.x }}')).toBe("'Campaign ID': {{ $json.x }} gave nothing");
	});
});
