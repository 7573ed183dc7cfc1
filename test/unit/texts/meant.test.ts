import fc from 'fast-check';

import { sendToAttributes } from '../../../nodes/PushCampaign/operations/sendToAttributes';
import { prepare, refusalOf } from '../operations/support';

// No text is refused that somebody meant, of whatever script, and however its expression is written.

const words =
	`Anna José MÜLLER Łódź Żółć İstanbul ÇAĞRI SÃO AÇÃO CORAÇÃO Ñandú ÎLE d’été «MANHû “IRMÔ HYVÄ… PÅ Þór
	Ελλάδα ΕΛΛΆΔΑ Привет Київ Ђорђе Հայաստան שלום مرحبا می‌خواهم नमस्ते বাংলা ไทย ខ្មែរ አማርኛ ქართული 中文 日本語 한국어 Việt
	🌷 👩‍🌾 🇩🇪 ❤️ 7 19,90 €5 5€ 50% -20% 3×2 100°C #SALE! #1 No.1 C++ R&D A/B a_b @shop O'Neil "sale" (new) [new] $5 !
	none Null Nan NaNo nullify undefinedness Infinite None! N/A-rated Err:404 true False 1e21 9007199254740993 0 | && ?? ? :`
		.split(/\s+/)
		.filter(Boolean);

const word = fc.constantFrom(...words);
const text = fc.array(word, { minLength: 1, maxLength: 3 }).map((some) => some.join(' '));

/** Ways to read a column, and what is written around some of them. */
const codes: ReadonlyArray<(path: string) => string> = [
	...[(path: string) => path, (path: string) => `${path}.trim()`, (path: string) => `${path} + ''`],
	...[(path: string) => `${path}.split('~')[0]`, (path: string) => `${path} || 'there'`],
	...[(path: string) => `\`\${${path}}\``, (path: string) => `$json['b'] ? ${path} : ''`],
];
const part = fc
	.tuple(fc.constantFrom('a', 'b', 'c'), fc.constantFrom(...codes))
	.map(([name, code]) => `{{ ${code(`$json.${name}`)} }}`);
const template = fc
	.array(fc.oneof(part, text), { minLength: 1, maxLength: 5 })
	.map((pieces) => `=x ${pieces.join(' ')}`);

test('a text of words of all scripts, in its braces and around them, is sent', () => {
	fc.assert(
		fc.property(template, text, text, text, fc.boolean(), (title, a, b, c, htmlToText) => {
			const input = { a, b, c };
			const parameters = {
				...{
					title,
					message: title,
					targetUrl: '=https://shop.example/{{ encodeURIComponent($json.a) }}',
				},
				attributes: { pairs: [{ name: 'city', value: '=x-{{ $json.b }}' }] },
				options: {
					shortenTexts: true,
					htmlToText,
					idempotencyKey: '=k-{{ $json.c }}-{{ $json.a }}',
				},
			};
			const read = () => prepare(parameters, { input }, sendToAttributes);
			expect(refusalOf(read)).toBe('Nothing is refused');
		}),
		{ numRuns: 150 },
	);
});

/** UTF-8, read as Windows-1252. */
const misread = (given: string): string =>
	Array.from(new TextEncoder().encode(given), (byte) => {
		const high = '€\u0081‚ƒ„…†‡ˆ‰Š‹Œ\u008DŽ\u008F\u0090‘’“”•–—˜™š›œ\u009DžŸ';
		return high[byte - 128] ?? String.fromCharCode(byte);
	}).join('');

const garbled =
	`München|Über uns|café|Größe|Français|São|Łódź|Škoda|żółty|Привет|Київ|Ελλάδα|مرحبا|שלום|नमस्ते|中文|日本語|한국어|ไทย|🌷|👩‍🌾|❤️|⭐|✔|–|“now”
	it’s|…|5 €|™|©|®|½|20°|£5|c’est|niño|¿Qué?|Ärzte|Öl|ÇA|Århus|smørrebrød`.split(/\||\n\t/);

test.each(garbled)('%s in a file of another encoding is refused', (given) => {
	const read = () => prepare({ title: `=New: {{ $json.a }}` }, { input: { a: misread(given) } });
	expect(refusalOf(read)).toContain(', as if a file had been read in another encoding');
});
