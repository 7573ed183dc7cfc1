import * as fc from 'fast-check';
import {
	addUtm,
	toUtm,
	utmSchema,
	type UtmParameter,
} from '../../../nodes/PushCampaign/operations/utm';
import { anyWebUrl } from '../../support/text';
import { judgeNothing } from './support';

const read = (given: unknown) =>
	toUtm(utmSchema.optional().parse(given), 'additionalFields.utmParameters', judgeNothing);

const source: UtmParameter = ['utm_source', 'news'];
const medium: UtmParameter = ['utm_medium', 'push'];

test('reads what was filled in, in the order in which analytics list it', () => {
	const parameters = { content: ' b ', term: 0, campaign: 2030, medium: 'push', source: 'news' };
	expect(read({ parameters: { ...parameters, id: '7' } }).parameters).toEqual([
		source,
		medium,
		['utm_campaign', '2030'],
		['utm_term', '0'],
		['utm_content', 'b'],
	]);
	const blank = { medium: ' ', campaign: null, term: '' };
	expect(read({ parameters: { ...blank, source: 'news' } }).parameters).toEqual([source]);
	for (const none of [undefined, { parameters: {} }]) {
		expect(read(none)).toEqual({ parameters: [], isForButtons: true });
	}
});

test.each([
	{ name: 'without Add To', parameters: { source: 'news' }, isForButtons: true },
	{ name: 'with "all"', parameters: { source: 'news', addTo: 'all' }, isForButtons: true },
	{ name: 'with "targetUrl"', parameters: { addTo: 'targetUrl' }, isForButtons: false },
])('buttons get the parameters: $isForButtons $name', ({ parameters, isForButtons }) => {
	expect(read({ parameters })).toMatchObject({ isForButtons });
});

const both = 'utm_source=news&utm_medium=push';
describe('parameters are added to a URL', () => {
	test.each([
		{ name: 'without a path', url: 'https://a.example', extended: `https://a.example?${both}` },
		{ name: 'with a path', url: 'https://a.example/', extended: `https://a.example/?${both}` },
		{
			name: 'with an empty query',
			url: 'https://a.example?',
			extended: `https://a.example?&${both}`,
		},
		{
			name: 'with two question marks',
			url: 'https://a.example/??',
			extended: `https://a.example/??&${both}`,
		},
		{
			name: 'whose query ends in &',
			url: 'https://a.example/?x=1&',
			extended: `https://a.example/?x=1&&${both}`,
		},
		{
			name: 'with a query',
			url: 'https://a.example/?x=1',
			extended: `https://a.example/?x=1&${both}`,
		},
		{
			name: 'before its fragment',
			url: 'https://a.example/#top',
			extended: `https://a.example/?${both}#top`,
		},
		{
			name: 'before an empty fragment',
			url: 'https://a.example/?#',
			extended: `https://a.example/?&${both}#`,
		},
		{
			name: 'before the first of two #',
			url: 'https://a.example/#a#b',
			extended: `https://a.example/?${both}#a#b`,
		},
		{
			name: 'with a question mark in its fragment',
			url: 'https://a.example/#a?b',
			extended: `https://a.example/?${both}#a?b`,
		},
		{
			name: 'unless it has them already',
			url: 'https://a.example/?utm_source=x',
			extended: 'https://a.example/?utm_source=x&utm_medium=push',
		},
		{
			name: 'unless it has them in upper case',
			url: 'https://a.example/?UTM_Source=x',
			extended: 'https://a.example/?UTM_Source=x&utm_medium=push',
		},
		{
			name: 'unless it has them without a value',
			url: 'https://a.example/?utm_source',
			extended: 'https://a.example/?utm_source&utm_medium=push',
		},
		{
			name: 'unless it has them encoded',
			url: 'https://a.example/?utm%5Fsource=x',
			extended: 'https://a.example/?utm%5Fsource=x&utm_medium=push',
		},
		{
			name: 'unless it has all of them, even empty',
			url: 'https://a.example/?utm_medium=&utm_source=',
			extended: 'https://a.example/?utm_medium=&utm_source=',
		},
		{
			name: 'that has the name of one as a value',
			url: 'https://a.example/?x=utm_source',
			extended: `https://a.example/?x=utm_source&${both}`,
		},
		{
			name: 'without changing anything else of it',
			url: 'HTTPS://Bücher.Example:443/a/../b c?q=a+b%20c&ü#%41',
			extended: `HTTPS://Bücher.Example:443/a/../b c?q=a+b%20c&ü&${both}#%41`,
		},
		{ name: 'but not to text that is none', url: 'not a URL', extended: 'not a URL' },
		{ name: 'but not to a path', url: '/sale', extended: '/sale' },
		{ name: 'but not to empty text', url: '', extended: '' },
	])('$name', ({ url, extended }) => {
		expect(addUtm(url, [source, medium])).toBe(extended);
	});
});

test('encodes values, a blank as %20', () => {
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

test('adds parameters that can be read from the URL, and changes nothing else of it', () => {
	fc.assert(
		fc.property(anyWebUrl(), some, (url, utm) => {
			const extended = addUtm(url, utm);
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
