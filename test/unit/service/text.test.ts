import {
	clip,
	countCharacters,
	isBlankText,
	isWebUrl,
	quote,
	trimBlanks,
	trimHidden,
} from '../../../nodes/PushCampaign/service/text';
import { messageOf } from '../../../nodes/PushCampaign/service/thrown';

test.each([
	['becomes one line', ' a\r\n\tb  c ', 'a b c'],
	['of 300 characters stays as it is', 'x'.repeat(300), 'x'.repeat(300)],
	['that is longer is cut to 300 characters', 'x'.repeat(301), `${'x'.repeat(299)}…`],
	['is not cut within a character', `${'x'.repeat(298)}😀yz`, `${'x'.repeat(298)}…`],
])('a text from outside %s', (_what, text, clipped) => {
	expect(clip(text)).toBe(clipped);
});

test.each<{ value: unknown; quoted: string }>([
	{ value: 'two\nlines', quoted: '"two lines"' },
	{ value: 7, quoted: '7' },
	{ value: null, quoted: 'null' },
	{ value: [1, 'a'], quoted: '[1,"a"]' },
	{ value: { a: 1 }, quoted: '{"a":1}' },
	{ value: new Date(Number.NaN), quoted: 'Invalid Date' },
	{ value: { toString: undefined, valueOf: undefined }, quoted: 'a value of type object' },
])('a refused value is shown as $quoted', ({ value, quoted }) => {
	expect(quote(value)).toBe(quoted);
});

test('a text of blanks and invisible characters is blank', () => {
	expect(isBlankText('\t\u00a0\u3000\u200b\u2060\u00ad\u2800\ufe0f')).toBe(true);
	expect(isBlankText(' . ')).toBe(false);
	expect(isBlankText('🌷')).toBe(false);
});

test('a character is a code point', () => {
	expect(countCharacters('a😀')).toBe(2);
	expect(countCharacters('👩‍👩‍👧')).toBe(5);
});

test('what is compared is trimmed of what nobody sees, but for what makes letters and emoji', () => {
	const hidden =
		'\u00AD\u061C\u180E\u200B\u200E\u200F\u202A\u202E\u2060\u2066\u2069\u3164\uFEFF\u2800\0 \n';
	expect(trimHidden(`${hidden}a${hidden}b${hidden}`)).toBe(`a${hidden}b`);
	for (const kept of ['❤\uFE0F', '🏴\u{E0067}\u{E007F}', 'می\u200C', '👩\u200D']) {
		expect(trimHidden(kept)).toBe(kept);
	}
	expect(trimBlanks('\u200F\u200Ba\u200E\u200B')).toBe('\u200F\u200Ba\u200E');
});

test('an error of another realm has its message', () => {
	expect(messageOf({ message: 'no' })).toBe('no');
	expect(messageOf('no')).toBe('no');
});

const wordsOf = (text: string) => text.trim().split(/\s+/);

const addresses = wordsOf(`
	https://shop.example HTTP://ü.example/ä?b#c http://[::1]:8080/ http://localhost https://intranet:8080/a
	https://shop.example/می\u200cخواهم?a=👩\u200d🌾 https://shop.example/🏴\u{E0067}\u{E0062}\u{E0065}\u{E006E}\u{E0067}\u{E007F}
	https://web.example/2030/https://shop.example https://archive.example/https://shop.example/a
	https://http.example:8080/?u=https://shop.example#https://shop.example
	https://my_shop.example. https://1.2.3.4 https://[2001:db8::1]/a https://müller。example
	https://xn--mller-kva.example/, https://店舗.example https://a,b:c,d@shop.example
	https://${'a'.repeat(63)}.example https://${'a.'.repeat(126)}ab`);

test.each(addresses)('%s is a web address', (url) => {
	expect(isWebUrl(url)).toBe(true);
});

const others = wordsOf(`
	shop.example ftp://shop.example https:shop.example https:///shop https://shop.example/\u200b
	https://https://shop.example https://https//shop.example https://shop.examplehttps://shop.example/a
	https://shop.example/https://shop.example/a https://shop.example/\u0000 https://\u200bshop.example
	https://shop.example/\ud83d https:\\\\shop.example https://a:b:c https://e,com https://e..com https://.e.com
	https://www.e.com, https://.. https://. https://e.com../a https://e'com https://(e.com) https://e;com/?a
	https://e.com!:443 https://e。。com https://e%2Ccom https://ü,example https://*.e.com https://e=com
	https://${'a'.repeat(64)}.example https://${'a.'.repeat(127)}a`);

test.each([...others, 'https://shop.example/a b'])('%j is no web address', (url) => {
	expect(isWebUrl(url)).toBe(false);
});
