import type { INodeParameters } from 'n8n-workflow';
import {
	failure,
	faultFor,
	hintsOf,
	inputOf,
	runsAt,
	toErrorOutput,
	toOne,
	useSimulator,
} from './support/pushCampaign';

// What the editor says above the output after a run. A dry run, a test and a retry have theirs in their own suites.

const simulator = useSimulator();
const run = runsAt(simulator);

const input = inputOf(
	{ id: 5001, at: '2035-05-17T23:30', title: 'a' },
	{ id: 5002, at: '2035-05-18T09:00', title: 'b' },
	{ id: 5003, at: '2035-05-19T09:00', title: 'c' },
);
const hints = async (parameters: INodeParameters, items = 1, more = {}) =>
	hintsOf(await run({ title: '={{ $json.title }}', ...parameters }, input.slice(0, items), more));

const keyed = { options: { idempotencyKey: '={{ $json.id }}' } };
const at = '={{ $json.at }}';
test.each<[what: string, parameters: INodeParameters, items: number, hints: string[]]>([
	['one send to all', {}, 1, ['Sent to all subscribers.']],
	['sends to one subscriber each', toOne, 3, ['3 sent: to 3 subscribers.']],
	['sends to all', keyed, 3, ['3 sent: each to all subscribers.']],
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
	['a read', { resource: 'site', operation: 'getSubscriberCount' }, 3, []],
])('after %s', async (_what, parameters, items, expected) => {
	expect(await hints(parameters, items)).toEqual(expected);
});

test('failed items are counted, with the place where they are', async () => {
	simulator().addFault(faultFor('5002', failure()));
	const [failed, sent, ...others] = await hints({ ...toOne, ...keyed }, 3, toErrorOutput);
	expect(failed).toMatch(
		/^1 of 3 items failed: see the Error output\. Not sent: item 1 \(subscriber 5002\), counted from 0\.$/,
	);
	expect(sent).toBe('2 sent: to 2 subscribers.');
	expect(others).toEqual([]);
});
