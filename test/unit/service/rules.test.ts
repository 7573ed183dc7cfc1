import * as fc from 'fast-check';
import {
	audienceRules,
	autoHideValue,
	campaignStatusPath,
	maxCharacters,
	minimumLeadMinutes,
	subscriberCountPath,
} from '../../../nodes/PushCampaign/service/rules';

// Specification, Endpoints and auto_hide rules.
test.each([
	{ audience: 'all', path: '/v1/notification/send/all', kind: 'send', closes: 1 },
	{
		audience: 'attributes',
		path: '/v1/notification/send/attribute',
		kind: 'send',
		closes: 0,
	},
	{ audience: 'segments', path: '/v1/notification/send/segment', kind: 'send', closes: 0 },
	{ audience: 'subscriber', path: '/v1/notification/send/sid', kind: 'sendToOne', closes: 0 },
] as const)(
	'a send to $audience has its path, and closes by itself with auto_hide $closes',
	({ audience, path, kind, closes }) => {
		expect(audienceRules[audience]).toMatchObject({ path, kind });
		expect(autoHideValue(audience, true)).toBe(closes);
		expect(autoHideValue(audience, false)).toBe(1 - closes);
	},
);

// Specification, Limits.
test('the limits are those of the specification', () => {
	const { title, message, targetUrl, name, buttonTitle, buttonUrl } = maxCharacters;
	expect([title, message, targetUrl, name, buttonTitle, buttonUrl]).toEqual([
		100, 255, 255, 100, 100, 100,
	]);
	expect(minimumLeadMinutes).toBe(5);
	expect(subscriberCountPath).toBe('/v1/site/subscriber_count');
});

test('any campaign ID is one segment of the path', () => {
	expect(campaignStatusPath('1001')).toBe('/v1/notification/status/id/1001');
	expect(campaignStatusPath('a/b?c#d')).toBe('/v1/notification/status/id/a%2Fb%3Fc%23d');
	fc.assert(
		fc.property(
			fc.string({ unit: 'grapheme' }).filter((id) => !/^\.{1,2}$/.test(id)),
			(id) => {
				const { pathname, search, hash } = new URL(`https://x${campaignStatusPath(id)}`);
				expect([search, hash]).toEqual(['', '']);
				expect(decodeURIComponent(pathname.replace('/v1/notification/status/id/', ''))).toBe(id);
				expect(pathname.split('/')).toHaveLength(6);
			},
		),
	);
});
