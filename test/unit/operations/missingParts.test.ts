import { DateTime } from 'luxon';

import { emptyPart } from '../../../nodes/PushCampaign/operations/judge';

const json = {
	name: 'Ann',
	page: { 'the url': 'https://a.example', tags: ['x', 'y'] },
	age: 7,
	none: null,
	blank: '\u00a0\u200b',
	order: 820_982_911_946_154_500,
	balance: -820_982_911_946_154_500,
	list: [],
	failed: '#N/A',
	alsoFailed: ' Err:502',
	when: DateTime.fromISO('2030-05-17'),
	hidden: false,
	digits: '9007199254740993123',
	greatest: Number.MAX_SAFE_INTEGER,
	ids: [1, 9_007_199_254_740_992],
};

test.each([
	['Hello {{ $json.missing }}', '{{ $json.missing }}', 'missing'],
	['Hello {{$json.none}}', '{{$json.none}}', 'missing'],
	['{{ $json.name }}{{ $json.blank }}', '{{ $json.blank }}', 'missing'],
	['/{{ $json.page.slug }}', '{{ $json.page.slug }}', 'missing'],
	['Größe {{ $json.grösse }}', '{{ $json.grösse }}', 'missing'],
	["Now {{ $json['it\"s'] }}", "{{ $json['it\"s'] }}", 'missing'],
	['Hello {{ $json.user?.name }}', '{{ $json.user?.name }}', 'missing'],
	[
		'Hello {{ $json?.rows?.[0]?.["first name"] }}',
		'{{ $json?.rows?.[0]?.["first name"] }}',
		'missing',
	],
	['Hello {{ $json.hidden.name }}', '{{ $json.hidden.name }}', 'missing'],
	['Tag {{ $json.page.tags[2] }}', '{{ $json.page.tags[2] }}', 'missing'],
	['New: {{ $json.list }}', '{{ $json.list }}', 'missing'],
	['order-{{ $json.order }}', '{{ $json.order }}', 'lostDigits'],
	['{{ $json.order }} ', '{{ $json.order }}', 'lostDigits'],
	['b{{ $json.balance }}', '{{ $json.balance }}', 'lostDigits'],
	['IDs {{ $json.ids }}', '{{ $json.ids }}', 'lostDigits'],
	["Hi {{ $json['Today\\'s deal'] }}", "{{ $json['Today\\'s deal'] }}", 'missing'],
	['Hi {{ $json["a \\"b\\" c"].d }}', '{{ $json["a \\"b\\" c"].d }}', 'missing'],
	["Hi {{ $json['l\\u2019été'] }}", "{{ $json['l\\u2019été'] }}", 'missing'],
	["Hi {{ $json['C:\\\\new'] }}", "{{ $json['C:\\\\new'] }}", 'missing'],
	['Hi {{ $json.failed }}, welcome!', '{{ $json.failed }}', 'missing'],
	['Hi {{ $json.alsoFailed }}', '{{ $json.alsoFailed }}', 'missing'],
])('%j lacks %j: %s', (expression, part, why) => {
	const what =
		why === 'missing' ? `nothing in the place of ${part}` : `a number in ${part} so large`;
	expect(emptyPart(expression, json, 'seen')?.what).toContain(`has ${what}`);
});

test.each([
	['{{ $json.missing }}'],
	[' {{ $json.missing }}\n'],
	['Initial {{ $json.name[0] }}.'],
	['{{ $json.name.length }} left, {{ $json.page.tags.length }} tags'],
	['In {{ $json.when.year }}'],
	['Since {{ $json.when.invalidReason }}'],
	['Tags: {{ $json.page.tags }}'],
	['Order {{ $json.digits }}, {{ $json.greatest }}'],
	['{{ $json.order }}'],
	['Hello {{ $json[`missing`] }}'],
	['Hello {{ $json.name }}, {{ $json.age }}'],
	['Hello {{ $json.missing || "you" }}'],
	["Hello {{ $json.missing ?? '' }}"],
	['Hello {{ $("RSS").item.json.missing }}'],
	['Hello'],
])('%j lacks nothing: it is the whole text, or somebody has thought of it', (expression) => {
	expect(emptyPart(expression, json, 'seen')).toBeUndefined();
});

const fillIn = (path: string) => emptyPart(`Hello {{ $json${path} }}`, {}, 'seen')?.advice;

test.each([
	['.name', "{{ $json.name || 'there' }}"],
	['["First name"]', `{{ $json["First name"] || 'there' }}`],
	['.customer.first_name', "{{ $json.customer.first_name || 'there' }}"],
	['.user?.display_name', "{{ $json.user?.display_name || 'there' }}"],
	["['Prénom']", "{{ $json['Prénom'] || 'there' }}"],
	['.Vorname', "{{ $json.Vorname || 'there' }}"],
])('a person’s name may be replaced by another word: %s', (path, code) => {
	expect(fillIn(path)).toMatch(/^Fill in .+ in your data, or write /);
	expect(fillIn(path)).toContain(` or write ${code}.`);
	// For a key or an address no word is as good as any other.
	expect(emptyPart(`a{{ $json${path} }}`, {}, 'exact')?.advice).not.toContain('or write');
});

test.each([
	['.product', 'product'],
	['.product.name', 'name'],
	['.order_number', 'order_number'],
	["['customer']['order number']", 'order number'],
	["['Today\\'s deal']", "Today's deal"],
	['.page?.["the url"]', 'the url'],
	['.rows[0].price', 'price'],
	['.filename', 'filename'],
	['[0]', 'it'],
])('anything else has to be filled in, by its own name: %s', (path, name) => {
	expect(fillIn(path)).toBe(`Fill in ${name} in your data.`);
});
