import type { INodeParameters } from 'n8n-workflow';
import {
	credentialsFor,
	failure,
	faultFor,
	hintsOf,
	inputOf,
	toErrorOutput,
	useDatabase,
	useSimulator,
	workflowOf,
} from './support/pushCampaign';
import { runWorkflow } from './support/run';

// What the editor says above the output after a run. A dry run, a test and a retry have theirs in their own suites.

const simulator = useSimulator();
useDatabase();

const input = inputOf(
	{ id: 5001, at: '2035-05-17T23:30', title: 'a' },
	{ id: 5002, at: '2035-05-18T09:00', title: 'b' },
	{ id: 5003, at: '2035-05-19T09:00', title: 'c' },
);
const hints = async (parameters: INodeParameters, items = 1, more = {}) =>
	hintsOf(
		await runWorkflow(workflowOf({ title: '={{ $json.title }}', ...parameters }, more), {
			credentials: credentialsFor(simulator()),
			input: input.slice(0, items),
		}),
	);

const toOne = { operation: 'sendToSubscriber', subscriberId: '={{ $json.id }}' };
const keyed = { options: { idempotencyKey: '={{ $json.id }}' } };
const at = '={{ $json.at }}';
const withoutKeys =
	"If the execution is stopped or n8n crashes while it sends, a Retry sends all items again. An ID under 'Send Only Once' prevents that.";
const executeOnce = 'To send one alone, turn on Execute Once in the settings of the node.';

test.each<[what: string, parameters: INodeParameters, items: number, hints: string[]]>([
	['one send to all', {}, 1, ['Sent to all subscribers.']],
	['one send to one', toOne, 1, ['Sent to subscriber 5001.']],
	[
		'one send to segments',
		{ operation: 'sendToSegments', segmentIds: '12, 34' },
		1,
		['Sent to segments 12, 34.'],
	],
	['sends to one subscriber each', toOne, 3, ['3 sent: to 3 subscribers.', withoutKeys]],
	['sends with keys', { ...toOne, ...keyed }, 3, ['3 sent: to 3 subscribers.']],
	[
		'sends to all',
		keyed,
		3,
		[
			'3 sent: each to all subscribers.',
			`These 3 notifications go to all subscribers, so everybody there gets each of them. ${executeOnce}`,
		],
	],
	[
		'sends to an attribute each',
		{
			...{ operation: 'sendToAttributes', ...keyed },
			attributes: { pairs: [{ name: 'plan', value: '={{ $json.title }}' }] },
		},
		3,
		[
			'3 sent: to every subscriber with plan = a; every subscriber with plan = b; every subscriber with plan = c.',
		],
	],
	[
		'one that is scheduled',
		{ additionalFields: { sendAt: at } },
		1,
		['Scheduled for 17 May 2035 at 23:30, Europe/Berlin, to all subscribers.'],
	],
	[
		'one that quiet hours move',
		{ additionalFields: { sendAt: at, quietHours: { hours: { from: '21:00', to: '08:00' } } } },
		1,
		[
			'Scheduled for 18 May 2035 at 08:00, Europe/Berlin, because of quiet hours, to all subscribers.',
		],
	],
	[
		'several that are scheduled',
		{ ...toOne, ...keyed, additionalFields: { sendAt: at } },
		3,
		[
			'3 sent: to 3 subscribers.<br>Scheduled from 17 May 2035 at 23:30, Europe/Berlin to 19 May 2035 at 09:00, Europe/Berlin.',
		],
	],
	[
		'several of which one is scheduled',
		{
			...toOne,
			...keyed,
			additionalFields: { sendAt: "={{ $json.id === 5002 ? $json.at : 'now' }}" },
		},
		3,
		['3 sent: to 3 subscribers.<br>1 of them scheduled for 18 May 2035 at 09:00, Europe/Berlin.'],
	],
	['a read', { resource: 'site', operation: 'getSubscriberCount' }, 3, []],
])('after %s', async (_what, parameters, items, expected) => {
	expect(await hints(parameters, items)).toEqual(expected);
});

describe('a hint shows as text, not as HTML,', () => {
	const toPlan = (value: string) => ({
		operation: 'sendToAttributes',
		...{ specifyAttributes: 'json', attributesJson: `{ "plan": ${value} }` },
	});
	const html = '<i>pro</i>';
	const escaped = '&#60;i&#62;pro&#60;/i&#62;';

	test.each([
		['one audience', toPlan(`"${html}"`), 1],
		['several audiences', toPlan(`"{{ $itemIndex }}${html}"`), 2],
		['an audience that several campaigns go to', toPlan(`"${html}"`), 2],
	])('what was entered for %s', async (_what, { attributesJson, ...parameters }, items) => {
		const all = await hints({ ...parameters, attributesJson: `=${attributesJson}` }, items);
		expect(all.join()).toContain(escaped);
		expect(all.join()).not.toContain('<i>');
	});

	test('what was entered for a subscriber who is not valid', async () => {
		const all = await hints({ ...toOne, subscriberId: html }, 1, toErrorOutput);
		expect(all.join()).toContain(escaped);
		expect(all.join()).not.toContain('<i>');
	});
});

test('failed items are counted, with the place where they are', async () => {
	simulator().addFault(faultFor('5002', failure()));
	const [failed, sent, ...others] = await hints({ ...toOne, ...keyed }, 3, toErrorOutput);
	expect(failed).toMatch(
		/^1 of 3 items failed: see the Error output\. Not sent: item 1 \(subscriber 5002\) \(counted from 0\)\./,
	);
	expect(sent).toBe('2 sent: to 2 subscribers.');
	expect(others).toEqual([]);
});
