import * as fc from 'fast-check';
import { invisibleIn, parseBaseUrl } from '../../../nodes/PushCampaign/service/address';
import { anyWebUrl } from '../../support/text';
import { refusal } from './support';

// Specification, Base address.

test.each([
	{
		name: 'ignores spaces around it',
		entered: '  https://push.example.com \n',
		address: 'https://push.example.com',
	},
	{
		name: 'drops slashes at its end',
		entered: 'https://push.example.com///',
		address: 'https://push.example.com',
	},
	{
		name: 'keeps a prefix with two slashes in it',
		entered: 'https://push.example.com/api//push/',
		address: 'https://push.example.com/api//push',
	},
	{
		name: 'writes the host in lower case, and keeps the path',
		entered: 'HTTPS://Push.Example.com/API',
		address: 'https://push.example.com/API',
	},
	{
		name: 'keeps a port',
		entered: 'https://push.example.com:8443/x',
		address: 'https://push.example.com:8443/x',
	},
	{
		name: 'takes an IPv6 address',
		entered: 'https://[2001:db8::1]/',
		address: 'https://[2001:db8::1]',
	},
	{
		name: 'takes an @ in the path',
		entered: 'https://push.example.com/https://a@b',
		address: 'https://push.example.com/https://a@b',
	},
	{
		name: 'takes http://localhost',
		entered: 'http://localhost:5678',
		address: 'http://localhost:5678',
	},
	{ name: 'takes http://LOCALHOST', entered: 'http://LOCALHOST', address: 'http://localhost' },
	{
		name: 'takes any loopback address of IPv4',
		entered: 'http://127.255.0.9/prefix',
		address: 'http://127.255.0.9/prefix',
	},
	{ name: 'takes a short loopback address', entered: 'http://127.1', address: 'http://127.0.0.1' },
	{
		name: 'takes the loopback address of IPv6',
		entered: 'http://[::1]:80',
		address: 'http://[::1]',
	},
])('$name', ({ entered, address }) => {
	expect(parseBaseUrl(entered, false)).toBe(address);
});

const addressAlone = 'Enter the address alone, e.g. https://push.example.com.';

test.each([
	{
		what: 'is missing',
		advice: 'Enter the address that your push service gave you, e.g. https://push.example.com.',
		values: ['', '   ', undefined, 7, ['https://push.example.com']],
	},
	{
		what: 'is not a valid https:// address',
		advice: addressAlone,
		values: [
			'push.example.com',
			'//push.example.com',
			'https:push.example.com',
			'https:/push.example.com',
			'https:///push.example.com',
			'https://?',
			'https://#',
			'https://push.example.com\\path',
			'https://push.example .com',
			'https://push.example.com/a\nb',
			'https://push.example.com/a\u0000b',
			'https://push\u200b.example.com',
			'https://push.example.com:99999',
			'https://%zz',
			'ftp://push.example.com',
			'javascript:alert(1)',
			'x https://push.example.com',
			'xhttps://push.example.com',
		],
	},
	{
		what: 'holds a user name or password',
		advice: addressAlone,
		values: [
			'https://user:word@push.example.com',
			'http://user@localhost',
			'HTTPS://@push.example.com',
		],
	},
	{
		what: 'holds a query (the part from the question mark on)',
		advice: addressAlone,
		values: ['https://push.example.com?a=1', 'https://push.example.com/?'],
	},
	{
		what: 'holds a fragment (the part from the # on)',
		advice: addressAlone,
		values: ['https://push.example.com/#', 'https://push.example.com#top'],
	},
])('a wrong address is refused because it $what', ({ what, advice, values }) => {
	for (const each of values) {
		expect(refusal(() => parseBaseUrl(each, true))).toMatchObject({
			message: `Base URL of the credential ${what}`,
			advice,
		});
	}
});

test.each(
	[
		'http://push.example.com',
		'http://localhost.example.com',
		'http://mylocalhost',
		'http://127.0.0.1.example.com',
		'http://128.0.0.1',
		'http://[::2]',
	].map((entered) => ({ entered })),
)('$entered needs Allow HTTP', ({ entered }) => {
	expect(refusal(() => parseBaseUrl(entered, false))).toMatchObject({
		message:
			'Base URL of the credential starts with http://, which would send the key and token unencrypted',
		advice:
			"Enter the service's https:// address. Only if you trust the whole network in between, turn on Allow HTTP.",
	});
	expect(parseBaseUrl(entered, true)).toBe(entered);
});

test.each([
	{ name: 'NUL', text: 'a\u0000b', code: 'U+0000' },
	{ name: 'a line break', text: 'a\nb', code: 'U+000A' },
	{ name: 'a zero-width space', text: '\u200bb', code: 'U+200B' },
	{ name: 'a byte order mark', text: 'a\ufeff', code: 'U+FEFF' },
	{ name: 'a character beyond the first plane', text: 'a\u{e0041}', code: 'U+E0041' },
	{ name: 'nothing among letters, accents and emoji', text: 'a ü e\u0301 語 🌷', code: undefined },
])('finds $name as an invisible character', ({ text, code }) => {
	expect(invisibleIn(text)).toBe(code);
});

test('paths can be appended to every address that is accepted', () => {
	fc.assert(
		fc.property(fc.oneof(anyWebUrl(), fc.string()), fc.boolean(), (entered, allowHttp) => {
			let address: string;
			try {
				address = parseBaseUrl(entered, allowHttp);
			} catch {
				return;
			}
			const url = new URL(`${address}/v1/site`);
			expect(address).not.toMatch(/\/$/);
			expect(url.pathname.endsWith('/v1/site')).toBe(true);
			expect([url.search, url.hash, url.username, url.password]).toEqual(['', '', '', '']);
			expect(parseBaseUrl(address, allowHttp)).toBe(address);
			if (!allowHttp) expect(url.protocol).toBe('https:');
		}),
	);
});
