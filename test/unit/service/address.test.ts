import * as fc from 'fast-check';
import { parseBaseUrl } from '../../../nodes/PushCampaign/service/address';
import { anyWebUrl } from '../../support/text';
import { refusal } from './support';

// Specification, Base address.

test.each([
	['  https://push.example.com \n', 'https://push.example.com'],
	['https://push.example.com///', 'https://push.example.com'],
	['https://push.example.com/api//push/', 'https://push.example.com/api//push'],
	['HTTPS://Push.Example.com/API', 'https://push.example.com/API'],
	['https://push.example.com:8443/x', 'https://push.example.com:8443/x'],
	['https://[2001:db8::1]/', 'https://[2001:db8::1]'],
	['https://push.example.com/https://a@b', 'https://push.example.com/https://a@b'],
	['http://localhost:5678', 'http://localhost:5678'],
	['http://LOCALHOST', 'http://localhost'],
	['http://127.255.0.9/prefix', 'http://127.255.0.9/prefix'],
	['http://127.1', 'http://127.0.0.1'],
	['http://[::1]:80', 'http://[::1]'],
])('%j is taken as %j', (entered, address) => {
	expect(parseBaseUrl(entered, false)).toBe(address);
});

test.each<[what: string, advice: string, entered: unknown[]]>([
	[
		'is missing',
		'Enter the address that your push service gave you, e.g. https://push.example.com.',
		['', '   ', undefined, 7, ['https://push.example.com']],
	],
	[
		'is not a valid https:// address',
		'Enter the address alone, e.g. https://push.example.com.',
		[
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
			'https://push.example.com:99999',
			'https://%zz',
			'ftp://push.example.com',
			'javascript:alert(1)',
			'x https://push.example.com',
			'xhttps://push.example.com',
		],
	],
	[
		'holds a user name or password',
		'Enter the address alone, e.g. https://push.example.com.',
		['https://user:word@push.example.com', 'http://user@localhost', 'HTTPS://@push.example.com'],
	],
	[
		'holds a query (the part from the question mark on)',
		'Enter the address alone, e.g. https://push.example.com.',
		['https://push.example.com?a=1', 'https://push.example.com/?'],
	],
	[
		'holds a fragment (the part from the # on)',
		'Enter the address alone, e.g. https://push.example.com.',
		['https://push.example.com/#', 'https://push.example.com#top'],
	],
])('%s', (what, advice, entered) => {
	for (const each of entered) {
		expect(refusal(() => parseBaseUrl(each, true))).toMatchObject({
			message: `Base URL of the credential ${what}`,
			advice,
		});
	}
});

test.each([
	'http://push.example.com',
	'http://localhost.example.com',
	'http://mylocalhost',
	'http://127.0.0.1.example.com',
	'http://128.0.0.1',
	'http://[::2]',
])('%s needs Allow HTTP', (entered) => {
	expect(refusal(() => parseBaseUrl(entered, false))).toMatchObject({
		message:
			'Base URL of the credential starts with http://, which would send the key and token unencrypted',
		advice:
			"Enter the service's https:// address. Only if you trust the whole network in between, turn on Allow HTTP.",
	});
	expect(parseBaseUrl(entered, true)).toBe(entered);
});

test('whatever is accepted is an address that paths can be appended to', () => {
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
