import { ordinal } from '../../../nodes/PushCampaign/service/text';

test.each([
	{ position: 1, text: '1st' },
	{ position: 2, text: '2nd' },
	{ position: 3, text: '3rd' },
	{ position: 4, text: '4th' },
	{ position: 10, text: '10th' },
	{ position: 11, text: '11th' },
	{ position: 12, text: '12th' },
	{ position: 13, text: '13th' },
	{ position: 21, text: '21st' },
	{ position: 111, text: '111th' },
	{ position: 1002, text: '1002nd' },
])('position $position is written as $text', ({ position, text }) => {
	expect(ordinal(position)).toBe(text);
});
