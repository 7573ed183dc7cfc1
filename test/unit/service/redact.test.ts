import * as fc from 'fast-check';
import { createRedactor, withheld } from '../../../nodes/PushCampaign/service/redact';

const secret = 'geheim/ü?=key';
const special = 'p&ss/w+rd=\'<x>\\"ü z';
const entities = (text: string, entity: (code: number) => string) =>
	Array.from(text, (character) => entity(character.codePointAt(0) ?? 0)).join('');
const everywhere = (text: string, spell: (code: string) => string) =>
	Array.from(Buffer.from(text), (byte) => spell(byte.toString(16).padStart(2, '0'))).join('');

const hex = (code: number, digits: number) => code.toString(16).padStart(digits, '0');

interface Spelling {
	readonly name: string;
	readonly spell: (text: string) => string;
}

const spellings: Spelling[] = [
	{ name: 'as it is', spell: (text) => text },
	{ name: 'in upper case', spell: (text) => text.toUpperCase() },
	{
		name: 'with every character percent-encoded',
		spell: (text) => everywhere(text, (code) => `%${code}`),
	},
	{
		name: 'percent-encoded twice',
		spell: (text) => encodeURIComponent(encodeURIComponent(text)).toLowerCase(),
	},
	{
		name: 'as a form sends it',
		spell: (text) => new URLSearchParams({ '': text }).toString().slice(1),
	},
	{
		name: 'as JSON in a text',
		spell: (text) => JSON.stringify(text).slice(1, -1).replaceAll('/', '\\/'),
	},
	{
		name: 'as JSON in ASCII',
		spell: (text) => entities(text, (code) => `\\u${hex(code, 4)}`),
	},
	{
		name: 'as PHP escapes HTML, twice',
		spell: (text) => text.replaceAll('&', '&amp;amp;').replaceAll("'", '&amp;#039;'),
	},
	{ name: 'with decimal entities', spell: (text) => entities(text, (code) => `&#${code};`) },
	{
		name: 'with hex entities',
		spell: (text) => entities(text, (code) => `&#x${hex(code, 2)};`),
	},
];

describe('a text that repeats a secret is withheld', () => {
	test.each(spellings)('if the secret is spelled $name', ({ spell }) => {
		for (const hidden of [special, secret, 'Abc123xyz', 'key~key/key??']) {
			const redactor = createRedactor(['another-one', hidden]);
			for (const text of [spell(hidden), `a <${spell(hidden)}> b`]) {
				expect(redactor.text(text)).toBe(withheld);
				expect(redactor.json({ [text]: [{ deep: text, number: 7 }] })).toEqual({
					[withheld]: [{ deep: withheld, number: 7 }],
				});
			}
		}
	});

	test.each(['amp', 'QUOT', 'sol', 'UnderBar', 'nbsp'])(
		'if the HTML entity &%s; stands for one of its characters',
		(entity) => {
			const redactor = createRedactor(['key/site']);
			expect(redactor.text(`<key&${entity};site>`)).toBe(withheld);
			expect(redactor.text(`<key&amp;amp;${entity};site>`)).toBe(withheld);
		},
	);
});

test('every other value of an answer stays as it is', () => {
	const value = { n: 1, t: true, z: null, u: undefined, list: [1, 'word'], o: {}, at: '50%' };
	expect(createRedactor([secret]).json(value)).toEqual(value);
	expect(createRedactor([]).json('word')).toBe('word');
});

test('a secret of less than six characters is never withheld, because it occurs in words', () => {
	expect(createRedactor(['tokens']).text('tokens')).toBe(withheld);
	expect(createRedactor(['token']).text('a token')).toBe('a token');
	expect(createRedactor(['']).text('abc')).toBe('abc');
});

test('a secret with few letters and digits is withheld only where all its characters occur', () => {
	expect(createRedactor(['?!?!?!']).text('Really?')).toBe('Really?');
	expect(createRedactor(['K!?!?!?']).text('a k!?!?!? b')).toBe(withheld);
});

// A key may be anything: what an answer means must not depend on it.
test('the words of the interface stay, also if they contain a secret', () => {
	const answer = { status: 'success', description: 'Done', ID: '12345678', notification_id: '1' };
	for (const hidden of ['success', 'Status', 'ription', 'notification']) {
		expect(createRedactor([hidden]).json(answer)).toEqual(answer);
	}
	expect(createRedactor(['success']).json({ status: 'successful' })).toEqual({ status: withheld });
});

describe('a secret of digits alone', () => {
	const redactor = createRedactor(['12345678']);

	test('is withheld, as a text and as a number', () => {
		const echo = { text: '12345678', number: 12345678, negative: -12345678, list: [12345678] };
		expect(redactor.json(echo)).toEqual({
			text: withheld,
			number: withheld,
			negative: withheld,
			list: [withheld],
		});
	});

	test('stays if it is a part of an ID or a counter', () => {
		const answer = { ID: '123456789', notification_id: 912345678, clicked: 1234567 };
		expect(redactor.json(answer)).toEqual(answer);
	});
});

test('a field with the name __proto__ stays a field', () => {
	const redacted = createRedactor([secret]).json(JSON.parse('{"__proto__": {"a": 1}}'));
	expect(JSON.stringify(redacted)).toBe('{"__proto__":{"a":1}}');
});

test('no secret is left in any JSON value', () => {
	fc.assert(
		fc.property(
			// What a header can carry, with the six letters and digits that a key has at least.
			fc.stringMatching(/^[!-~ü]{0,9}[A-Za-z0-9]{6}[!-~ü]{0,9}$/),
			fc.string(),
			fc.string(),
			fc.jsonValue({ maxDepth: 2 }),
			(hidden, before, after, other) => {
				const redactor = createRedactor([hidden]);
				const forms = [hidden, encodeURIComponent(hidden)];
				const echo = forms.map((text) => ({ [before + text]: [text + after, other] }));
				const texts: string[] = [];
				JSON.stringify(redactor.json(echo), (name, value: unknown) => {
					texts.push(name, ...(typeof value === 'string' ? [value] : []));
					return value;
				});
				const left = forms.filter((form) => texts.some((text) => text.includes(form)));
				expect(left).toEqual([]);
			},
		),
	);
});
