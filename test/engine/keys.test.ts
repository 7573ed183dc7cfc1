import type { INodeParameters } from 'n8n-workflow';
import {
	continuing,
	credentialsFor,
	failure,
	failureOf,
	faultFor,
	hintsOf,
	inputOf,
	matching,
	outputOf,
	titled,
	titlesAt,
	useDatabase,
	useSimulator,
	workflowOf,
} from './support/pushCampaign';
import { retryRun, runWorkflow } from './support/run';

// Send Only Once: what was sent is never sent again by this node of this workflow to this site.

const simulator = useSimulator();
const otherSite = useSimulator();
const database = useDatabase();

const credentials = (changes = {}) => ({ credentials: credentialsFor(simulator(), changes) });
/** A send with a key; its title if none is given. */
const keyed = (
	idempotencyKey = '={{ $json.title }}',
	parameters: INodeParameters = {},
	options: INodeParameters = {},
): INodeParameters => ({
	title: '={{ $json.title }}',
	...parameters,
	options: { idempotencyKey, ...options },
});
const run = async (parameters: INodeParameters, input = titled('a'), more = {}) =>
	await runWorkflow(workflowOf(parameters, more), { ...credentials(), input });

describe('a later execution', () => {
	test('sends nothing under a key that was sent, whatever it says by then', async () => {
		const first = outputOf(await run(keyed('order-1')));
		expect(first).toMatchObject([{ campaignId: '1001', idempotencyKey: 'order-1' }]);
		const done = await run(keyed('order-1', { message: 'Corrected' }), titled('b'));
		expect(titlesAt(simulator())).toEqual(['a']);
		const [item] = outputOf(done);
		expect(item).toStrictEqual({
			audience: 'all',
			status: 'alreadySent',
			description:
				"Nothing was sent for this item: this ID was sent earlier, and another ID in 'Send Only Once' sends it again",
			title: 'b',
			recipients: 'all subscribers',
			idempotencyKey: 'order-1',
		});
		expect(hintsOf(done)).toEqual([
			"Nothing was sent now. 1 was sent earlier: another ID in 'Send Only Once' sends it again.",
		]);
		expect(database.keyRows).toEqual(['claim:1', 'sent']);
	});

	test('takes a number for the same key as its text', async () => {
		await run(keyed('={{ 1042 }}'));
		await run(keyed('1042'));
		expect(titlesAt(simulator())).toEqual(['a']);
	});

	test('of another node sends', async () => {
		await run(keyed('order-1'));
		await run(keyed('order-1'), titled('a'), { id: 'another' });
		expect(titlesAt(simulator())).toEqual(['a', 'a']);
	});

	test('comes out as already sent although its time is over; one that was not sent is refused', async () => {
		const at = (sendAt: string) => keyed('order-1', { additionalFields: { sendAt } });
		await run(at('2035-05-17T09:30'));
		expect(outputOf(await run(at('2024-05-17T09:30')))).toMatchObject([{ status: 'alreadySent' }]);
		const late = keyed('order-2', { additionalFields: { sendAt: '2024-05-17T09:30' } });
		expect(failureOf(await run(late)).message).toMatch(/^'Send At' /);
		expect(simulator().requests).toHaveLength(1);
		expect(database.keyRows).toEqual(['claim:1', 'sent']);
	});

	test('comes out as already sent although the item is not valid by then', async () => {
		await run(keyed('order-1'));
		const [item] = outputOf(await run(keyed('order-1', { title: "={{ '' }}" })));
		expect(item).toMatchObject({ status: 'alreadySent', idempotencyKey: 'order-1' });
	});

	test('that runs at the same time waits, and sends nothing', async () => {
		simulator().addFault(faultFor(undefined, { kind: 'delay', ms: 50 }));
		const both = await Promise.all([run(keyed('order-1')), run(keyed('order-1'))]);
		expect(both.map((done) => outputOf(done)[0]?.['status']).sort()).toEqual([
			'alreadySent',
			'success',
		]);
		expect(simulator().requests).toHaveLength(1);
	});
});

test('a refusal leaves the key free: whoever claims next sends', async () => {
	simulator().addFault({ ...faultFor(undefined, failure('invalid_value')), times: 1 });
	await run(keyed('order-1'));
	expect(database.keyRows).toEqual(['claim:1', 'free:1']);
	expect(outputOf(await run(keyed('order-1')))).toMatchObject([{ status: 'success' }]);
	expect(database.keyRows).toEqual(['claim:1', 'free:1', 'claim:2', 'sent']);
});

test.each(['', ' ', '={{ $json.none }}'])('a key is refused that has no ID: %j', async (key) => {
	const told = failureOf(await run(keyed(key)));
	expect(told.message).toMatch(/^'Send Only Once' is (missing|empty for this item)$/);
	expect(told.description).toMatch(/^Enter an ID .*\{\{ \$json\.guid \}\}.*toISODate/);
	expect(simulator().requests).toEqual([]);
});

describe('a key whose outcome is unknown', () => {
	const lost = async () => {
		simulator().addFault({ ...faultFor(undefined, { kind: 'reset-after' }), times: 1 });
		await run(keyed('order-1'));
		simulator().requests.length = 0;
	};
	const again = async (unknownOutcome: string) =>
		await run(keyed('order-1', {}, { unknownOutcome }));

	test('is not sent by a later execution', async () => {
		await lost();
		const told = failureOf(await again('report'));
		expect(told.message).toMatch(/^Do not send it again yet: it is unknown whether this was sent/);
		expect(simulator().requests).toEqual([]);
		expect(database.keyRows).toEqual(['claim:1', 'lost:1']);
	});

	test('is sent once more with Send Again', async () => {
		await lost();
		const done = await again('resend');
		expect(outputOf(done)).toMatchObject([{ status: 'success' }]);
		expect(hintsOf(done)).toContain(
			"Take 'Unknown Outcome' out of the options now, so that it decides nothing later.",
		);
		expect(outputOf(await again('resend'))).toMatchObject([{ status: 'alreadySent' }]);
		expect(simulator().requests).toHaveLength(1);
		expect(database.keyRows).toEqual(['claim:1', 'lost:1', 'claim:2', 'sent']);
	});

	test('is counted as sent although the item is not valid by then', async () => {
		await lost();
		const options = { unknownOutcome: 'countAsSent', timeout: 0 };
		expect(outputOf(await run(keyed('order-1', { title: "={{ '' }}" }, options)))).toMatchObject([
			{ status: 'alreadySent', idempotencyKey: 'order-1' },
		]);
		expect(database.keyRows).toEqual(['claim:1', 'lost:1', 'sent']);
	});

	test('is not told as not sent if the item is not valid by then', async () => {
		await lost();
		const invalid = keyed('order-1', { title: "={{ '' }}" });
		for (const choice of ['report', 'resend']) {
			const options = { idempotencyKey: 'order-1', unknownOutcome: choice };
			const [item] = outputOf(await run({ ...invalid, options }, titled('a'), continuing));
			expect(item).toMatchObject({ status: 'unknown', error: { outcome: 'unknown' } });
		}
		expect(simulator().requests).toEqual([]);
	});

	test('lets others of its run be sent with Send Again', async () => {
		await lost();
		const input = titled('order-1', 'order-2');
		const done = await run(keyed(undefined, {}, { unknownOutcome: 'resend' }), input);
		expect(outputOf(done)).toMatchObject([{ status: 'success' }, { status: 'success' }]);
	});

	test('is waited for while another execution may be sending under it', async () => {
		const sending = run(keyed('order-1', {}, { timeout: 500 }));
		simulator().addFault({ ...faultFor(undefined, { kind: 'hang', process: true }), times: 1 });
		await sending;
		database.rows.forEach((_entries, row) => row.includes(':lost:') && database.rows.delete(row));
		simulator().requests.length = 0;
		// As after a crash: the claim is there, and nobody knows how its request ended.
		const input = titled('order-1', 'order-2');
		const options = { timeout: 300, unknownOutcome: 'resend' };
		await run(keyed(undefined, {}, options), input, continuing);
		expect(simulator().requests).toHaveLength(2);
	});

	test('is sent from then on with Count as Sent', async () => {
		await lost();
		expect(outputOf(await again('countAsSent'))).toMatchObject([{ status: 'alreadySent' }]);
		expect(outputOf(await again('report'))).toMatchObject([{ status: 'alreadySent' }]);
		expect(simulator().requests).toEqual([]);
		expect(database.keyRows).toEqual(['claim:1', 'lost:1', 'sent']);
	});
});

describe('in one run', () => {
	const byKey = keyed('={{ $json.key }}', { title: '={{ $json.title }}' });

	test('the first item with a key is sent, and the others say by which item', async () => {
		const input = inputOf(
			{ title: 'a', key: 'k' },
			{ title: 'b', key: 'l' },
			{ title: 'c', key: 'k' },
		);
		const done = await run(byKey, input);
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
		simulator().addFault({ ...faultFor(undefined, { kind: 'reset-after' }), times: 1 });
		const failed = await run(keyed('k'), titled('a', 'b'));
		const counted = workflowOf(keyed('k', {}, { unknownOutcome: 'countAsSent' }));
		expect(outputOf(await retryRun(failed, counted, credentials()))).toMatchObject([
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
		const toOne = { operation: 'sendToSubscriber', subscriberId: '={{ $json.id }}' };
		const input = inputOf({ title: 'a', id: 5001 }, { title: 'a', id: 5002 });
		const told = failureOf(await run(keyed('order-', toOne), input));
		expect(told.message).toMatch(/'Send Only Once' is "order-".*different/);
		expect(simulator().requests).toEqual([]);
		expect(database.keyRows).toEqual([]);
	});

	test('a credential with an expression that leads to another site makes another key', async () => {
		const input = inputOf(...[simulator(), otherSite()].map(({ url }) => ({ title: 'a', url })));
		const site = credentials({ baseUrl: '={{ $json.url }}' });
		const done = await runWorkflow(workflowOf(keyed('k')), { ...site, input });
		expect(outputOf(done)).toMatchObject([{ status: 'success' }, { status: 'success' }]);
		expect([titlesAt(simulator()), titlesAt(otherSite())]).toEqual([['a'], ['a']]);
	});
});

test('a retry gives the first answer again, not that it was sent under its key', async () => {
	simulator().addFault({ ...faultFor('b', failure()), times: 1 });
	const failed = await run(keyed(), titled('a', 'b'));
	const done = await retryRun(failed, workflowOf(keyed()), credentials());
	expect(outputOf(done)).toMatchObject([
		{ campaignId: '1001', status: 'success' },
		{ campaignId: '1002', status: 'success' },
	]);
});

describe('a database that is down', () => {
	const down = () => {
		throw new Error('SQLITE_BUSY');
	};
	const input = titled(...Array.from({ length: 50 }, (_, index) => `No ${index}`));

	test('fails once and not for each item, and nothing leaves', async () => {
		database.beforeQuery = down;
		const { message, description, cause } = failureOf(await run(keyed(), input));
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
		const [first, ...others] = outputOf(await run(late, input, continuing));
		const error = { message: matching(/database.*SQLITE_BUSY$/), type: 'network' };
		expect(first).toMatchObject({ status: 'notSent', error });
		expect(others[48]).toMatchObject({ status: 'notSent', error });
		expect(database.queries.length - before).toBe(1);
		expect(simulator().requests).toHaveLength(1);
	});

	test('lets nothing leave that can’t be claimed', async () => {
		database.beforeQuery = ({ row }) => (row.includes('claim') ? down() : undefined);
		expect(failureOf(await run(keyed())).message).toMatch(/database.*SQLITE_BUSY$/);
		expect(simulator().requests).toEqual([]);
	});
});

test('the rows of a key are a format: they stay as they are from version to version', async () => {
	const closed = { credentials: credentialsFor({ url: 'http://127.0.0.1:9/push' }) };
	await runWorkflow(workflowOf(keyed('order-1')), { ...closed, input: titled('a') });
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
