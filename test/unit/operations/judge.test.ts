import type { IDataObject } from 'n8n-workflow';

import { judge } from '../../../nodes/PushCampaign/operations/judge';
import { adviceOf, itemOf, refusalOf } from './support';

const title = { label: "'Title'", path: 'title' };

interface Text {
	readonly text: string;
	/** As it is written; a text without one is set to Fixed. */
	readonly expression?: string | undefined;
	readonly input?: IDataObject | undefined;
}

const judgeText = ({ text, expression, input = {} }: Text) =>
	judge(itemOf({ title: expression ?? text }, { input, evaluate: () => text }), title, text);

describe('nobody meant', () => {
	test.each([
		{ text: 'Hello [object Object]', holds: '[object Object]' },
		{ text: '[object Promise]', holds: '[object Promise]' },
		{ text: 'Hello function toUpperCase() { [native code] }', holds: '[native code]' },
		{ text: 'Sale ends Invalid Date', holds: 'Invalid Date' },
		{ text: 'Sale ends Invalid DateTime', holds: 'Invalid DateTime' },
		{ text: 'undefined', holds: 'undefined' },
		{ text: ' null ', holds: 'null' },
		{ text: 'NaN', holds: 'NaN' },
		{ text: 'Infinity', holds: 'Infinity' },
		{ text: 'Hello null', expression: "={{ 'Hello ' + $json.first }}", holds: 'null' },
		{ text: 'Hello undefined', expression: '={{ `Hello ${$json.first}` }}', holds: 'undefined' },
		{ text: 'p-Infinity', expression: "={{ 'p-' + 1 / $json.n }}", holds: 'Infinity' },
		{ text: 'Sommerschlu\uFFFDverkauf', holds: '\uFFFD, which stands for a character' },
		{
			text: 'Hello undefined',
			expression: '={{ `Hello ${$json.a}` }}',
			input: { a: 7, b: null },
			holds: 'undefined',
		},
		{ text: '{{ a }} {{ $b }}', expression: '={{ $json.a }}', holds: '{{ $b }}, a template' },
		{ text: 'Hello {{ $json.name }}', holds: '{{ $json.name }}, but is set to Fixed' },
		{ text: 'Hello {{First name}}', holds: '{{First name}}, but is set to Fixed' },
		{ text: 'Hello {{}}!', holds: '{{}}, but is set to Fixed' },
		{ text: 'Hello {{ $json.name }', holds: '$json.name, but is set to Fixed' },
		{ text: '$json["First name"]', holds: '$json["First, but is set to Fixed' },
		{ text: '{ $json.name }', holds: '$json.name, but is set to Fixed' },
	])('"$text": it holds $holds', ({ text, expression, input, holds }) => {
		expect(refusalOf(() => judgeText({ text, expression, input }))).toContain(holds);
	});

	test.each([
		...['None', 'NONE', 'none', 'NULL', 'Null', 'nan', 'NAN', 'N/A', 'n/a', '\\N', ' None '],
	])('%j alone, which stands for a missing value in databases, sheets and Python', (text) => {
		const what = `holds ${text.trim()}, as if a value were missing`;
		expect(refusalOf(() => judgeText({ text }))).toContain(what);
		// An attribute may be *none*.
		expect(judge(itemOf({ title: text }), title, text, 'attribute')).toBeUndefined();
	});

	test.each([
		...['Err:502', ' Err:508', 'Err:522', 'Erro:502', 'Fout:503', 'Błąd:504', 'Ошибка:502'],
	])("LibreOffice's %j alone", (text) => {
		expect(refusalOf(() => judgeText({ text }))).toContain('which a spreadsheet shows');
		expect(refusalOf(() => judge(itemOf({}), title, text, 'attribute'))).toContain('spreadsheet');
	});

	test.each(['\0', '\u0007', '\u001B', '\u007F', '\u0090'])('a control character: %j', (text) => {
		const number = text.charCodeAt(0).toString(16).toUpperCase().padStart(4, '0');
		expect(refusalOf(() => judgeText({ text: `a${text}b` }))).toContain(
			`holds U+${number}, a char`,
		);
	});

	test.each([
		...['#N/A', '#REF!', '#VALUE!', '#NAME?', '#DIV/0!', '#NUM!', '#NULL!', '#ERROR!', '#SPILL!'],
		...['#CALC!', '#FIELD!', '#BLOCKED!', '#CONNECT!', '#BUSY!', '#PYTHON!', '#GETTING_DATA'],
		...['#NV', '#BEZUG!', '#WERT!', '#ÜBERLAUF!', '#DATEN_ABRUFEN!', '#VALEUR!'],
		...['#PROPAGATION !', '#NOM?', '#¡REF!', '#¿NOMBRE?', '#¡DESBORDAMIENTO!', '#RIF!', '#NÚM!'],
		...['#DEEL/0!', '#VÆRDI!', '#VERDI!', '#VÄRDEFEL!', '#PUUTTUU!', '#ADR!', '#ODKAZ!'],
		...['#NEDOSTUPNÝ', '#ÉRTÉK!', '#BAŞV!', '#ЗНАЧ!', '#ЗНАЧЕННЯ!', '#ΤΙΜΗ!', '#VREDN!'],
		...['#VRIJEDNOST!', '#VALOARE!', '#溢出!', '#スピル!', '#분산!'],
	])("a spreadsheet's %s alone", (text) => {
		expect(refusalOf(() => judgeText({ text }))).toContain(`holds ${text}, which a spreadsheet`);
	});

	test.each([
		['[object Object]', /^Use a field of the object in the expression, such as /],
		['Invalid Date', /^Check the expression, and the data that it reads\.$/],
		['undefined', /^Check the expression, and the data that it reads\.$/],
		['\uFFFD', /^Choose the encoding of the file /],
		[' #N/A ', /^Correct the formula in the sheet\.$/],
	])('"%s", with advice that fits', (text, advice) => {
		expect(adviceOf(() => judgeText({ text }))).toMatch(advice);
	});

	const misread =
		`itâ€™s|â€œNowâ€\u009d|5 â‚¬|MÃ¼nchen|cafÃ©|Ã–sterreich|Ã„rzte|StraÃŸe|SÃ£o|5Â\u00a0€|20Â°|Â£5|Â«RÂ»|ðŸ”¥|â\u009d¤ï¸|â­\u0090|ï»¿Sale|Å‚Ã³dÅº|Å¡koda
		ÐŸÑ€Ð¸Ð²ÐµÑ‚|Î‘Î¸Î®Î½Î±|ä¸­æ–‡|æ—¥æœ¬èªž|ì•ˆë…•|Ø§Ù„|×©×œ×•×|à¤¨à¤®`.split(/\||\n\t+/);

	test.each(misread)('UTF-8 that was read as Windows-1252: %j', (text) => {
		expect(refusalOf(() => judgeText({ text: `New: ${text}` }))).toContain(
			', as if a file had been',
		);
		expect(refusalOf(() => judge(itemOf({}), title, text, 'attribute'))).toContain(
			', as if a file',
		);
	});

	test('half a character', () => {
		expect(refusalOf(() => judgeText({ text: 'Sale \ud83c' }))).toBe(
			`'Title' holds \uFFFD, half of a character: "Sale \uFFFD"`,
		);
	});
});

describe('somebody meant', () => {
	const about = 'How to handle undefined in JavaScript';
	const texts: Text[] = [
		{ text: about },
		{ text: about, expression: "={{ $('RSS').item.json.title }}" },
		{ text: `New: ${about}`, expression: "={{ 'New: ' + $json.title }}", input: { title: about } },
		{ text: about, expression: "={{ 'How to handle undefined' + $json.where }}" },
		{ text: 'https://blog.example/what-does-null-mean-in-sql' },
		{ text: 'Nullify, nullable and NaNo', expression: "={{ 'Nullify, ' + $json.rest }}" },
		{ text: about, expression: "={{ $fromAI('Title', `First line`, 'string') }}" },
		{ text: 'Use {{ name }} in your letters', expression: '={{ $json.title }}' },
		{ text: 'None of your business' },
		{ text: 'N/A-rated films, and nan bread' },
		{ text: 'Err:502 or Bad Gateway?' },
		{ text: 'Error: 404' },
		{ text: 'Why $json is not a $jsonnet', expression: '={{ $json.title }}' },
		{ text: 'Only $5 for {this} and }} that {{' },
		{ text: 'One\nTwo\r\n\tThree\u0085' },
		{ text: 'Why your sheet shows #N/A' },
		{ text: '#SALE!' },
		{ text: '#REFill' },
		{ text: '{{ a }} $ {{ b }} {{ $c', expression: '={{ $json.title }}' },
		{ text: 'Object-oriented: [objects]' },
		// Capitals in front of what those bytes stand for in Windows-1252.
		{ text: 'SÃO PAULO, AÇÃO, “IRMÔ, «MANHû, NÃO… Ñ, CORAÇÃO™' },
		{ text: 'déjà », « passé…” », à €5, café®”, 1 carré €, “Ô' },
		{ text: 'HYVÄÄ PÄIVÄÄ… KESÄ–SYKSY, PÅ”, JÄ…, ÅNGSTRÖM, Åland – på Å' },
		{ text: 'ÂNGULO, ROMÂNIA, ÎLE, ÑANDÚ, ESPAÑA… AÑO’26, Ø 12 m², Ø½, 3×½, ÞAÐ…, ÐA' },
		{ text: 'CHÂTEAU À 5 €, ÇA ! FORÊT — NOËL» MAÏS™ Fuß² Spaß… größer: „Jä“' },
	];
	test.each(texts.map((row) => [row.text, row.expression ?? 'Fixed', row] as const))(
		'%j of %j',
		(_text, _written, row) => {
			expect(judgeText(row)).toBeUndefined();
		},
	);
});
