import {
	credentialsFor,
	failureOf,
	inputOf,
	NODE,
	outputOf,
	push,
	titlesAt,
	database,
	useSimulator,
	workflowOf,
} from './support/pushCampaign';
import type * as run from './support/run';
import { chain, connect } from './support/workflow';

// What Send Only Once leans on, which each process tries once. So each of these tests loads the node again.

const simulator = useSimulator();
beforeEach(() => void jest.resetModules());

const runner = () => jest.requireActual<typeof run>('./support/run');
const options = () => ({ credentials: credentialsFor(simulator()) });
const keyed = (idempotencyKey: string) => ({ options: { idempotencyKey } });

let rows = 0;

test.each([
	['gives a node one row alone', () => 'n:always the same'],
	['does not find a row again', () => `n:${(rows += 1)}`],
])("'Send Only Once' is refused by a version of n8n that %s", async (_what, contextOf) => {
	database.contextOf = contextOf;
	const done = await runner().runWorkflow(workflowOf(keyed('order-1')), options());
	expect(failureOf(done).message).toMatch(
		/^'Send Only Once' does not work with this version of n8n/,
	);
	expect(simulator().requests).toEqual([]);
});

test("'Send Only Once' works again once a database that was down answers", async () => {
	const { runWorkflow } = runner();
	database.beforeQuery = () => {
		throw new Error('SQLITE_BUSY');
	};
	expect(failureOf(await runWorkflow(workflowOf(keyed('order-1')), options())).message).toMatch(
		/database did not answer/,
	);
	database.reset();
	expect(outputOf(await runWorkflow(workflowOf(keyed('order-1')), options()))).toMatchObject([
		{ status: 'success' },
	]);
});

test('whether it works is tried once, however many runs and items there are', async () => {
	const { runWorkflow } = runner();
	const trials = () => database.queries.filter(({ row }) => row.includes('-trial:')).length;
	await runWorkflow(workflowOf({ title: '=No {{ $json.id }}', ...keyed('={{ $json.id }}') }), {
		...options(),
		input: inputOf({ id: 1 }, { id: 2 }),
	});
	const afterOne = trials();
	expect(afterOne).toBeGreaterThan(0);
	await runWorkflow(workflowOf(keyed('3')), options());
	expect(trials()).toBe(afterOne);
});

test('the node has its own ID again afterwards, so a key is known in each round of a loop', async () => {
	const json = chain([{ name: 'Loop', type: 'test.loopTwice' }]);
	json.nodes.push(...chain([push(keyed('order-1'))]).nodes.slice(1));
	connect(json, 'Loop', NODE, 1);
	connect(json, NODE, 'Loop');
	const done = await runner().runWorkflow(json, options());
	expect([0, 1].map((round) => outputOf(done, round)[0]?.['status'])).toEqual([
		'success',
		'alreadySent',
	]);
	expect(titlesAt(simulator())).toHaveLength(1);
});

test('a row that another execution inserted is its own, also for a key that is claimed without a look', async () => {
	const { runWorkflow } = runner();
	const json = workflowOf({ title: '={{ $json.id }}', ...keyed('={{ $json.id }}') });
	const run = async (...ids: string[]) =>
		outputOf(
			await runWorkflow(json, { ...options(), input: inputOf(...ids.map((id) => ({ id }))) }),
		).map(({ status }) => status);
	await run('known');
	const others = Array.from({ length: 30 }, (_, index) => `new ${index}`);
	expect(new Set(await run(...others))).toEqual(new Set(['success']));
	expect((await run(...others.map((id) => `${id}, again`), 'known')).at(-1)).toBe('alreadySent');
	expect(titlesAt(simulator())).toHaveLength(1 + 2 * others.length);
});

describe('a row that can’t be inserted', () => {
	test('because another execution inserted it at the same moment is its own', async () => {
		const { runWorkflow } = runner();
		database.beforeQuery = ({ kind, row }) => {
			if (kind !== 'insert' || !row.endsWith(':claim:1')) return;
			for (const end of ['claim:1', 'sent']) {
				database.rows.set(row.replace('claim:1', end), ['1']);
			}
		};
		const done = await runWorkflow(workflowOf(keyed('order-1')), options());
		expect(outputOf(done)).toMatchObject([{ status: 'alreadySent' }]);
		expect(simulator().requests).toEqual([]);
	});

	test('because the database does not take it ends the run', async () => {
		const { runWorkflow } = runner();
		database.beforeQuery = ({ kind, row }) => {
			if (kind === 'insert' && row.endsWith(':claim:1')) throw new Error('SQLITE_FULL');
		};
		const { message } = failureOf(await runWorkflow(workflowOf(keyed('order-1')), options()));
		expect(message).toMatch(/SQLITE_FULL$/);
		expect(simulator().requests).toEqual([]);
	});
});
