import {
	credentialsFor,
	database,
	failureOf,
	inputOf,
	loopOf,
	outputOf,
	push,
	titlesAt,
	useSimulator,
	workflowOf,
} from './support/pushCampaign';
import type * as run from './support/run';

// What Send Only Once leans on, which each process tries once. So each of these tests loads the node again.

const simulator = useSimulator();
beforeEach(() => void jest.resetModules());

const keyed = (idempotencyKey: string) => ({ options: { idempotencyKey } });

/** A run in a process that has tried nothing yet, and each further run there. */
function newProcess() {
	const { runWorkflow } = jest.requireActual<typeof run>('./support/run');
	return async (json = workflowOf(keyed('=order-{{ 1 }}')), input = inputOf({})) =>
		await runWorkflow(json, { credentials: credentialsFor(simulator()), input });
}

let rows = 0;

test.each([
	['gives a node one row alone', () => 'n:always the same'],
	['does not find a row again', () => `n:${(rows += 1)}`],
])("'Send Only Once' is refused by a version of n8n that %s", async (_what, contextOf) => {
	database.contextOf = contextOf;
	expect(failureOf(await newProcess()()).message).toMatch(
		/^'Send Only Once' does not work with this version of n8n/,
	);
	expect(simulator().requests).toEqual([]);
});

test("'Send Only Once' works again once a database that was down answers", async () => {
	const runThere = newProcess();
	database.beforeQuery = () => {
		throw new Error('SQLITE_BUSY');
	};
	expect(failureOf(await runThere()).message).toBe(
		"n8n's database did not answer: SQLITE_BUSY. This was not sent.",
	);
	database.reset();
	expect(outputOf(await runThere())).toMatchObject([{ status: 'success' }]);
});

test('whether it works is tried once, however many runs and items there are', async () => {
	const runThere = newProcess();
	const trials = () => database.queries.filter(({ row }) => row.includes('-trial:')).length;
	const json = workflowOf({ title: '=No {{ $json.id }}', ...keyed('={{ $json.id }}') });
	await runThere(json, inputOf({ id: 1 }, { id: 2 }));
	const afterOne = trials();
	expect(afterOne).toBeGreaterThan(0);
	await runThere();
	expect(trials()).toBe(afterOne);
});

test('the node has its own ID again afterwards, so a key is known in each round of a loop', async () => {
	const done = await newProcess()(loopOf(push(keyed('=order-{{ 1 }}'))));
	expect([0, 1].map((round) => outputOf(done, round)[0]?.['status'])).toEqual([
		'success',
		'alreadySent',
	]);
	expect(titlesAt(simulator())).toHaveLength(1);
});

test('a row that another execution inserted is its own, also for a key that is claimed without a look', async () => {
	const runThere = newProcess();
	const json = workflowOf({ title: '={{ $json.id }}', ...keyed('={{ $json.id }}') });
	const statusesOf = async (...ids: string[]) =>
		outputOf(await runThere(json, inputOf(...ids.map((id) => ({ id }))))).map(
			({ status }) => status,
		);
	await statusesOf('known');
	const others = Array.from({ length: 20 }, (_, index) => `new ${index}`);
	expect(new Set(await statusesOf(...others))).toEqual(new Set(['success']));
	expect((await statusesOf(...others.map((id) => `${id}, again`), 'known')).at(-1)).toBe(
		'alreadySent',
	);
	expect(titlesAt(simulator())).toHaveLength(1 + 2 * others.length);
});

describe('a row that can’t be inserted', () => {
	test('because another execution inserted it at the same moment is its own', async () => {
		database.beforeQuery = ({ kind, row }) => {
			if (kind !== 'insert' || !row.endsWith(':claim:1')) return;
			for (const end of ['claim:1', 'sent']) {
				database.rows.set(row.replace('claim:1', end), ['1']);
			}
		};
		expect(outputOf(await newProcess()())).toMatchObject([{ status: 'alreadySent' }]);
		expect(simulator().requests).toEqual([]);
	});

	test('because the database does not take it ends the run', async () => {
		database.beforeQuery = ({ kind, row }) => {
			if (kind === 'insert' && row.endsWith(':claim:1')) throw new Error('SQLITE_FULL');
		};
		expect(failureOf(await newProcess()()).message).toMatch(/SQLITE_FULL\. This was not sent\.$/);
		expect(simulator().requests).toEqual([]);
	});
});
