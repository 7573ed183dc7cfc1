import { judge } from '../../../nodes/PushCampaign/texts/judge';
import type { Source, Use } from '../../../nodes/PushCampaign/texts/parts';
import { adviceOf, refusalOf } from '../operations/support';

// Texts that nobody meant, and such that somebody did. What the messages say is in operations/refusals.md.

const judging =
	(text: string, source: Partial<Source> = {}, use: Use = 'line') =>
	() =>
		judge({ label: "'Title'", expression: undefined, parts: [], input: {}, ...source }, text, use);

const bySheet = { expression: '{{ $json.title }}' };
const joined = { expression: "{{ 'Hello ' + $json.first }}" };

describe('nobody meant', () => {
	test.each<[text: string, holds: string, source?: Partial<Source>]>([
		['Hello [object Object]', '[object Object]'],
		['[object Promise]', '[object Promise]'],
		['Hello function toUpperCase() { [native code] }', '[native code]'],
		['Sale ends Invalid Date', 'Invalid Date'],
		['Sale ends Invalid DateTime', 'Invalid DateTime'],
		['Sommerschlu\uFFFDverkauf', '\uFFFD, which stands for a character'],
		['Hello null', 'null', joined],
		['Hello undefined', 'undefined', { expression: '{{ `Hello ${$json.first}` }}' }],
		['Hello undefined', 'undefined', { ...joined, input: { a: 7, b: null } }],
		['p-Infinity', 'Infinity', { expression: "{{ 'p-' + 1 / $json.n }}" }],
		['{{ a }} {{ $b }}', '{{ $b }}, a template', bySheet],
		['Hello {{ $json.name }}', '{{ $json.name }}, but is set to Fixed'],
		['Hello {{First name}}', '{{First name}}, but is set to Fixed'],
		['Hello {{}}!', '{{}}, but is set to Fixed'],
		['{{ { a: { b: 1 }.a } }}', '{{ { a: { b: 1 }.a } }}, but is set to Fixed'],
		['Hello {{ $json.name }', '$json.name, but is set to Fixed'],
		['$json["First name"]', '$json["First, but is set to Fixed'],
	])('%j: it holds %s', (text, holds, source = {}) => {
		expect(refusalOf(judging(text, source))).toContain(`'Title' holds ${holds}`);
	});

	const words = ['undefined', 'null', 'NULL', 'NaN', 'nan', 'None', 'N/A', '\\N', '-Infinity'];
	test.each(words)('%j alone, which stands for a missing value', (word) => {
		const typed = `'Title' holds ${word}, as if a value were missing`;
		expect(refusalOf(judging(` ${word}\n`))).toBe(typed);
		expect(refusalOf(judging(word, bySheet))).toBe(`'Title': {{ $json.title }} gave ${word}`);
		const isWord = refusalOf(judging(word, {}, 'attribute')) === typed;
		expect(isWord).toBe(/^(?:undefined|null|NaN|-Infinity)$/.test(word));
	});

	test.each([
		...['#N/A', '#REF!', '#VALUE!', '#NAME?', '#DIV/0!', '#NUM!', '#NULL!', '#ERROR!', '#SPILL!'],
		...['#CALC!', '#NV', '#BEZUG!', '#WERT!', '#ZAHL!', '#ÜBERLAUF!', '#VALEUR!', '#NOM?'],
		...['#NOMBRE!', 'Err:502', 'Err:508'],
	])("a spreadsheet's %s alone, even of an attribute", (text) => {
		for (const use of ['line', 'attribute'] as const) {
			const judgingCell = judging(text, bySheet, use);
			expect(refusalOf(judgingCell)).toBe(`'Title': {{ $json.title }} gave ${text}`);
			expect(adviceOf(judgingCell)).toBe('Correct the formula in the sheet.');
		}
	});

	const misread =
		`itâ€™s|â€œNowâ€|5 â‚¬|MÃ¼nchen|cafÃ©|Ã–sterreich|Ã„rzte|StraÃŸe|SÃ£o|5Â\u00a0€|20Â°|Â£5|Â«RÂ»|ðŸ”¥|â¤ï¸|â­|Å‚Ã³dÅº|Å¡koda|BucureÈ™ti|Viá»‡t|Há»“ng
		ÐŸÑ€Ð¸Ð²ÐµÑ‚|Î‘Î¸Î®Î½Î±|ä¸­æ–‡|æ—¥æœ¬èªž|ì•ˆë…•|Ø§Ù„|×©×œ×•×|à¤¨à¤®`.split(/\||\n\t+/);

	test.each(misread)('UTF-8 that was read as Windows-1252: %j', (text) => {
		for (const use of ['line', 'attribute'] as const) {
			expect(refusalOf(judging(`New: ${text}`, {}, use))).toContain(', as if a file had been');
		}
	});

	test('what nobody sees in an ID, and halves of characters', () => {
		expect(refusalOf(judging('a\u200Bb', {}, 'id'))).toMatch(/^'Title' holds U\+200B, a character/);
		expect(refusalOf(judging('a\uD83Cb', {}, 'id'))).toMatch(/^'Title' holds U\+D83C, a character/);
	});
});

const about = 'How to handle undefined in JavaScript';

test.each<[text: string, source?: Partial<Source>]>([
	[about],
	[about, { expression: "{{ $('RSS').item.json.title }}" }],
	[`New: ${about}`, { expression: "{{ 'New: ' + $json.title }}", input: { title: about } }],
	[about, { expression: "{{ 'How to handle undefined' + $json.where }}" }],
	['Nullify, nullable and NaNo', { expression: "{{ 'Nullify, ' + $json.rest }}" }],
	[about, { expression: "{{ $fromAI('Title', `First line`, 'string') }}" }],
	['https://blog.example/what-does-null-mean-in-sql'],
	['N/A', { expression: "{{ $json.price ?? 'N/A' }}" }],
	// Another spelling is somebody's word.
	...['none', 'Null', 'NAN', 'n/a', 'false', 'None of your business', 'N/A-rated films'].map(
		(text): [string] => [text],
	),
	['Err:502 or Bad Gateway?'],
	['Why your sheet shows #N/A'],
	['#SALE!'],
	['#REFill'],
	['Use {{ name }} in your letters', bySheet],
	['Why $json is not a $jsonnet', bySheet],
	['Only $5 for {this} and }} that {{'],
	['{{ a }} $ {{ b }} {{ $c', bySheet],
	['Object-oriented: [objects]'],
	// Capitals in front of what those bytes stand for in Windows-1252.
	['SÃO PAULO, AÇÃO, “IRMÔ, «MANHû, NÃO… Ñ, CORAÇÃO™, «Hawaï», «mamá»… CAFÈ™'],
	['déjà », « passé…” », à 5 €, café®”, 1 carré €, “Ô, COL·LECCIÓ, Ã·'],
	['HYVÄÄ PÄIVÄÄ… KESÄ–SYKSY, PÅ”, JÄ…, ÅNGSTRÖM, Åland – på Å'],
	['ÂNGULO, ROMÂNIA, ÎLE, ÑANDÚ, ESPAÑA… AÑO’26, Ø 12 m², Ø½, 3×½, ÞAÐ…, ÐA'],
	['CHÂTEAU À 5 €, ÇA ! FORÊT — NOËL» MAÏS™ Fuß² Spaß… größer: „Jä“'],
])('somebody meant %j of %j', (text, source = {}) => {
	expect(judging(text, source)()).toBeUndefined();
});
