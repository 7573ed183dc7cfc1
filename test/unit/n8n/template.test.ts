import { DateTime } from 'luxon';

import { isBlankText, joinText, missingPart } from '../../../nodes/PushCampaign/n8n/template';

const json = {
	name: 'Ann',
	page: { 'the url': 'https://a.example', tags: ['x', 'y'] },
	age: 7,
	none: null,
	blank: '\u00a0\u200b',
	order: 820_982_911_946_154_500,
	balance: -820_982_911_946_154_500,
	größe: 'M',
	'Price [EUR]': '5',
	list: [],
	when: DateTime.fromISO('2030-05-17'),
	hidden: false,
	digits: '9007199254740993123',
	greatest: Number.MAX_SAFE_INTEGER,
	ids: [1, 9_007_199_254_740_992],
	letters: [...'abcdefghijk'],
};

test.each([
	['Hello', undefined],
	['{{ $json.name }}', 'Ann'],
	['{{$json.name}}{{ $json["name"] }}!', 'AnnAnn!'],
	['{{ $json.page["the url"] }}?t={{ $json.page.tags[1] }}', 'https://a.example?t=y'],
	["{{ $json['name'] }}\n$& {", 'Ann\n$& {'],
	['{{ $json.größe }} {{ $json["Price [EUR]"] }}', 'M 5'],
	['{{ $json?.page?.["the url"] }} {{ $json.page?.tags?.[0] }}', 'https://a.example x'],
	['{{ $json.name }} }} {', 'Ann }} {'],
	['{{ $json.name }} {{ {{', undefined],
	['{{ $json.name }} \\\\ {{ $json.name }}', undefined],
	['{{ $json.letters[10] }}', 'k'],
	['{{ x$json.name }}', undefined],
	['{{ $json["a\\"b"] }}', undefined],
	['{{ $json[`name`] }}', undefined],
	['{{ $json.age }}', undefined],
	['{{ $json.none }}', undefined],
	['{{ $json.missing }}', undefined],
	['{{ $json.name.length }}', undefined],
	['{{ $json.toString }}', undefined],
	['{{ $json.name || "you" }}', undefined],
	['{{ $json.name.trim() }}', undefined],
	['{{ $json }}', undefined],
	['\\{{ $json.name }} {{ $json.name }}', undefined],
	['{{ $json.name', undefined],
])('%j joins to %j: what is not only paths that give texts is left to n8n', (expression, text) => {
	expect(joinText(expression, json)).toBe(text);
});

test.each([
	['Hello {{ $json.missing }}', '{{ $json.missing }}', 'missing'],
	['Hello {{$json.none}}', '{{$json.none}}', 'missing'],
	['{{ $json.name }}{{ $json.blank }}', '{{ $json.blank }}', 'missing'],
	['/{{ $json.page.slug }}', '{{ $json.page.slug }}', 'missing'],
	['Größe {{ $json.grösse }}', '{{ $json.grösse }}', 'missing'],
	['Now {{ $json["Price [USD]"] }}', '{{ $json["Price [USD]"] }}', 'missing'],
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
	['{{ $json.none }} {{ $json.name }}', '{{ $json.none }}', 'missing'],
	['Hello {{ $json.none.name }}', '{{ $json.none.name }}', 'missing'],
	['order-{{ $json.order }}', '{{ $json.order }}', 'lostDigits'],
	['{{ $json.order }} ', '{{ $json.order }}', 'lostDigits'],
	['b{{ $json.balance }}', '{{ $json.balance }}', 'lostDigits'],
	['IDs {{ $json.ids }}', '{{ $json.ids }}', 'lostDigits'],
])('%j lacks %j: %s', (expression, part, why) => {
	expect(missingPart(expression, json)).toEqual({ part, why });
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
	['Hello {{ $json.none ? 1 : 2 }}'],
	['Hello {{ $("RSS").item.json.missing }}'],
	['Hello'],
])('%j lacks nothing: it is the whole text, or somebody has thought of it', (expression) => {
	expect(missingPart(expression, json)).toBeUndefined();
});

test('a text of blanks and invisible characters is blank', () => {
	expect(isBlankText('\t\u00a0\u3000\u200b\u2060\u00ad\u2800\ufe0f')).toBe(true);
	expect(isBlankText(' . ')).toBe(false);
	expect(isBlankText('🌷')).toBe(false);
});
