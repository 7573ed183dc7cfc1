import type { INodeParameters } from 'n8n-workflow';
import {
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
	numbered,
	outputOf,
	retriesAt,
	runsAt,
	titled,
	titlesAt,
	toOne,
	useSimulator,
} from './support/pushCampaign';

// Send Only Once: what was sent is never sent again by this node of this workflow to this site.

const simulator = useSimulator();
const otherSite = useSimulator();

afterEach(() => void jest.restoreAllMocks());

/** A send with a key; its title if none is given. */
const keyed = (
	idempotencyKey = '={{ $json.title }}',
	parameters: INodeParameters = {},
	options: INodeParameters = {},
): INodeParameters => ({ ...byTitle, ...parameters, options: { idempotencyKey, ...options } });
const runAt = runsAt(simulator);
const run = async (parameters: INodeParameters, input = titled('a'), more = {}, options = {}) =>
	await runAt(parameters, input, more, options);
const retry = retriesAt(simulator);

describe('a later execution', () => {
	test('sends nothing under a key that was sent, whatever it says by then', async () => {
		const first = outputOf(await run(keyed('={{ 1042 }}')));
		expect(first).toMatchObject([{ campaignId: '1001', idempotencyKey: '1042' }]);
		const done = await run(keyed('1042', { message: 'Corrected' }), titled('b'));
		expect(titlesAt(simulator())).toEqual(['a']);
		expect(outputOf(done)[0]).toStrictEqual({
			audience: 'all',
			status: 'alreadySent',
			description:
				"Nothing was sent for this item: this ID was sent earlier, and another ID in 'Send Only Once' sends it again",
			title: 'b',
			recipients: 'all subscribers',
			idempotencyKey: '1042',
		});
		expect(hintsOf(done)).toEqual([
			"Nothing was sent now. 1 was sent earlier: another ID in 'Send Only Once' sends it again.",
		]);
		expect(database.keyRows).toEqual(['claim:1', 'sent']);
	});

	test('of another node sends', async () => {
		await run(keyed('order-1'));
		await run(keyed('order-1'), titled('a'), { id: 'another' });
		expect(titlesAt(simulator())).toEqual(['a', 'a']);
	});

	test.each<{ what: string; more: INodeParameters }>([
		{ what: 'its time is over', more: { additionalFields: { sendAt: '2024-05-17T09:30' } } },
		{ what: 'the item is not valid', more: { title: "={{ '' }}" } },
	])('comes out as already sent although $what, and a new one is refused', async ({ more }) => {
		await run(keyed('order-1'));
		const [item] = outputOf(await run(keyed('order-1', more)));
		expect(item).toMatchObject({ status: 'alreadySent', idempotencyKey: 'order-1' });
		expect(failureOf(await run(keyed('order-2', more))).message).toMatch(/^'(Send At|Title)' /);
		expect(simulator().requests).toHaveLength(1);
		expect(database.keyRows).toEqual(['claim:1', 'sent']);
	});
});

test.each(['', ' ', '={{ $json.none }}'])('a key is refused that has no ID: %j', async (key) => {
	const told = failureOf(await run(keyed(key)));
	expect(told.message).toMatch(/^'Send Only Once' is (missing|empty for this item)$/);
	expect(told.description).toMatch(/^Enter an ID .*\{\{ \$json\.guid \}\}.*toISODate/);
	expect(simulator().requests).toEqual([]);
});

describe('a key whose outcome is unknown', () => {
	const leaveUnknown = async () => {
		simulator().addFault(faultFor(undefined, lost, 1));
		await run(keyed('order-1'));
		simulator().requests.length = 0;
	};
	const again = async (unknownOutcome: string) =>
		await run(keyed('order-1', {}, { unknownOutcome }));

	test('is sent once more with Send Again', async () => {
		await leaveUnknown();
		const done = await again('resend');
		expect(outputOf(done)).toMatchObject([{ status: 'success' }]);
		expect(hintsOf(done)).toContain(
			"Take 'Unknown Outcome' out of the options now, so that it decides nothing later.",
		);
		expect(outputOf(await again('resend'))).toMatchObject([{ status: 'alreadySent' }]);
		expect(simulator().requests).toHaveLength(1);
		expect(database.keyRows).toEqual(['claim:1', 'lost:1', 'claim:2', 'sent']);
	});

	test('is sent from then on with Count as Sent, although the item is not valid by then', async () => {
		await leaveUnknown();
		const options = { unknownOutcome: 'countAsSent', timeout: 0 };
		expect(outputOf(await run(keyed('order-1', { title: "={{ '' }}" }, options)))).toMatchObject([
			{ status: 'alreadySent', idempotencyKey: 'order-1' },
		]);
		expect(outputOf(await again('report'))).toMatchObject([{ status: 'alreadySent' }]);
		expect(simulator().requests).toEqual([]);
		expect(database.keyRows).toEqual(['claim:1', 'lost:1', 'sent']);
	});

	test.each([
		{ what: 'Report Again', choice: 'report', title: 'a' },
		{ what: 'Report Again for an item that is not valid', choice: 'report', title: "={{ '' }}" },
		{ what: 'Send Again for an item that is not valid', choice: 'resend', title: "={{ '' }}" },
	])('stays so, and is not sent, with $what', async ({ choice, title }) => {
		await leaveUnknown();
		const parameters = keyed('order-1', { title }, { unknownOutcome: choice });
		const [item] = outputOf(await run(parameters, titled('a'), continuing));
		expect(item).toMatchObject({ status: 'unknown', error: { outcome: 'unknown' } });
		expect(simulator().requests).toEqual([]);
		expect(database.keyRows).toEqual(['claim:1', 'lost:1']);
	});

	test('lets others of its run be sent with Send Again', async () => {
		await leaveUnknown();
		const input = titled('order-1', 'order-2');
		const done = await run(keyed(undefined, {}, { unknownOutcome: 'resend' }), input);
		expect(outputOf(done)).toMatchObject([{ status: 'success' }, { status: 'success' }]);
	});

	test('is waited for while another execution may be sending under it', async () => {
		await run(keyed('order-1'));
		// As after a crash: the claim is there, and nobody knows how its request ended.
		database.rows.forEach((_entries, row) => row.endsWith(':sent') && database.rows.delete(row));
		const looks = () => database.queries.filter(({ row }) => row.endsWith(':lost:1')).length;
		// When this execution has looked once, the time of that request is over, and the grace behind it.
		const now = performance.now.bind(performance);
		jest.spyOn(performance, 'now').mockImplementation(() => now() + (looks() > 1 ? 60_000 : 0));
		const options = { timeout: 300, unknownOutcome: 'resend' };
		await run(keyed(undefined, {}, options), titled('order-1', 'order-2'));
		expect(titlesAt(simulator()).sort()).toEqual(['a', 'order-1', 'order-2']);
	});
});

describe('in one run', () => {
	test('the first item with a key is sent, and the others say by which item', async () => {
		const input = inputOf(
			{ title: 'a', key: 'k' },
			{ title: 'b', key: 'l' },
			{ title: 'c', key: 'k' },
		);
		const done = await run(keyed('={{ $json.key }}'), input);
		expect(titlesAt(simulator()).sort()).toEqual(['a', 'b']);
		const third = outputOf(done)[2];
		expect(third).toMatchObject({ status: 'alreadySent', title: 'c' });
		expect(third?.['description']).toMatch(/by item 0 of this run/);
		expect(hintsOf(done)[0]).toMatch(
			/^2 sent now, .* 1 has the ID of another item, which was sent\.$/,
		);
	});

	test('what was sent earlier is not said to be sent by another item of this run', async () => {
		await run(keyed('k'));
		const [, second] = outputOf(await run(keyed('k'), titled('a', 'b')));
		expect(second?.['description']).toMatch(/: this ID was sent earlier, and /);
	});

	test('what counts as sent counts for each of them, with its own text', async () => {
		simulator().addFault(faultFor(undefined, lost, 1));
		const failed = await run(keyed('k'), titled('a', 'b'));
		const counted = keyed('k', {}, { unknownOutcome: 'countAsSent' });
		expect(outputOf(await retry(failed, counted))).toMatchObject([
			{ status: 'alreadySent', title: 'a' },
			{ status: 'alreadySent', title: 'b' },
		]);
		expect(titlesAt(simulator())).toEqual(['a']);
	});

	test('an item that a dry run shows alone keeps no other one with its key from being sent', async () => {
		const options = { dryRun: "={{ $json.title === 'a' }}" };
		expect(outputOf(await run(keyed('k', {}, options), titled('a', 'b')))).toMatchObject([
			{ dryRun: true },
			{ status: 'success', title: 'b' },
		]);
	});

	test('the others fail as the first one did', async () => {
		simulator().addFault(faultFor(undefined, failure('invalid_value')));
		const done = await run(keyed('k'), titled('a', 'b'), continuing);
		expect(simulator().requests).toHaveLength(1);
		expect(outputOf(done)).toMatchObject([
			{ status: 'notSent', error: { type: 'invalid_value' } },
			{ status: 'notSent', error: { type: 'invalid_value' } },
		]);
	});

	test('one entered key for different audiences is refused before anything is sent', async () => {
		const input = inputOf({ title: 'a', id: 5001 }, { title: 'a', id: 5002 });
		const told = failureOf(await run(keyed('order-', toOne), input));
		expect(told.message).toMatch(/'Send Only Once' is "order-".*different/);
		expect(simulator().requests).toEqual([]);
		expect(database.keyRows).toEqual([]);
	});

	test('a credential with an expression that leads to another site makes another key', async () => {
		const input = inputOf(...[simulator(), otherSite()].map(({ url }) => ({ title: 'a', url })));
		const credentials = credentialsFor(simulator(), { baseUrl: '={{ $json.url }}' });
		const done = await run(keyed('k'), input, {}, { credentials });
		expect(outputOf(done)).toMatchObject([{ status: 'success' }, { status: 'success' }]);
		expect([titlesAt(simulator()), titlesAt(otherSite())]).toEqual([['a'], ['a']]);
	});
});

describe('a database that is down', () => {
	const down = () => {
		throw new Error('SQLITE_BUSY');
	};

	test('fails once and not for each item, and nothing leaves', async () => {
		database.beforeQuery = down;
		const { message, description, cause } = failureOf(await run(keyed(), numbered(50)));
		expect(message).toMatch(/database.*SQLITE_BUSY\. None of 50 was sent\.$/);
		expect(description).toMatch(/^Check that n8n can reach its database\. 'Retry with /);
		expect(cause).toBe('temporarily-unavailable');
		// Those that had started, and no further one.
		expect(database.queries.length).toBeLessThanOrEqual(20);
		expect(simulator().requests).toEqual([]);
	});

	test('fails once for a late item too, whose key it would be asked for', async () => {
		await run(keyed());
		database.beforeQuery = down;
		const late = keyed(undefined, { additionalFields: { sendAt: '2024-05-17T09:30' } });
		const before = database.queries.length;
		const [first, ...others] = outputOf(await run(late, numbered(50), continuing));
		const error = { message: matching(/database.*SQLITE_BUSY$/), type: 'network' };
		expect(first).toMatchObject({ status: 'notSent', error });
		expect(others[48]).toMatchObject({ status: 'notSent', error });
		expect(database.queries.length - before).toBe(1);
		expect(simulator().requests).toHaveLength(1);
	});
});

test('the rows of a key are a format: they stay as they are from version to version', async () => {
	const credentials = credentialsFor({ url: 'http://127.0.0.1:9/push' });
	await run(keyed('order-1'), titled('a'), {}, { credentials });
	const row = 'engine-test n:push-campaign-key:34ePda7KOwundkE6';
	expect([...database.rows.keys()].filter((name) => name.includes('-key:'))).toEqual([
		...[`${row}:claim:1`, `${row}:free:1`],
	]);
});

test('rows can be found by an administrator, and are five or six queries for each send', async () => {
	await run(keyed());
	const queries = database.queries.length;
	await run(keyed('another'));
	expect(database.queries.length - queries).toBeLessThanOrEqual(6);
	for (const row of database.rows.keys()) expect(row).toMatch(/^engine-test n:push-campaign-/);
});
