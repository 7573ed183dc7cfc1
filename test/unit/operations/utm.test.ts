import * as fc from 'fast-check';

import { sendToSegments } from '../../../nodes/PushCampaign/operations/sendToSegments';
import { addUtm } from '../../../nodes/PushCampaign/operations/utm';
import { anyWebUrl } from '../../support/text';
import { prepare, refusalOf } from './support';

const parameters = [
	['utm_source', 'news'],
	['utm_medium', 'push'],
] as const;
const both = 'utm_source=news&utm_medium=push';

describe('UTM parameters are added to a URL', () => {
	test.each([
		{ name: 'without a path', url: 'https://a.example', extended: `https://a.example?${both}` },
		{
			name: 'with a query',
			url: 'https://a.example/?x=1',
			extended: `https://a.example/?x=1&${both}`,
		},
		{
			name: 'in front of its fragment',
			url: 'https://a.example/#top',
			extended: `https://a.example/?${both}#top`,
		},
		{
			name: 'with a question mark in its fragment',
			url: 'https://a.example/#a?b',
			extended: `https://a.example/?${both}#a?b`,
		},
		{
			name: 'but for one that it has already',
			url: 'https://a.example/?UTM_Source=x',
			extended: 'https://a.example/?UTM_Source=x&utm_medium=push',
		},
		{
			name: 'but for one that it has already, encoded and without a value',
			url: 'https://a.example/?utm%5Fsource',
			extended: 'https://a.example/?utm%5Fsource&utm_medium=push',
		},
		{
			name: 'unless it has all of them',
			url: 'https://a.example/?utm_medium=&utm_source=',
			extended: 'https://a.example/?utm_medium=&utm_source=',
		},
		{
			name: 'without changing anything else of it',
			url: 'HTTPS://Bücher.Example:443/a/../b?q=a+b%20c&ü#%41',
			extended: `HTTPS://Bücher.Example:443/a/../b?q=a+b%20c&ü&${both}#%41`,
		},
	])('$name', ({ url, extended }) => {
		expect(addUtm(url, parameters)).toBe(extended);
	});

	const value = fc.string({ minLength: 1, unit: 'grapheme' });
	const some = fc.uniqueArray(
		fc.tuple(fc.constantFrom('utm_source', 'utm_medium', 'utm_campaign'), value),
		{ selector: ([name]) => name },
	);
	test('so that they can be read from it, and nothing else of it changes', () => {
		fc.assert(
			fc.property(anyWebUrl(), some, (url, utm) => {
				const extended = addUtm(url, utm);
				const [before, after] = [new URL(url), new URL(extended)];
				for (const [name, given] of utm) {
					expect(after.searchParams.get(name)).toBe(before.searchParams.get(name) ?? given);
				}
				for (const [name, given] of before.searchParams) {
					expect(after.searchParams.getAll(name)).toContain(given);
				}
				expect([after.origin, after.pathname, after.hash]).toEqual([
					before.origin,
					before.pathname,
					before.hash,
				]);
				expect(addUtm(extended, utm)).toBe(extended);
			}),
		);
	});
});

describe('UTM Parameters', () => {
	// Segments: there buttons have no limit.
	const sendWith = (parameters: object, more: object = {}) =>
		prepare(
			{ segmentIds: 12, ...more, additionalFields: { utmParameters: { parameters } } },
			{ input: { city: '' } },
			sendToSegments,
		);
	const button = { title: 'Shop', url: 'https://shop.example/now#top' };

	test('stand in the target URL and in the URLs of buttons', () => {
		const utm = { content: ' b & c ', term: 0, campaign: 2030, medium: 'push', source: 'news' };
		const { body } = sendWith(utm, { actionButtons: { button: [button] } });
		const query =
			'utm_source=news&utm_medium=push&utm_campaign=2030&utm_term=0&utm_content=b%20%26%20c';
		expect(body.target_url).toBe(`https://shop.example/sale?${query}`);
		expect(body.action_buttons).toEqual([
			{ title: 'Shop', url: `https://shop.example/now?${query}#top` },
		]);
	});

	test('that are blank are left out', () => {
		const blank = { source: '', medium: ' ', campaign: '={{ $json.campaign }}', term: 'shoes' };
		expect(sendWith(blank).body.target_url).toBe('https://shop.example/sale?utm_term=shoes');
	});

	test('whose part is missing are refused', () => {
		const campaign = '=sale-{{ $json.city }}';
		expect(refusalOf(() => sendWith({ campaign }))).toContain(
			'Campaign in UTM Parameters has nothing in the place of {{ $json.city }}',
		);
	});

	test('count when the length of a URL is judged', () => {
		const targetUrl = `https://shop.example/${'a'.repeat(220)}`;
		expect(refusalOf(() => sendWith({ source: 'newsletter' }, { targetUrl }))).toBe(
			'Target URL is 263 characters long, 8 more than the 255 that the service accepts',
		);
	});
});
