import * as fc from 'fast-check';
import { createRedactor, withheld } from '../../../nodes/PushCampaign/service/redact';

const secret = 'geheim/ü?=key';

const special = 'p&ss/w+rd=\'<x>\\"ü z';
const entities = (text: string, entity: (code: number) => string) =>
	Array.from(text, (character) => entity(character.codePointAt(0) ?? 0)).join('');
const everywhere = (text: string, spell: (code: string) => string) =>
	Array.from(Buffer.from(text), (byte) => spell(byte.toString(16).padStart(2, '0'))).join('');

const hex = (code: number, digits: number) => code.toString(16).padStart(digits, '0');

test.each<[string, (text: string) => string]>([
	['as it is', (text) => text],
	['in upper case', (text) => text.toUpperCase()],
	['with every character percent-encoded', (text) => everywhere(text, (code) => `%${code}`)],
	['percent-encoded twice', (text) => encodeURIComponent(encodeURIComponent(text)).toLowerCase()],
	['as a form sends it', (text) => new URLSearchParams({ '': text }).toString().slice(1)],
	['as JSON in a text', (text) => JSON.stringify(text).slice(1, -1).replaceAll('/', '\\/')],
	['as JSON in ASCII', (text) => entities(text, (code) => `\\u${hex(code, 4)}`)],
	[
		'as PHP escapes HTML, twice',
		(text) => text.replaceAll('&', '&amp;amp;').replaceAll("'", '&amp;#039;'),
	],
	['with decimal entities', (text) => entities(text, (code) => `&#${code};`)],
	['with hex entities', (text) => entities(text, (code) => `&#x${hex(code, 2)};`)],
	['with entities that nothing ends', (text) => entities(text, (code) => `&#${code}`)],
	['with hex ones', (text) => entities(text, (code) => `&#X${hex(code, 2)}`)],
	["with a string's escapes", (text) => entities(text, (code) => `\\x${hex(code, 2)}`)],
	['in base64', (text) => Buffer.from(text).toString('base64')],
	['in the base64 of addresses', (text) => Buffer.from(text).toString('base64url')],
	['in the base64 of more than it', (text) => Buffer.from(`user:${text}:x`).toString('base64')],
	['in hex', (text) => Buffer.from(text).toString('hex').toUpperCase()],
])('withholds a text that repeats a secret %s', (_how, spell) => {
	for (const hidden of [special, secret, 'Abc123xyz', 'key~key/key??', 'key%41&amp;b\\n']) {
		const redact = createRedactor(['another-one', hidden]);
		for (const text of [spell(hidden), `a <${spell(hidden)}> b`]) {
			expect(redact(text)).toBe(withheld);
			expect(redact({ [text]: [{ deep: text, number: 7 }] })).toEqual({
				[withheld]: [{ deep: withheld, number: 7 }],
			});
		}
	}
});

test.each(['amp', 'QUOT', 'sol', 'UnderBar', 'nbsp'])(
	'withholds a secret in which &%s; stands for a character',
	(name) => {
		const redact = createRedactor(['key/site']);
		expect(redact(`<key&${name};site>`)).toBe(withheld);
		expect(redact(`<key&amp;amp;${name};site>`)).toBe(withheld);
	},
);

test('looks behind six escapes, and says what it withholds', () => {
	const redact = createRedactor(['Abc123xyz']);
	const escaped = (times: number) => `%${'25'.repeat(times - 1)}41bc123xyz`;
	expect(redact(escaped(6))).toBe('(withheld: this text repeats the API Key or the Auth Token)');
	expect(redact(escaped(7))).toBe(escaped(7));
});

test('looks through long answers in no time, also such as are made to be slow', () => {
	const redact = createRedactor([
		special,
		'another-secret-of-the-site',
		'%25%25%25%25',
		'&amp;&amp;',
	]);
	// Of this process alone: other work on the machine does not count.
	const started = process.cpuUsage();
	for (const part of ['\\', '&', '&amp;', '%', '%25', '=', '&#0', 'a', 'p', '0x', '70:']) {
		redact(part.repeat(20_000));
	}
	expect(process.cpuUsage(started).user).toBeLessThan(5_000_000);
});

test('leaves what is no text, and every other text, as it is', () => {
	const value = { n: 1, t: true, z: null, u: undefined, list: [1, 'word'], o: {}, at: '50%' };
	expect(createRedactor([secret])(value)).toEqual(value);
	expect(createRedactor([])('word')).toBe('word');
});

test('does not withhold values so short that they occur in words', () => {
	expect(createRedactor(['tokens'])('tokens')).toBe(withheld);
	expect(createRedactor(['token'])('a token')).toBe('a token');
	expect(createRedactor(['?!?!?!'])('Really?')).toBe('Really?');
	// Of one with fewer letters and digits only itself counts.
	expect(createRedactor(['K!?!?!?'])('a k!?!?!? b')).toBe(withheld);
	expect(createRedactor([''])('abc')).toBe('abc');
});

// A key may be anything: what an answer means must not depend on it.
test('leaves the words of the interface, and numbers in which a secret occurs', () => {
	const answer = { status: 'success', description: 'Done', ID: '12345678', notification_id: '1' };
	for (const hidden of ['success', 'Status', 'ription', '234567', 'notification']) {
		expect(createRedactor([hidden])(answer)).toEqual(answer);
	}
	expect(createRedactor(['success'])({ status: 'successful' })).toEqual({ status: withheld });
	expect(createRedactor(['12345678'])(answer)).toEqual({ ...answer, ID: withheld });
});

test('keeps a name __proto__ a name', () => {
	const redacted = createRedactor([secret])(JSON.parse('{"__proto__": {"a": 1}}'));
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
