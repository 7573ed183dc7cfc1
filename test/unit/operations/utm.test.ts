import * as fc from 'fast-check';

import { sendToSegments } from '../../../nodes/PushCampaign/operations/sendToSegments';
import { addUtm } from '../../../nodes/PushCampaign/operations/utm';
import { anyCodePoints, anyWebUrl } from '../../support/text';
import { prepare, refusalOf } from './support';

const parameters = [
	['utm_source', 'news'],
	['utm_medium', 'push'],
] as const;
const both = 'utm_source=news&utm_medium=push';

describe('UTM parameters are added to a URL', () => {
	test.each([
		['without a path', 'https://a.example', `https://a.example?${both}`],
		['with a query', 'https://a.example/?x=1', `https://a.example/?x=1&${both}`],
		['in front of its fragment', 'https://a.example/#top', `https://a.example/?${both}#top`],
		['before its fragment', 'https://a.example/#a?b', `https://a.example/?${both}#a?b`],
		[
			'without changing it',
			'HTTPS://Ü.example:443/a/../b?q=a+b%20c&ü',
			`HTTPS://Ü.example:443/a/../b?q=a+b%20c&ü&${both}`,
		],
	])('%s: %s', (_name, url, extended) => {
		expect(addUtm(url, parameters)).toBe(extended);
	});

	test.each([
		['UTM_Source=x', 'UTM_Source=x&utm_medium=push'],
		['utm%5Fsource', 'utm%5Fsource&utm_medium=push'],
		['utm_medium=&utm_source=', 'utm_medium=&utm_source='],
	])('but for those that it has already: %s', (query, extended) => {
		expect(addUtm(`https://a.example/?${query}`, parameters)).toBe(
			`https://a.example/?${extended}`,
		);
	});

	const value = anyCodePoints({ minLength: 1, maxLength: 20 });
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
		const none = { source: '', medium: '\u200E ', content: [], campaign: '={{ $json.campaign }}' };
		const blank = { ...none, term: '\u202Ashoes\u00AD' };
		expect(sendWith(blank).body.target_url).toBe('https://shop.example/sale?utm_term=shoes');
	});

	test('count when the length of a URL is judged', () => {
		const targetUrl = `https://shop.example/${'a'.repeat(220)}`;
		expect(refusalOf(() => sendWith({ source: 'newsletter' }, { targetUrl }))).toBe(
			"'Target URL' is 263 characters long, 8 more than the 255 that the service accepts",
		);
	});
});
