import { sendToAttributes } from '../../../nodes/PushCampaign/operations/sendToAttributes';
import { sendToSegments } from '../../../nodes/PushCampaign/operations/sendToSegments';
import { readWatched } from '../../../nodes/PushCampaign/trigger/events';
import { itemOf, prepare } from './support';

// No list has a limit in the specification: an entry that is left out would be missed by nobody.

const numbers = Array.from({ length: 1_200 }, (_, index) => String(index + 1));

test.each<{ name: string; read: () => unknown; then: unknown }>([
	{
		name: 'segment IDs in a text',
		read: () => sendToSegments.select(itemOf({ segmentIds: numbers.join() })).segment,
		then: numbers,
	},
	{
		name: 'segment IDs in an array',
		read: () => sendToSegments.select(itemOf({ segmentIds: numbers })).segment,
		then: numbers,
	},
	{
		name: 'attributes',
		read: () => {
			const pairs = numbers.map((number) => ({ name: `n${number}`, value: number }));
			return sendToAttributes.select(itemOf({ attributes: { pairs } })).attribute;
		},
		then: Object.fromEntries(numbers.map((number) => [`n${number}`, number])),
	},
	{
		name: 'action buttons',
		read: () => {
			const button = numbers.map((title) => ({ title, url: 'https://shop.example' }));
			return prepare({ actionButtons: { button } }).body.action_buttons?.map(({ title }) => title);
		},
		then: numbers,
	},
	{
		name: 'campaign IDs of a trigger',
		read: () =>
			readWatched(
				itemOf({ event: 'campaignChanged', campaignIds: numbers.join(), watch: ['clicked'] }),
			).ids,
		then: numbers,
	},
])('all of 1,200 entries count: $name', ({ read, then }) => {
	expect(read()).toEqual(then);
});
