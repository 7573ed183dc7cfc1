import type { INodeParameters } from 'n8n-workflow';
import { NodeHelpers } from 'n8n-workflow';
import { readerOf } from '../../../nodes/PushCampaign/n8n/parameters';
import { readWatched, triggerProperties } from '../../../nodes/PushCampaign/trigger/events';
import { readCampaign, readSite, siteId } from '../../../nodes/PushCampaign/trigger/read';
import { refusal } from '../service/support';

const node = { typeVersion: 1 };

/** What n8n hands to a trigger whose panel was filled in like this. */
const filledIn = (given: INodeParameters) =>
	NodeHelpers.getNodeParameters(triggerProperties, given, true, false, node, null) ?? {};

const read = (given: INodeParameters, evaluate: () => unknown = () => undefined) =>
	readWatched(readerOf(filledIn(given), 'UTC', {}, evaluate));

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
			subject: readCampaign,
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
		then: { subject: readCampaign, rule: { startsOn: 'reach', counter: 'clicked', number: 100 } },
	},
	{
		name: 'Campaign Reaches a Number watches another counter if it was chosen',
		given: { event: 'campaignReached', campaignIds: '1', number: 100, counter: 'delivered' },
		then: { rule: { startsOn: 'reach', counter: 'delivered', number: 100 } },
	},
	{
		name: 'Subscriber Count Changes watches both counts at first',
		given: { event: 'subscribersChanged' },
		then: { subject: readSite, ids: [siteId], rule: { ...changed, watched: counts } },
	},
	{
		name: 'Subscriber Count Reaches a Number watches Active Subscribers at first',
		given: { event: 'subscribersReached', number: 5 },
		then: { subject: readSite, rule: { counter: 'activeSubscribers', number: 5 } },
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

const lost = '9007199254740992';
test.each([
	{ name: 'typed', campaignIds: `7, ${lost}`, given: `7, ${lost}`, isRefused: false },
	{ name: 'of an array of texts', campaignIds: '={{ x }}', given: [lost], isRefused: false },
	{
		name: 'with a blank behind the braces',
		campaignIds: '={{ x }} ',
		given: `${lost},7 `,
		isRefused: true,
	},
	{
		name: 'with a line break before the braces',
		campaignIds: '=\n{{ x }}',
		given: `\n${lost}`,
		isRefused: true,
	},
	{
		name: 'of two expressions',
		campaignIds: '={{ x }}, {{ y }}',
		given: `7, 1.5e+22`,
		isRefused: true,
	},
	{
		name: 'of two expressions that give short ones',
		campaignIds: '={{ x }}, {{ y }}',
		given: '7, 8',
		isRefused: false,
	},
])('a long ID $name is refused if it may have been a number: $isRefused', (row) => {
	const evaluated = () => read({ campaignIds: row.campaignIds }, () => row.given);
	const message = row.isRefused ? refusal(evaluated).message : evaluated().ids.join();
	expect(
		/'Campaign IDs' holds a number so large that its last digits may be lost/.test(message),
	).toBe(row.isRefused);
});

test('the site has an ID that no campaign can have', () => {
	expect(refusal(() => read({ campaignIds: [siteId] })).message).toContain('is not one ID');
});

const reach = { event: 'campaignReached', number: 1 };
const refusals: Array<{ name: string; given: INodeParameters; then: string }> = [
	{ name: 'no campaign ID', given: { campaignIds: ' , ' }, then: "'Campaign IDs' is missing" },
	{ name: 'an empty list of IDs', given: { campaignIds: [] }, then: "'Campaign IDs' is missing" },
	{ name: 'nothing to watch', given: { watch: [] }, then: "'Watch' is empty" },
	{
		name: 'something to watch that there is not',
		given: { watch: ['sold'] },
		then: `'Watch' is not a selection from the list: ["sold"]`,
	},
	{
		name: 'an event that there is not',
		given: { event: 'sold' },
		then: `'Trigger On' is no event: "sold"`,
	},
	{ name: 'a counter that there is not', given: { ...reach, counter: 'sold' }, then: '"sold"' },
	{
		name: 'a counter of a campaign as a count of the site',
		given: { event: 'subscribersReached', number: 1, count: 'clicked' },
		then: '"clicked"',
	},
	{ name: 'no number', given: { ...reach, number: '' }, then: "'Number' is missing" },
	{
		name: 'a number of 0',
		given: { ...reach, number: 0 },
		then: "'Number' is not a whole number from 1: 0",
	},
	{
		name: 'a minimum change that is no whole number',
		given: { options: { minimumChange: 1.5 } },
		then: "'Minimum Change' is not a whole number from 1: 1.5",
	},
];
test.each(refusals)('refuses $name', ({ given, then }) => {
	expect(refusal(() => read({ campaignIds: '1', ...given })).message).toContain(then);
});

test('saved workflows find each field by its name, with the default that n8n left out of them', () => {
	const fields = triggerProperties.map(({ name, default: initial }) => [name, initial]);
	expect(fields).toEqual([
		['event', 'campaignChanged'],
		['campaignIds', ''],
		['watch', counters],
		['options', {}],
		['campaignIds', ''],
		['counter', 'clicked'],
		['number', ''],
		['watch', counts],
		['options', {}],
		['count', 'activeSubscribers'],
		['number', ''],
	]);
});

test('the lists hold what can be watched, in the order of its names', () => {
	const lists = triggerProperties
		.filter(({ type }) => type === 'options' || type === 'multiOptions')
		.map(({ name, options = [] }) => [
			name,
			options.map((option) => ('value' in option ? `${option.name}: ${option.value}` : '')),
		]);
	const inOrder = [
		'Clicked: clicked',
		'Closed: closed',
		'Delivered: delivered',
		'Failed to Send: failedToSend',
		'Successfully Sent: successfullySent',
		'Total Attempts: totalAttempts',
	];
	const ofSite = [
		'Active Subscribers: activeSubscribers',
		'Total Lifetime Subscribers: totalLifetimeSubscribers',
	];
	expect(lists).toEqual([
		[
			'event',
			[
				'Campaign Numbers Change: campaignChanged',
				'Campaign Reaches a Number: campaignReached',
				'Subscriber Count Changes: subscribersChanged',
				'Subscriber Count Reaches a Number: subscribersReached',
			],
		],
		['watch', inOrder.toSpliced(4, 0, 'Status: status')],
		['counter', inOrder],
		['watch', ofSite],
		['count', ofSite],
	]);
});

test('what a trigger can’t do without is marked, and numbers are whole from 1', () => {
	const required = triggerProperties.filter(({ required: isRequired }) => isRequired);
	expect([...new Set(required.map(({ name }) => name))]).toEqual([
		'campaignIds',
		'watch',
		'number',
	]);
	const options = triggerProperties.flatMap(({ options: inside = [] }) => inside);
	const fields = [...triggerProperties, ...options.filter((each) => 'typeOptions' in each)];
	const numbers = fields.filter((each) => 'type' in each && each.type === 'number');
	expect(
		numbers.map(({ name, ...each }) => [name, 'typeOptions' in each && each.typeOptions]),
	).toEqual(
		['number', 'number', 'minimumChange', 'minimumChange'].map((name) => [
			name,
			{ minValue: 1, numberPrecision: 0 },
		]),
	);
});

test.each([
	{ event: 'campaignChanged', shown: ['event', 'campaignIds', 'watch', 'options'] },
	{ event: 'campaignReached', shown: ['event', 'campaignIds', 'counter', 'number'] },
	{ event: 'subscribersChanged', shown: ['event', 'watch', 'options'] },
	{ event: 'subscribersReached', shown: ['event', 'count', 'number'] },
])('the panel of $event shows its fields and no others', ({ event, shown }) => {
	expect(Object.keys(filledIn({ event }))).toEqual(shown);
});

test.each([
	{ event: 'campaignChanged', isTold: true },
	{ event: 'campaignReached', isTold: false },
	{ event: 'subscribersChanged', isTold: true },
	{ event: 'subscribersReached', isTold: false },
])('the panel of $event says what the first poll reports: $isTold', ({ event, isTold }) => {
	const hints = triggerProperties
		.filter(({ displayOptions }) => displayOptions?.show?.['event']?.includes(event) ?? true)
		.flatMap(({ hint }) => hint ?? []);
	const hint =
		'The first poll reports the numbers as they are then, from 1 (or from Minimum Change)';
	expect(hints).toEqual(isTold ? [hint] : []);
});
