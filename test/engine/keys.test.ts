import type { INodeParameters } from 'n8n-workflow';
import {
	byTitle,
	continuing,
	credentialsFor,
	database,
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
/** An ID is the same here, and no text that is typed on Fixed. */
const order = (number: number) => `=order-{{ ${number} }}`;
const runAt = runsAt(simulator);
const run = async (parameters: INodeParameters, input = titled('a'), more = {}, options = {}) =>
	await runAt(parameters, input, more, options);
const retry = retriesAt(simulator);

test.each([
	{ mode: 'trigger', sent: 0 },
	{ mode: 'integrated', sent: 1 },
	{ mode: 'manual', sent: 1 },
])(
	'an ID that is typed on Fixed is refused where n8n says that nobody tries the workflow: $mode',
	async ({ mode, sent }) => {
		const done = await run(keyed('sale'), titled('a'), {}, { mode });
		expect(done.status).toBe(sent === 0 ? 'error' : 'success');
		expect(titlesAt(simulator())).toHaveLength(sent);
	},
);

describe('a later execution', () => {
	test('sends nothing under a key that was sent, whatever it says by then', async () => {
		const first = outputOf(await run(keyed('={{ 1042 }}')));
		expect(first).toMatchObject([{ campaignId: '1001', idempotencyKey: '1042' }]);
		const done = await run(keyed('={{ "1042" }}', { message: 'Corrected' }), titled('b'));
		expect(titlesAt(simulator())).toEqual(['a']);
		expect(outputOf(done)[0]).toStrictEqual({
			audience: 'all',
			status: 'alreadySent',
			description: 'Nothing was sent for this item: its ID was sent earlier',
			title: 'b',
			recipients: 'all subscribers',
			idempotencyKey: '1042',
		});
		expect(hintsOf(done)).toEqual(['Nothing was sent now. 1 ID was sent earlier.']);
		expect(database.keyRows).toEqual(['claim:1', 'sent']);
	});

	test('of another node sends', async () => {
		await run(keyed(order(1)));
		await run(keyed(order(1)), titled('a'), { id: 'another' });
		expect(titlesAt(simulator())).toEqual(['a', 'a']);
	});

	test.each<{ what: string; more: INodeParameters }>([
		{ what: 'its time is over', more: { additionalFields: { sendAt: '2024-05-17T09:30' } } },
		{ what: 'the item is not valid', more: { title: "={{ '' }}" } },
	])('comes out as already sent although $what, and a new one is refused', async ({ more }) => {
		await run(keyed(order(1)));
		const [item] = outputOf(await run(keyed(order(1), more)));
		expect(item).toMatchObject({ status: 'alreadySent', idempotencyKey: 'order-1' });
		expect(failureOf(await run(keyed(order(2), more))).message).toMatch(/^'(Send At|Title)'/);
		expect(simulator().requests).toHaveLength(1);
		expect(database.keyRows).toEqual(['claim:1', 'sent']);
	});
});

test.each([
	'={{ $today.toISODate() }}',
	'=news-{{ $now.toFormat("yyyy") }}',
	'={{ DateTime.now().toISODate() }}',
	'={{ DateTime.local().weekNumber }}',
	'={{ DateTime.utc().toISO() }}',
	'={{ new Date().getDate() }}',
	'={{ Date.now() }}',
	'={{ $json.at.toDateTime().diffToNow("days") }}',
	'={{ $execution.id }}',
	'={{ $json.title }}-{{ $runIndex }}',
	'={{ Math.random() }}',
	'={{ crypto.randomUUID() }}',
])('a key is refused that would be another one in a Retry: %s', async (key) => {
	const { message, description } = failureOf(await run(keyed(key)));
	expect(message).toMatch(/^'Send Only Once' reads the clock, the execution or chance: /);
	expect(description).toMatch(/ by Edit Fields in front of this node, .* \{\{ \$json\.day \}\}\./);
	expect(simulator().requests).toEqual([]);
});

test.each(['={{ $json.title }}-2030-01-01', '={{ DateTime.local(2030).year }}', '={{ $nowhere }}'])(
	'a key may read what stays: %s',
	async (key) => {
		const done = await run(keyed(key, {}, { dryRun: true }), undefined, {}, { mode: 'manual' });
		expect(JSON.stringify(outputOf(done))).not.toContain('reads the clock');
	},
);

describe('a key whose outcome is unknown', () => {
	const unknownRow = {
		status: 'unknown',
		idempotencyKey: 'order-1',
		description:
			'It is unknown whether this was sent (a request left before under its ID, and nobody knows how it ended)',
	};

	test.each([
		{ what: 'an item that is valid', title: 'a' },
		{ what: 'an item that is not valid by then', title: "={{ '' }}" },
	])('is a row in a later execution, and no failure, for $what', async ({ title }) => {
		simulator().addFault(faultFor(undefined, lost, 1));
		await run(keyed(order(1)));
		simulator().requests.length = 0;
		const done = await run(keyed(order(1), { title }));
		expect(outputOf(done)).toMatchObject([unknownRow]);
		expect(outputOf(done)[0]).not.toHaveProperty('error');
		expect(hintsOf(done)).toEqual([
			matching(/^Unknown: item 0.*, counted from 0: nobody knows whether it was sent earlier\.$/),
		]);
		expect(simulator().requests).toEqual([]);
		expect(database.keyRows).toEqual(['claim:1', 'lost:1']);
	});

	/** As after a crash: the claim is there, and nobody knows how its request ended. */
	async function crash() {
		await run(keyed(order(1)));
		database.rows.forEach((_entries, row) => row.endsWith(':sent') && database.rows.delete(row));
		simulator().requests.length = 0;
		// When an execution has looked, the time of that request is over, and the grace behind it.
		const looks = () => database.queries.filter(({ row }) => row.endsWith(':lost:1')).length;
		const now = performance.now.bind(performance);
		jest
			.spyOn(performance, 'now')
			.mockImplementation(() => now() + (looks() > 0 ? 60_000 * looks() : 0));
	}

	test('after a crash fails in the execution that finds it first, in each of its tries, and is a row later', async () => {
		await crash();
		const tries = { retryOnFail: true, maxTries: 2, waitBetweenTries: 1 };
		const found = await run(keyed(order(1)), titled('a'), tries);
		expect(failureOf(found).message).toBe(
			'Do not send it again yet: it is unknown whether this was sent (a request left before under its ID, and nobody knows how it ended)',
		);
		expect(database.keyRows).toEqual(['claim:1', 'lost:1']);
		expect(outputOf(await retry(found, keyed(order(1))))).toMatchObject([unknownRow]);
		expect(outputOf(await run(keyed(order(1))))).toMatchObject([unknownRow]);
		expect(simulator().requests).toEqual([]);
	});

	test('after a crash fails at once for an item that is not valid by then, and holds up no other item', async () => {
		await crash();
		const input = inputOf({ key: 'order-1', title: '' }, { key: 'order-2', title: 'b' });
		const done = await run(keyed('={{ $json.key }}'), input, continuing);
		expect(outputOf(done)).toMatchObject([
			{ status: 'unknown', error: { outcome: 'unknown' } },
			{ status: 'success' },
		]);
		expect(titlesAt(simulator())).toEqual(['b']);
	});
});

describe('in one run', () => {
	test('a credential with an expression that leads to another site makes another key', async () => {
		const input = inputOf(...[simulator(), otherSite()].map(({ url }) => ({ title: 'a', url })));
		const credentials = credentialsFor(simulator(), { baseUrl: '={{ $json.url }}' });
		const done = await run(keyed('={{ "k" }}'), input, {}, { credentials });
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
		expect(message).toMatch(/database.*SQLITE_BUSY\. None of these 50 was sent\.$/);
		expect(description).toMatch(/^Check that n8n can reach its database\. n8n's 'Retry' /);
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
		expect(database.queries.length - before).toBeLessThanOrEqual(20);
		expect(simulator().requests).toHaveLength(1);
	});
});

test('the rows of a key are a format: they stay as they are from version to version', async () => {
	const credentials = credentialsFor({ url: 'http://127.0.0.1:9/push' });
	await run(keyed(order(1)), titled('a'), {}, { credentials });
	const row = 'engine-test n:push-campaign-key:34ePda7KOwundkE6';
	expect([...database.rows.keys()].filter((name) => name.includes('-key:'))).toEqual([
		...[`${row}:claim:1`, `${row}:free:1`],
	]);
});

test('rows can be found by an administrator, and are five or six queries for each send', async () => {
	await run(keyed());
	const queries = database.queries.length;
	await run(keyed(order(2)));
	expect(database.queries.length - queries).toBeLessThanOrEqual(6);
	for (const row of database.rows.keys()) expect(row).toMatch(/^engine-test n:push-campaign-/);
});
