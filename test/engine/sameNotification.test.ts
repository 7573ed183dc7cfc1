import type { INodeParameters } from 'n8n-workflow';
import {
	branchesTo,
	byTitle,
	continuing,
	credentialsFor,
	database,
	failure,
	failureOf,
	faultFor,
	hintsOf,
	inputOf,
	lost,
	matching,
	outputOf,
	push,
	retriesAt,
	runsAt,
	titled,
	titlesAt,
	toOne,
	useSimulator,
} from './support/pushCampaign';
import { runWorkflow } from './support/run';

// The same notification twice in one run: many rows in front of a send to all look like that. What makes two the same is in
// unit/operations/send.

const simulator = useSimulator();
const otherSite = useSimulator();

const rows = inputOf({ id: 5001 }, { id: 5002 }, { id: 5003 });
const run = runsAt(simulator);
const retry = retriesAt(simulator);
const statuses = (done: Awaited<ReturnType<typeof run>>) =>
	outputOf(done).map(({ status }) => status);
const byItem0 = {
	status: 'alreadySent',
	description: 'Nothing was sent for this item: the same was sent by item 0 of this run',
};
const toPlan = { operation: 'sendToAttributes', specifyAttributes: 'json' };

test.each<{ to: string; parameters: INodeParameters }>([
	{ to: 'all subscribers', parameters: {} },
	{ to: 'segments 12, 34', parameters: { operation: 'sendToSegments', segmentIds: '12, 34' } },
	{
		to: 'every subscriber with plan = pro',
		parameters: { ...toPlan, attributesJson: '{ "plan": "pro" }' },
	},
])('goes out once to $to, and the others say by which item', async ({ to, parameters }) => {
	const done = await run(parameters, rows);
	expect(simulator().requests).toHaveLength(1);
	expect(outputOf(done)).toMatchObject([{ status: 'success' }, byItem0, byItem0]);
	expect(hintsOf(done)).toEqual([
		`1 sent: to ${to}.`,
		'3 items are the same notification: it was sent once.',
	]);
});

test('goes out once in a test, and would in a dry run', async () => {
	const preview = await run({ options: { dryRun: true } }, rows, {}, { mode: 'manual' });
	expect(outputOf(preview)).toMatchObject(rows.map(() => ({ dryRun: true, request: {} })));
	expect(hintsOf(preview)).toEqual([
		matching(/<br>It would go to all 10,000 active subscribers right away:<br>/),
		'3 items are the same notification: it goes out once.',
	]);
	const test = await run({ options: { testSubscriberId: '5001' } }, rows, {}, { mode: 'manual' });
	expect(hintsOf(test)).toEqual([
		matching(/ The other 2 items went to nobody\. .* by itself, it goes to all subscribers right/),
		'3 items are the same notification: it goes out once.',
	]);
});

test.each<{ what: string; parameters: INodeParameters }>([
	{ what: 'to one subscriber each', parameters: toOne },
	{ what: 'to the same subscriber', parameters: { ...toOne, subscriberId: '5001' } },
	{ what: 'with another title each', parameters: { title: '=Order {{ $json.id }}' } },
])('is none if it goes $what', async ({ parameters }) => {
	await run(parameters, rows);
	expect(simulator().requests).toHaveLength(3);
});

test('is none if it goes to another site', async () => {
	const sites = inputOf({ url: simulator().url }, { url: otherSite().url });
	const credentials = credentialsFor(simulator(), { baseUrl: '={{ $json.url }}' });
	await run({}, sites, {}, { credentials });
	expect([simulator().requests.length, otherSite().requests.length]).toEqual([1, 1]);
});

test('is a check of one run: a later round sends it again', async () => {
	await runWorkflow(branchesTo(push()), { credentials: credentialsFor(simulator()), input: rows });
	expect(simulator().requests).toHaveLength(2);
});

describe('if the first of them', () => {
	const items = titled('first', 'other', 'first');

	test('is refused, the others fail as it did, and a Retry sends it once', async () => {
		simulator().addFault(faultFor('first', failure(), 2));
		const { message } = failureOf(await run(byTitle, items));
		expect(message).toMatch(/could not carry out the request\. 1 of these 3 was sent\.$/);
		const continued = await run(byTitle, items, continuing);
		expect(statuses(continued)).toEqual(['notSent', 'success', 'notSent']);
		simulator().addFault(faultFor('first', failure(), 1));
		const failed = await run(byTitle, items);
		simulator().requests.length = 0;
		expect(statuses(await retry(failed, byTitle))).toEqual(['success', 'success', 'alreadySent']);
		expect(titlesAt(simulator())).toEqual(['first']);
	});

	test('is unknown, the others are, too, and no Retry sends them', async () => {
		simulator().addFault(faultFor('first', lost, 1));
		const failed = await run(byTitle, items);
		expect(failureOf(failed).message).toMatch(
			/whether 2 of these 3 were sent \(.*\)\. 1 of these 3 was sent\.$/,
		);
		const done = await retry(failed, byTitle);
		expect(statuses(done)).toEqual(['unknown', 'success', 'unknown']);
		expect(hintsOf(done)[1]).toMatch(/^Unknown: items 0 .*first.*, 2 .*first.*, counted from 0: /);
		expect(titlesAt(simulator()).sort()).toEqual(['first', 'other']);
	});

	test('was sent before another item failed, a Retry sends none of them again', async () => {
		simulator().addFault(faultFor('other', failure(), 1));
		const failed = await run(byTitle, items);
		expect(failureOf(failed).message).toMatch(/ 2 of these 3 were sent\.$/);
		simulator().requests.length = 0;
		expect(statuses(await retry(failed, byTitle))).toEqual(['success', 'success', 'alreadySent']);
		expect(titlesAt(simulator())).toEqual(['other']);
	});
});

describe('an ID and its notification belong together:', () => {
	const keyed = (idempotencyKey: string, more: INodeParameters = {}) => ({
		...{ ...byTitle, ...more },
		options: { idempotencyKey },
	});

	test.each<[what: string, parameters: ReturnType<typeof keyed>, says: RegExp]>([
		[
			'one ID for several posts',
			keyed('={{ "rss" }}'),
			/^'Send Only Once' is "rss" for items 0, 1, which are different notifications\. None of these 2 was sent\.$/,
		],
		[
			'one ID for one post to several people',
			keyed('={{ "sale" }}', { ...toOne, title: 'Sale' }),
			/^'Send Only Once' is "sale" for items 0 \(subscriber 5001\), .* different notifications\. None of these 2 was sent\.$/,
		],
		[
			'one ID for two lines to one subscriber',
			keyed('={{ "order-1" }}', { ...toOne, subscriberId: '5001' }),
			/^'Send Only Once' is "order-1" for items 0 .* which are different notifications\. None of these 2 was sent\.$/,
		],
		[
			'one post under several IDs',
			keyed('=row-{{ $json.id }}', { title: 'Sale' }),
			/^Items 0, 1 are the same notification to all subscribers, under different IDs in 'Send Only Once': "row-5001", "row-5002"\. None of these 2 was sent\.$/,
		],
	])('%s is refused, and a dry run says so', async (_what, parameters, says) => {
		const input = inputOf(...[5001, 5002].map((id) => ({ id, title: `Post ${id}` })));
		const { message, description } = failureOf(await run(parameters, input));
		expect(message).toMatch(says);
		expect(description).toBe('Under another ID, what was sent goes out again.');
		const dry = { ...parameters, options: { ...parameters.options, dryRun: true } };
		const error = { message: message.replace('. None of these 2 was sent.', '') };
		expect(outputOf(await run(dry, input, {}, { mode: 'manual' }))).toMatchObject([
			...[{ error }, { error }],
		]);
		expect(simulator().requests).toEqual([]);
		expect(database.keyRows).toEqual([]);
	});

	test('one subscriber may get the same under several IDs', async () => {
		await run(keyed('={{ $json.id }}', { ...toOne, title: 'Sale', subscriberId: '5001' }), rows);
		expect(simulator().requests).toHaveLength(3);
	});

	test('one ID and one notification goes out once', async () => {
		const done = await run(keyed('={{ "sale" }}', { title: 'Sale' }), rows);
		expect(statuses(done)).toEqual(['success', 'alreadySent', 'alreadySent']);
		expect(simulator().requests).toHaveLength(1);
	});

	test('what was sent under its ID is told so, whatever shares the ID by now', async () => {
		await run(keyed('={{ "news" }}'), titled('a'));
		expect(statuses(await run(keyed('={{ "news" }}'), titled('b', 'c')))).toEqual([
			'alreadySent',
			'alreadySent',
		]);
		expect(titlesAt(simulator())).toEqual(['a']);
	});
});
