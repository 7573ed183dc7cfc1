import { joinText } from '../../../nodes/PushCampaign/n8n/template';

const json = {
	...{ name: 'Ann', age: 7, none: null, größe: 'M' },
	...{ 'Price [EUR]': '5', "Today's deal": 'Tulips', '5" 🌷!!\n\\': 'Yes' },
	page: { 'the url': 'https://a.example', tags: ['x', 'y'] },
};

test.each([
	['Hello', undefined],
	['{{ $json.name }}', 'Ann'],
	['{{$json.name}}{{ $json["name"] }}!', 'AnnAnn!'],
	['{{ $json.page["the url"] }}?t={{$json.name}}', 'https://a.example?t=Ann'],
	['{{ $json.page.tags[1] }}!', undefined],
	["{{ $json['name'] }}\n$& {", 'Ann\n$& {'],
	['{{ $json.größe }} {{ $json["Price [EUR]"] }}', 'M 5'],
	['{{ $json?.page?.["the url"] }} {{ $json.page?.tags?.[0] }}', undefined],
	['{{ $json.name }} }} {', 'Ann }} {'],
	['{{ $json.name }} {{ {{', undefined],
	['{{ $json.name }} \\\\ {{ $json.name }}', undefined],
	['{{ x$json.name }}', undefined],
	['{{ $json["a\\"b"] }}', undefined],
	[String.raw`{{ $json['Today\'s deal'] }}`, undefined],
	[String.raw`{{ $json["5\" \u{1F337}\x21\u0021\n\\"] }}`, undefined],
	[
		String.raw`{{ $json.page['the\
 url'] }}`,
		undefined,
	],
	[String.raw`{{ $json['\u00'] }} {{ $json['\u{110000}'] }}`, undefined],
	[String.raw`{{ $json['name\'] }}`, undefined],
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
])(
	'%j joins to %j without n8n, which alone knows what is not only paths that give texts',
	(expression, text) => {
		expect(joinText(expression, json, () => undefined)?.value).toBe(text);
	},
);
