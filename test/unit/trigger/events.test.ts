import type { INodeParameters } from 'n8n-workflow';
import { NodeHelpers } from 'n8n-workflow';
import { readerOf } from '../../../nodes/PushCampaign/n8n/parameters';
import { readWatched, triggerProperties } from '../../../nodes/PushCampaign/trigger/events';
import { fetchCampaign, fetchSite, siteId } from '../../../nodes/PushCampaign/trigger/fetch';
import { refusal } from '../service/support';

const node = { typeVersion: 1 };

/** What n8n hands to a trigger whose panel was filled in like this. */
const filledIn = (given: INodeParameters) =>
	NodeHelpers.getNodeParameters(triggerProperties, given, true, false, node, null) ?? {};

const read = (given: INodeParameters, evaluate: () => unknown = () => undefined) =>
	readWatched(readerOf(filledIn(given), 'UTC', {}, { parameter: evaluate, expression: evaluate }));

const counters = [
	...['totalAttempts', 'successfullySent', 'failedToSend'],
	...['delivered', 'clicked', 'closed'],
];
const counts = ['totalLifetimeSubscribers', 'activeSubscribers'];
const changed = { startsOn: 'change', minimumChange: 1 };

interface Row {
	readonly name: string;
	readonly given: INodeParameters;
	readonly then: object;
}
const rows: Row[] = [
	{
		name: 'a trigger that nobody changed watches the six counters of its campaigns, and any change',
		given: { campaignIds: '1001, 1002' },
		then: {
			subject: fetchCampaign,
			ids: ['1001', '1002'],
			rule: { ...changed, watched: counters },
		},
	},
	{
		name: 'Campaign Numbers Change watches what was chosen, and moves that are far enough',
		given: { campaignIds: '1', watch: ['status', 'clicked'], options: { minimumChange: '5' } },
		then: { rule: { ...changed, watched: ['status', 'clicked'], minimumChange: 5 } },
	},
	{
		name: 'Campaign Reaches a Number watches Clicked at first',
		given: { event: 'campaignReached', campaignIds: '1', number: '100' },
		then: { subject: fetchCampaign, rule: { startsOn: 'reach', counter: 'clicked', number: 100 } },
	},
	{
		name: 'Campaign Reaches a Number watches another counter if it was chosen',
		given: { event: 'campaignReached', campaignIds: '1', number: 100, counter: 'delivered' },
		then: { rule: { startsOn: 'reach', counter: 'delivered', number: 100 } },
	},
	{
		name: 'Subscriber Count Changes watches both counts at first',
		given: { event: 'subscribersChanged' },
		then: { subject: fetchSite, ids: [siteId], rule: { ...changed, watched: counts } },
	},
	{
		name: 'Subscriber Count Reaches a Number watches Active Subscribers at first',
		given: { event: 'subscribersReached', number: 5 },
		then: { subject: fetchSite, rule: { counter: 'activeSubscribers', number: 5 } },
	},
	{
		name: 'Subscriber Count Reaches a Number watches the other count if it was chosen',
		given: { event: 'subscribersReached', number: 5, count: 'totalLifetimeSubscribers' },
		then: { rule: { counter: 'totalLifetimeSubscribers' } },
	},
	{
		name: 'what was chosen for another event counts as not chosen',
		given: { event: 'subscribersChanged', watch: ['clicked', 'status'] },
		then: { rule: { watched: counts } },
	},
	{
		name: 'what was chosen for another event is left out beside what was chosen for this one',
		given: { campaignIds: '1', watch: ['activeSubscribers', 'closed'] },
		then: { rule: { watched: ['closed'] } },
	},
	{
		name: 'an ID counts once, however often it is listed',
		given: { campaignIds: [1, '1', 'a-01', '01-a', '01-a', '0'] },
		then: { ids: ['1', 'a-01', '01-a', '0'] },
	},
];
test.each(rows)('$name', ({ given, then }) => {
	expect(read(given)).toMatchObject(then);
});

test('the site has an ID that no campaign can have', () => {
	expect(refusal(() => read({ campaignIds: [siteId] })).message).toContain('is not one ID');
});

const reach = { event: 'campaignReached', number: 1 };
test.each<[what: string, given: INodeParameters, message: string]>([
	['no campaign ID', { campaignIds: ' , ' }, "'Campaign IDs' is missing"],
	['an empty list of IDs', { campaignIds: [] }, "'Campaign IDs' is missing"],
	[
		'$json on Fixed',
		{ campaignIds: '{{$json.ids}}' },
		"'Campaign IDs' reads $json, but a trigger has no input",
	],
	[
		'$json in an expression',
		{ campaignIds: '={{ $json.ids }}' },
		"'Campaign IDs' reads $json, but a trigger has no input",
	],
	['dots as a campaign ID', { campaignIds: '1001, ..' }, `is not a campaign's ID: ".."`],
	['a dot in a list of IDs', { campaignIds: ['1001', '.'] }, `is not a campaign's ID: "."`],
	['nothing to watch', { watch: [] }, "'Watch' is empty"],
	[
		'something to watch that there is not',
		{ watch: ['sold'] },
		`'Watch' is not a selection from the list: ["sold"]`,
	],
	['an event that there is not', { event: 'sold' }, `'Trigger On' is no event: "sold"`],
	['a counter that there is not', { ...reach, counter: 'sold' }, '"sold"'],
	[
		'a counter of a campaign as a count of the site',
		{ event: 'subscribersReached', number: 1, count: 'clicked' },
		'"clicked"',
	],
	['no number', { ...reach, number: '' }, "'Number' is missing"],
	['a number of 0', { ...reach, number: 0 }, "'Number' is not a whole number from 1: 0"],
	[
		'a minimum change that is no whole number',
		{ options: { minimumChange: 1.5 } },
		"'Minimum Change' is not a whole number from 1: 1.5",
	],
])('refuses %s', (_what, given, message) => {
	expect(refusal(() => read({ campaignIds: '1', ...given })).message).toContain(message);
});
