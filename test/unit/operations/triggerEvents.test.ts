import type { IDataObject } from 'n8n-workflow';
import type { Parameter } from '../../../nodes/PushCampaign/operations/parameters';
import {
	readWatched,
	triggerProperties,
} from '../../../nodes/PushCampaign/operations/triggerPanel';
import { InvalidInput } from '../../../nodes/PushCampaign/service/invalidInput';
import { subjects } from '../../../nodes/PushCampaign/watch/subjects';
import { withDefaults } from '../execution/support';

function read(given: IDataObject) {
	const parameters = withDefaults(given);
	return readWatched({ get: ({ name }: Parameter) => parameters[name] });
}

function refusalOf(parameters: IDataObject): readonly [message: string, advice: string] {
	try {
		read(parameters);
	} catch (error) {
		if (error instanceof InvalidInput) return [error.message, error.advice];
		throw error;
	}
	throw new TypeError('The parameters were accepted');
}

const counters = [
	...['clicked', 'closed', 'delivered'],
	...['failedToSend', 'successfullySent', 'totalAttempts'],
];
const counts = ['activeSubscribers', 'totalLifetimeSubscribers'];

describe('without an event, a trigger', () => {
	test('watches the six counters of its campaigns, and any change', () => {
		expect(read({ campaignIds: '1001, 1002' })).toEqual({
			subject: subjects.campaign,
			ids: ['1001', '1002'],
			rule: { startsOn: 'change', counters, isStatusWatched: false, minimumChange: 1 },
		});
	});
});

interface Row {
	readonly name: string;
	readonly given: IDataObject;
	readonly then: object;
}
const rows: Row[] = [
	{
		name: 'Campaign Numbers Change watches what was chosen, the status apart from the counters',
		given: {
			event: 'campaignChanged',
			campaignIds: '1',
			watch: ['status', 'clicked'],
			options: { minimumChange: 5 },
		},
		then: {
			subject: subjects.campaign,
			rule: { startsOn: 'change', counters: ['clicked'], isStatusWatched: true, minimumChange: 5 },
		},
	},
	{
		name: 'Campaign Reaches a Number watches Clicked if nothing else was chosen',
		given: { event: 'campaignReached', campaignIds: '1', number: '100' },
		then: {
			subject: subjects.campaign,
			rule: { startsOn: 'reach', counter: 'clicked', target: 100 },
		},
	},
	{
		name: 'Campaign Reaches a Number watches another counter if it was chosen',
		given: { event: 'campaignReached', campaignIds: '1', number: 100, counter: 'delivered' },
		then: {
			subject: subjects.campaign,
			rule: { startsOn: 'reach', counter: 'delivered', target: 100 },
		},
	},
	{
		name: 'Subscriber Count Changes watches both counts if nothing else was chosen',
		given: { event: 'subscribersChanged' },
		then: {
			subject: subjects.site,
			rule: { startsOn: 'change', counters: counts, isStatusWatched: false, minimumChange: 1 },
		},
	},
	{
		name: 'Subscriber Count Changes watches one count if it was chosen, and moves that are far enough',
		given: {
			event: 'subscribersChanged',
			watch: ['activeSubscribers'],
			options: { minimumChange: '9' },
		},
		then: {
			subject: subjects.site,
			rule: {
				startsOn: 'change',
				counters: ['activeSubscribers'],
				isStatusWatched: false,
				minimumChange: 9,
			},
		},
	},
	{
		name: 'Subscriber Count Reaches a Number watches Active Subscribers if nothing else was chosen',
		given: { event: 'subscribersReached', number: 5 },
		then: {
			subject: subjects.site,
			rule: { startsOn: 'reach', counter: 'activeSubscribers', target: 5 },
		},
	},
	{
		name: 'Subscriber Count Reaches a Number watches the other count if it was chosen',
		given: { event: 'subscribersReached', number: 5, count: 'totalLifetimeSubscribers' },
		then: {
			subject: subjects.site,
			rule: { startsOn: 'reach', counter: 'totalLifetimeSubscribers', target: 5 },
		},
	},
	{
		name: 'what was chosen for another event counts as not chosen',
		given: { event: 'subscribersChanged', watch: ['clicked', 'status'], counter: 'clicked' },
		then: { rule: { startsOn: 'change', counters: counts } },
	},
	{
		name: 'what was chosen for another event is left out beside what was chosen for this one',
		given: { campaignIds: '1', watch: ['activeSubscribers', 'closed'] },
		then: { rule: { counters: ['closed'] } },
	},
];
test.each(rows)('$name', ({ given, then }) => {
	expect(read(given)).toMatchObject(then);
});

test('the site has an ID that no campaign can have', () => {
	const [siteId = ''] = read({ event: 'subscribersChanged' }).ids;
	expect(refusalOf({ campaignIds: [siteId] })[0]).toMatch(/is not one ID/);
});

test('an ID counts once, however often and with however many leading zeros it is listed', () => {
	expect(read({ campaignIds: [1, '1', ' 01 ', 'a-01', '0'] }).ids).toEqual(['1', 'a-01', '0']);
});

const change = (name: string) => `Change ${name} and run the workflow again.`;
const fillIn = (name: string) =>
	`Fill in ${name}. A trigger has no input item, so an expression in it can't use $json.`;
interface Refusal {
	readonly name: string;
	readonly given: IDataObject;
	readonly then: string;
	readonly advice: string;
}
const enter = 'Enter at least one campaign ID: Push Campaign returns it as campaignId.';
const refusals: Refusal[] = [
	{
		name: 'no campaign ID',
		given: { campaignIds: '' },
		then: 'Campaign IDs is missing',
		advice: enter,
	},
	{
		name: 'an ID that no object can hold',
		given: { campaignIds: '__proto__' },
		then: 'Campaign IDs contains __proto__',
		advice: 'Remove __proto__.',
	},
	{
		name: 'nothing to watch',
		given: { watch: [] },
		then: 'Watch is empty',
		advice: 'Choose at least one.',
	},
	{
		name: 'something to watch that there is not',
		given: { watch: ['sold'] },
		then: 'Watch is not a selection from the list',
		advice: change('Watch'),
	},
	{
		name: 'an event that there is not',
		given: { event: 'sold' },
		then: 'Trigger On is not a selection from the list',
		advice: change('Trigger On'),
	},
	{
		name: 'a counter that there is not',
		given: { event: 'campaignReached', number: 1, counter: 'sold' },
		then: 'Counter is not a selection from the list',
		advice: change('Counter'),
	},
	{
		name: 'a campaign counter as a count of the site',
		given: { event: 'subscribersReached', number: 1, count: 'clicked' },
		then: 'Count is not a selection from the list',
		advice: change('Count'),
	},
	{
		name: 'no number',
		given: { event: 'campaignReached' },
		then: 'Number is empty',
		advice: fillIn('Number'),
	},
	{
		name: 'an expression in Counter that gives nothing',
		given: { event: 'campaignReached', number: 1, counter: null },
		then: 'Counter is empty',
		advice: fillIn('Counter'),
	},
	{
		name: 'an expression in Watch that gives nothing',
		given: { event: 'campaignChanged', watch: null },
		then: 'Watch is empty',
		advice: fillIn('Watch'),
	},
	{
		name: 'a minimum change of 0',
		given: { options: { minimumChange: 0 } },
		then: 'Minimum Change is not a whole number from 1: 0',
		advice: change('Minimum Change'),
	},
	{
		name: 'an expression in Minimum Change that gives nothing',
		given: { options: { minimumChange: null } },
		then: 'Minimum Change is empty',
		advice: change('Minimum Change'),
	},
];
test.each(refusals)('refuses $name', ({ given, then, advice }) => {
	expect(refusalOf({ campaignIds: '1', ...given })).toEqual([then, advice]);
});

test.each([
	{ event: 'campaignChanged', shown: ['event', 'campaignIds', 'watch', 'options'] },
	{ event: 'campaignReached', shown: ['event', 'campaignIds', 'counter', 'number'] },
	{ event: 'subscribersChanged', shown: ['event', 'watch', 'options'] },
	{ event: 'subscribersReached', shown: ['event', 'count', 'number'] },
])('the panel of $event shows its fields and no others', ({ event, shown }) => {
	const visible = triggerProperties.filter(
		({ type, displayOptions }) =>
			type !== 'hidden' && (displayOptions?.show?.['event']?.includes(event) ?? true),
	);
	expect(visible.map(({ name }) => name)).toEqual(shown);
});
