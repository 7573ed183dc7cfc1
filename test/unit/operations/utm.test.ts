import * as fc from 'fast-check';
import { addUtm, readUtm, type UtmParameter } from '../../../nodes/PushCampaign/operations/utm';
import { anyWebUrl } from '../../support/text';
import { refusal } from '../service/support';

const source: UtmParameter = ['utm_source', 'news'];
const medium: UtmParameter = ['utm_medium', 'push'];

test('what was filled in is read, in the order in which analytics list it', () => {
	const parameters = { content: ' b ', term: 0, campaign: 2030, medium: 'push', source: 'news' };
	expect(readUtm({ parameters: { ...parameters, id: '7' } }).parameters).toEqual([
		source,
		medium,
		['utm_campaign', '2030'],
		['utm_term', '0'],
		['utm_content', 'b'],
	]);
	const blank = { medium: ' ', campaign: null, term: '' };
	expect(readUtm({ parameters: { ...blank, source: 'news' } }).parameters).toEqual([source]);
	for (const none of [undefined, null, '', {}, { parameters: null }, { parameters: {} }]) {
		expect(readUtm(none)).toEqual({ parameters: [], isForButtons: true });
	}
});

test.each([
	[
		'Campaign in UTM Parameters is not text',
		[true, {}, ['x'], NaN].map((campaign) => ({ parameters: { campaign } })),
	],
	['UTM Parameters is not a set of fields', ['text', 7, [], { parameters: 'text' }]],
])('%s: %j', (message, values) => {
	for (const value of values) expect(refusal(() => readUtm(value)).message).toBe(message);
});

test.each([
	['https://a.example', 'https://a.example?utm_source=news&utm_medium=push'],
	['https://a.example/', 'https://a.example/?utm_source=news&utm_medium=push'],
	['https://a.example?', 'https://a.example?&utm_source=news&utm_medium=push'],
	['https://a.example/??', 'https://a.example/??&utm_source=news&utm_medium=push'],
	['https://a.example/?x=1&', 'https://a.example/?x=1&&utm_source=news&utm_medium=push'],
	['https://a.example/?x=1', 'https://a.example/?x=1&utm_source=news&utm_medium=push'],
	['https://a.example/#top', 'https://a.example/?utm_source=news&utm_medium=push#top'],
	['https://a.example/?#', 'https://a.example/?&utm_source=news&utm_medium=push#'],
	['https://a.example/#a#b', 'https://a.example/?utm_source=news&utm_medium=push#a#b'],
	['https://a.example/#a?b', 'https://a.example/?utm_source=news&utm_medium=push#a?b'],
	// One that is there stays, however it is written, and even when it is empty.
	['https://a.example/?utm_source=x', 'https://a.example/?utm_source=x&utm_medium=push'],
	['https://a.example/?UTM_Source=x', 'https://a.example/?UTM_Source=x&utm_medium=push'],
	['https://a.example/?utm_source', 'https://a.example/?utm_source&utm_medium=push'],
	['https://a.example/?utm%5Fsource=x', 'https://a.example/?utm%5Fsource=x&utm_medium=push'],
	['https://a.example/?utm_medium=&utm_source=', 'https://a.example/?utm_medium=&utm_source='],
	[
		'https://a.example/?x=utm_source',
		'https://a.example/?x=utm_source&utm_source=news&utm_medium=push',
	],
	// The URL parser would write these in another way.
	[
		'HTTPS://Bücher.Example:443/a/../b c?q=a+b%20c&ü#%41',
		'HTTPS://Bücher.Example:443/a/../b c?q=a+b%20c&ü&utm_source=news&utm_medium=push#%41',
	],
	['not a URL', 'not a URL'],
	['/sale', '/sale'],
	['', ''],
])('%s becomes %s', (url, extended) => {
	expect(addUtm(url, [source, medium])).toBe(extended);
});

test('values are encoded, a blank as %20', () => {
	const parameters: UtmParameter[] = [['utm_campaign', 'a b&c=d#e+f/ä🌷\ud800']];
	expect(addUtm('https://a.example/', parameters)).toBe(
		'https://a.example/?utm_campaign=a%20b%26c%3Dd%23e%2Bf%2F%C3%A4%F0%9F%8C%B7%EF%BF%BD',
	);
});

const value = fc.string({ minLength: 1, unit: 'grapheme' });
const some = fc.uniqueArray(
	fc.tuple(fc.constantFrom('utm_source', 'utm_medium', 'utm_campaign'), value),
	{ selector: ([name]) => name },
);

test('every parameter can be read from the URL, and nothing else of it changes', () => {
	fc.assert(
		fc.property(anyWebUrl(), some, (url, utm) => {
			const extended = String(addUtm(url, utm));
			const before = new URL(url);
			const after = new URL(extended);
			for (const [name, given] of utm) {
				expect(after.searchParams.get(name)).toBe(before.searchParams.get(name) ?? given);
			}
			expect([after.origin, after.pathname, after.hash]).toEqual([
				before.origin,
				before.pathname,
				before.hash,
			]);
			for (const [name, given] of before.searchParams) {
				expect(after.searchParams.getAll(name)).toContain(given);
			}
			expect(extended.startsWith(url.replace(/#.*/s, ''))).toBe(true);
			expect(addUtm(extended, utm)).toBe(extended);
			if (utm.length === 0) expect(extended).toBe(url);
		}),
	);
});
