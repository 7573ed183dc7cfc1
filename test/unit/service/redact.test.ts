import * as fc from 'fast-check';
import { createRedactor } from '../../../nodes/PushCampaign/service/redact';
import { anyCodePoints } from '../../support/text';

const secret = 'geheim/ü?=key';
const base64 = Buffer.from(secret).toString('base64');

test.each([
	['plain', secret],
	['percent-encoded', encodeURIComponent(secret)],
	['in base64', base64],
	['in base64 without padding', base64.replace(/=+$/, '')],
])('hides a secret %s', (_how, spelling) => {
	const redact = createRedactor([secret]);
	expect(redact(spelling)).toBe('***');
	expect(redact(`a ${spelling} b ${spelling} c`)).toBe('a *** b *** c');
	expect(redact({ [`x ${spelling}`]: [{ deep: `${spelling}!` }] })).toEqual({
		'x ***': [{ deep: '***!' }],
	});
});

const special = 'p&ss/w+rd=\'<x>\\"ü z';
const entities = (text: string, entity: (code: number) => string) =>
	Array.from(text, (character) => entity(character.codePointAt(0) ?? 0)).join('');
const everywhere = (text: string, spell: (code: string) => string) =>
	Array.from(Buffer.from(text), (byte) => spell(byte.toString(16).padStart(2, '0'))).join('');

test.each<[string, (text: string) => string]>([
	['in upper case', (text) => text.toUpperCase()],
	['in lower case', (text) => text.toLowerCase()],
	['with lower-case percent codes', (text) => encodeURIComponent(text).toLowerCase()],
	['with every character percent-encoded', (text) => everywhere(text, (code) => `%${code}`)],
	['percent-encoded twice', (text) => encodeURIComponent(encodeURIComponent(text))],
	['as a form sends it', (text) => new URLSearchParams({ '': text }).toString().slice(1)],
	["with PHP's slashes", (text) => text.replaceAll('/', '\\/')],
	['as JSON in a text', (text) => JSON.stringify(text).slice(1, -1).replaceAll('/', '\\/')],
	[
		'as JSON in ASCII',
		(text) => entities(text, (code) => `\\u${code.toString(16).padStart(4, '0')}`),
	],
	[
		'with named entities',
		(text) =>
			text
				.replaceAll('&', '&amp;')
				.replaceAll('<', '&lt;')
				.replaceAll('>', '&gt;')
				.replaceAll('"', '&quot;')
				.replaceAll("'", '&apos;'),
	],
	[
		'as PHP escapes HTML, twice',
		(text) => text.replaceAll('&', '&amp;amp;').replaceAll("'", '&amp;#039;'),
	],
	['with decimal entities', (text) => entities(text, (code) => `&#${code};`)],
	['with hex entities', (text) => entities(text, (code) => `&#x${code.toString(16)};`)],
	[
		'with upper-case hex entities',
		(text) => entities(text, (code) => `&#X${code.toString(16).toUpperCase()};`),
	],
	['in hex', (text) => Buffer.from(text).toString('hex')],
	['in upper-case hex', (text) => Buffer.from(text).toString('hex').toUpperCase()],
	[
		'in Latin-1 percent codes',
		(text) => entities(text, (code) => `%${code.toString(16).padStart(2, '0')}`),
	],
	[
		"with a string's escapes",
		(text) => entities(text, (code) => `\\x${code.toString(16).padStart(2, '0')}`),
	],
	['in base64 within JSON', (text) => Buffer.from(text).toString('base64').replaceAll('/', '\\/')],
	[
		'in base64 within an address',
		(text) =>
			encodeURIComponent(Buffer.from(text).toString('base64'))
				.replaceAll('%2B', '+')
				.replaceAll('%2F', '/'),
	],
])('hides a secret %s', (_how, spell) => {
	for (const hidden of [special, secret, 'Abc123xyz', 'key~key/key??']) {
		const redact = createRedactor([hidden]);
		expect(redact(`<${spell(hidden)}>`)).toBe('<***>');
	}
});

// The HTML standard's named character references of what ASCII has besides letters and digits.
test.each([
	['!', ['excl']],
	['"', ['quot', 'QUOT']],
	['#', ['num']],
	['$', ['dollar']],
	['%', ['percnt']],
	['&', ['amp', 'AMP']],
	["'", ['apos']],
	['(', ['lpar']],
	[')', ['rpar']],
	['*', ['ast', 'midast']],
	['+', ['plus']],
	[',', ['comma']],
	['.', ['period']],
	['/', ['sol']],
	[':', ['colon']],
	[';', ['semi']],
	['<', ['lt', 'LT']],
	['=', ['equals']],
	['>', ['gt', 'GT']],
	['?', ['quest']],
	['@', ['commat']],
	['[', ['lsqb', 'lbrack']],
	['\\', ['bsol']],
	[']', ['rsqb', 'rbrack']],
	['^', ['Hat']],
	['_', ['lowbar', 'UnderBar']],
	['`', ['grave', 'DiacriticalGrave']],
	['{', ['lcub', 'lbrace']],
	['|', ['verbar', 'vert', 'VerticalLine']],
	['}', ['rcub', 'rbrace']],
	// What editors of HTML write for a blank.
	[' ', ['nbsp']],
])('hides a secret in which %s is an entity by name', (character, names) => {
	const redact = createRedactor([`key${character}site`]);
	for (const name of names) {
		expect(redact(`<key&${name};site>`)).toBe('<***>');
		expect(redact(`<key&amp;amp;${name};site>`)).toBe('<***>');
		expect(redact(`<key&${name}site>`)).not.toBe('<***>');
	}
});

test('looks through long answers in no time, also such as are made to be slow', () => {
	const redact = createRedactor([
		special,
		'another-secret-of-the-site',
		'%25%25%25%25',
		'&amp;&amp;',
	]);
	const started = performance.now();
	for (const part of ['\\', '&', '&amp;', '%', '%25', '=', '&#0', 'a', 'p', '0x', '70:']) {
		redact(part.repeat(100_000));
	}
	expect(performance.now() - started).toBeLessThan(5_000);
});

test('hides a secret in the base64 of addresses', () => {
	const marked = '>>>???~~~>';
	expect(Buffer.from(marked).toString('base64')).toMatch(/\+.*\/.*==$/);
	const spelling = Buffer.from(marked).toString('base64url');
	expect(createRedactor([marked])(spelling)).toBe('***');
});

test('leaves a padding behind nowhere: the longer spelling goes first', () => {
	expect(base64).toMatch(/=$/);
	expect(createRedactor([secret])(base64)).toBe('***');
	expect(createRedactor(['secret', 'secret-longer'])('secret-longer')).toBe('***');
	expect(createRedactor(['secret-longer', 'secret'])('secret-longer')).toBe('***');
});

test('leaves what is no text, and every other text, as it is', () => {
	const value = { n: 1, t: true, z: null, u: undefined, list: [1, 'word'], o: {} };
	expect(createRedactor([secret])(value)).toEqual(value);
	expect(createRedactor([])('word')).toBe('word');
});

test('does not hide values so short that they occur in words', () => {
	expect(createRedactor(['tokens'])('tokens')).toBe('***');
	expect(createRedactor(['token'])('a token')).toBe('a token');
	expect(createRedactor([''])('abc')).toBe('abc');
});

test('keeps a name __proto__ a name', () => {
	const redacted = createRedactor([secret])(JSON.parse('{"__proto__": {"a": 1}}'));
	expect(JSON.stringify(redacted)).toBe('{"__proto__":{"a":1}}');
});

test('no secret is left in any JSON value', () => {
	fc.assert(
		fc.property(
			anyCodePoints({ minLength: 6, maxLength: 12 }).filter((text) => !text.includes('*')),
			fc.string(),
			fc.string(),
			fc.jsonValue({ maxDepth: 2 }),
			(hidden, before, after, other) => {
				const redact = createRedactor([hidden]);
				const bytes = Buffer.from(hidden).toString('base64');
				const spellings = [hidden, encodeURIComponent(hidden), bytes];
				const echo = spellings.map((text) => ({ [before + text]: [text + after, other] }));
				const texts: string[] = [];
				JSON.stringify(redact(echo), (name, value: unknown) => {
					texts.push(name, ...(typeof value === 'string' ? [value] : []));
					return value;
				});
				const left = spellings.filter((spelling) => texts.some((text) => text.includes(spelling)));
				expect(left).toEqual([]);
			},
		),
	);
});
