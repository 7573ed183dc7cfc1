import * as fc from 'fast-check';
import { parseBaseUrl } from '../../../nodes/PushCampaign/service/address';
import { anyWebUrl } from '../../support/text';
import { refusal } from './support';

// Specification, Base address.

test.each([
	['https://push.example.com', 'https://push.example.com'],
	['  https://push.example.com \n', 'https://push.example.com'],
	['https://push.example.com/', 'https://push.example.com'],
	['https://push.example.com///', 'https://push.example.com'],
	['https://push.example.com/api/push/', 'https://push.example.com/api/push'],
	['https://push.example.com/a//b', 'https://push.example.com/a//b'],
	['HTTPS://Push.Example.com/API', 'https://push.example.com/API'],
	['https://push.example.com:8443/x', 'https://push.example.com:8443/x'],
	['https://push.example.com:443', 'https://push.example.com'],
	['https://[2001:db8::1]/', 'https://[2001:db8::1]'],
	['https://push.example.com/a@b', 'https://push.example.com/a@b'],
	['https://push.example.com/https://a@b', 'https://push.example.com/https://a@b'],
])('%j is taken as %j', (entered, address) => {
	expect(parseBaseUrl(entered, false)).toBe(address);
});

test.each(['', '   ', undefined, null, 7, {}, ['https://push.example.com']])(
	'%j is missing',
	(entered) => {
		const { message } = refusal(() => parseBaseUrl(entered, true));
		expect(message).toBe('Base URL of the credential is missing');
	},
);

test.each([
	'push.example.com',
	'//push.example.com',
	'https:push.example.com',
	'https:/push.example.com',
	'https:///push.example.com',
	'https://',
	'https://?',
	'https://#',
	'https:\\\\push.example.com',
	'https://push.example.com\\path',
	'https://push.example .com',
	'https://push.example.com/a b',
	'https://push.example.com/a\nb',
	'https://push.example.com:99999',
	'https://%zz',
	'ftp://push.example.com',
	'javascript:alert(1)',
	'file:///etc/passwd',
	'x https://push.example.com',
	'xhttps://push.example.com',
])('%j is not valid', (entered) => {
	expect(refusal(() => parseBaseUrl(entered, true)).message).toBe(
		'Base URL of the credential is not a valid https:// address',
	);
});

test.each([
	['https://user@push.example.com', 'Base URL of the credential holds a user name or password'],
	[
		'https://user:word@push.example.com',
		'Base URL of the credential holds a user name or password',
	],
	['https://:word@push.example.com', 'Base URL of the credential holds a user name or password'],
	['http://user@localhost', 'Base URL of the credential holds a user name or password'],
	['https://@push.example.com', 'Base URL of the credential holds a user name or password'],
	['HTTPS://@push.example.com', 'Base URL of the credential holds a user name or password'],
	[
		'https://push.example.com?a=1',
		'Base URL of the credential holds a query (the part from the question mark on)',
	],
	[
		'https://push.example.com/?',
		'Base URL of the credential holds a query (the part from the question mark on)',
	],
	[
		'https://push.example.com/#',
		'Base URL of the credential holds a fragment (the part from the # on)',
	],
	[
		'https://push.example.com#top',
		'Base URL of the credential holds a fragment (the part from the # on)',
	],
])('%s is refused: %s', (entered, message) => {
	const { message: said, advice } = refusal(() => parseBaseUrl(entered, true));
	expect(said).toBe(message);
	expect(advice).toBe('Enter the address alone, e.g. https://push.example.com.');
});

describe('plain http', () => {
	test.each([
		'http://localhost:5678',
		'http://LOCALHOST',
		'http://127.0.0.1:1234/prefix',
		'http://127.255.0.9',
		'http://127.1',
		'http://[::1]:80',
	])('%s is this machine', (entered) => {
		expect(parseBaseUrl(entered, false)).toBe(new URL(entered).href.replace(/\/$/, ''));
	});

	test.each([
		'http://push.example.com',
		'http://localhost.example.com',
		'http://mylocalhost',
		'http://127.0.0.1.example.com',
		'http://128.0.0.1',
		'http://[::2]',
		'http://10.0.0.1',
		'http://0.0.0.0',
	])('%s needs Allow HTTP', (entered) => {
		const { message, advice } = refusal(() => parseBaseUrl(entered, false));
		expect(message).toBe(
			'Base URL of the credential starts with http://, which would send the key and token unencrypted',
		);
		expect(advice).toBe(
			"Enter the service's https:// address. Only if you trust the whole network in between, turn on Allow HTTP.",
		);
		expect(parseBaseUrl(entered, true)).toBe(entered);
	});
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
