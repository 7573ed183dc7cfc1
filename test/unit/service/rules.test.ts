import { audienceRules, autoHideValue } from '../../../nodes/PushCampaign/service/rules';

// What else a send may hold shows in the bodies that are sent.

// Specification, auto_hide rules: the two readings contradict each other.
test('a notification that stays until it is closed has the number that does not close it', () => {
	const audiences = ['all', 'attributes', 'segments', 'subscriber'] as const;
	expect(audiences.map((audience) => autoHideValue(audience, false))).toEqual([0, 1, 1, 1]);
});

// Specification, Limits.
test('buttons have limits in a send to all alone', () => {
	const limited = Object.entries(audienceRules).filter(([, { limitsButtons }]) => limitsButtons);
	expect(limited.map(([audience]) => audience)).toEqual(['all']);
});
