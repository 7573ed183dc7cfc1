import {
	audienceRules,
	autoHideValue,
	campaignStatusPath,
	type Audience,
	type OptionalFields,
} from '../../../nodes/PushCampaign/service/rules';

// Specification, auto_hide rules: the two readings contradict each other.
test.each<{ audience: Audience; closes: 0 | 1; stays: 0 | 1 }>([
	{ audience: 'all', closes: 1, stays: 0 },
	{ audience: 'attributes', closes: 0, stays: 1 },
	{ audience: 'segments', closes: 0, stays: 1 },
	{ audience: 'subscriber', closes: 0, stays: 1 },
])(
	'to $audience, auto_hide $closes closes a notification and $stays keeps it',
	({ audience, closes, stays }) => {
		expect(autoHideValue(audience, true)).toBe(closes);
		expect(autoHideValue(audience, false)).toBe(stays);
	},
);

// Specification, Notification / campaign.
test.each<{ field: keyof OptionalFields; audiences: Audience[] }>([
	{ field: 'name', audiences: ['all', 'attributes', 'segments'] },
	{ field: 'image', audiences: ['all', 'segments'] },
	{ field: 'icon', audiences: ['all', 'attributes', 'segments', 'subscriber'] },
])('$field is accepted by a send to $audiences', ({ field, audiences }) => {
	const accepting = Object.entries(audienceRules).filter(([, { accepts }]) =>
		accepts.includes(field),
	);
	expect(accepting.map(([audience]) => audience)).toEqual(audiences);
});

// Specification, Limits.
test('buttons have limits in a send to all alone, and a send to one subscriber makes no campaign', () => {
	const rules = Object.entries(audienceRules);
	const limited = rules.filter(([, { limitsButtons }]) => limitsButtons);
	expect(limited.map(([audience]) => audience)).toEqual(['all']);
	const campaigns = rules.filter(([, { isCampaign }]) => isCampaign);
	expect(campaigns.map(([audience]) => audience)).toEqual(['all', 'attributes', 'segments']);
});

test('a campaign ID stays one part of its path', () => {
	expect(campaignStatusPath('a/b?')).toBe('/v1/notification/status/id/a%2Fb%3F');
});
