import type { INodeParameters } from 'n8n-workflow';
import {
	continuing,
	credentialsFor,
	failure,
	failureOf,
	faultFor,
	hintsOf,
	NODE,
	outputOf,
	push,
	titled,
	titlesAt,
	useDatabase,
	useSimulator,
} from './support/pushCampaign';
import { retryRun, runWorkflow } from './support/run';
import { chain, connect } from './support/workflow';

// What the same execution has sent before this run of the node: running the workflow again would send it again.

const simulator = useSimulator();
useDatabase();

const options = (more = {}) => ({
	...{ credentials: credentialsFor(simulator()), input: titled('a') },
	...more,
});
const entered = { options: { idempotencyKey: '={{ $json.title }}' } };
const blank = { options: { idempotencyKey: '' } };

/** A send, and behind it another one that is not valid. */
const twoSends = (first: INodeParameters = {}, second: INodeParameters = {}, more = {}) =>
	chain([
		push(first, { name: 'First send', id: 'first', ...continuing }),
		push({ title: '={{ $json.missing }}', ...second }, more),
	]);

const nothingByThis = /^Nothing was sent by this run of the node\. /;
const others =
	'Other Push Campaign nodes have sent already: deactivate them before you run the workflow again.';
const again = 'Running the workflow again would send again what was sent. ';

describe('a failure says that other nodes have sent,', () => {
	test.each<[what: string, first: INodeParameters, second: INodeParameters]>([
		['without a key', {}, {}],
		['without a key, though this one has one', {}, entered],
		['under a key that is made of a text, which may change', blank, entered],
	])('%s', async (_what, first, second) => {
		const { description } = failureOf(await runWorkflow(twoSends(first, second), options()));
		expect(titlesAt(simulator())).toEqual(['Summer sale']);
		expect(description).toMatch(nothingByThis);
		expect(description).toContain(others);
		expect(description).not.toContain(again);
	});

	test('in the row and in the hint of a run that goes on', async () => {
		const done = await runWorkflow(twoSends({}, {}, continuing), options());
		const [{ error } = {}] = outputOf(done);
		for (const text of [JSON.stringify(error), hintsOf(done).join()]) {
			expect(text).toContain(others);
		}
	});

	test('if it is unknown whether they have', async () => {
		simulator().addFault({ ...faultFor(undefined, { kind: 'reset-after' }), times: 1 });
		const { description } = failureOf(await runWorkflow(twoSends(), options()));
		expect(description).toContain(others);
	});

	test('whatever the nodes in between did', async () => {
		const json = twoSends({}, {});
		const between = push(entered, { name: 'Between', id: 'between' });
		json.nodes.splice(2, 0, ...chain([between]).nodes.slice(1));
		json.connections = {};
		connect(json, 'Start', 'First send');
		connect(json, 'First send', 'Between');
		connect(json, 'Between', NODE);
		const { description } = failureOf(await runWorkflow(json, options()));
		expect(titlesAt(simulator())).toHaveLength(2);
		expect(description).toContain(others);
	});

	test('in a sub-workflow and in a Retry', async () => {
		const json = twoSends();
		const failed = await runWorkflow(json, options({ mode: 'integrated' }));
		for (const run of [failed, await retryRun(failed, json, options())]) {
			expect(failureOf(run).description).toMatch(nothingByThis);
			expect(failureOf(run).description).toContain(others);
		}
	});

	test('and asks about what is unknown as if they had not', async () => {
		simulator().addFault(faultFor('second', { kind: 'reset-after' }));
		const second = { title: 'second', ...entered };
		const json = twoSends({}, second, continuing);
		const [hint] = hintsOf(await runWorkflow(json, options()));
		expect(hint).toContain(others);
		expect(hint).toMatch(/ Is it not there\? Choose Send Again\. /);
	});
});

test.each<[what: string, first: INodeParameters, more: object]>([
	['sent under an entered key', entered, {}],
	['sent a test', { options: { testSubscriberId: '5001' } }, { mode: 'manual' }],
])('a failure says nothing of another node that %s', async (_what, first, more) => {
	const { description } = failureOf(await runWorkflow(twoSends(first, entered), options(more)));
	expect(simulator().requests).toHaveLength(1);
	expect(description).toMatch(/^Nothing was sent\. .* Then run the workflow again: /);
});

test('a failure says nothing of another node whose send was refused', async () => {
	simulator().addFault({ ...faultFor(undefined, failure('invalid_value')), times: 1 });
	const { description } = failureOf(await runWorkflow(twoSends(), options()));
	expect(description).toMatch(/^Nothing was sent\. .* Then run the workflow again, as 'Retry' /);
});

describe('in a loop', () => {
	const loop = (parameters: INodeParameters) => {
		const json = chain([{ name: 'Loop', type: 'test.loopTwice' }]);
		json.nodes.push(...chain([push(parameters)]).nodes.slice(1));
		connect(json, 'Loop', NODE, 1);
		connect(json, NODE, 'Loop');
		return json;
	};
	const title = "={{ $runIndex === 0 ? 'first' : '' }}";

	test('a failure in the second round says that running it again would send the first one again', async () => {
		const { description } = failureOf(await runWorkflow(loop({ title }), options()));
		expect(titlesAt(simulator())).toEqual(['first']);
		expect(description).toMatch(nothingByThis);
		expect(description).toContain(again);
		expect(description).toContain('run the workflow with the items alone that were not sent');
		expect(description).not.toContain(others);
	});

	test('with keys it may be run again', async () => {
		const keyed = { title, options: { idempotencyKey: '={{ $runIndex }}' } };
		const { description } = failureOf(await runWorkflow(loop(keyed), options()));
		expect(description).toMatch(/ Then run the workflow again: what was sent is not sent again\.$/);
	});
});

describe('a read behind a send that has to wait', () => {
	const read = (more = {}) =>
		chain([
			push({}, { name: 'First send', id: 'first' }),
			push({ resource: 'site', operation: 'getSubscriberCount' }, more),
		]);
	const wait = () => {
		const headers = { 'retry-after': '601' };
		const action = { kind: 'failure', type: 'rate_limit', description: '', headers } as const;
		simulator().addFault({ times: 0, match: { path: '/subscriber_count' }, action });
	};

	test('says to retry it: running the workflow again would send again', async () => {
		wait();
		const { description } = failureOf(await runWorkflow(read(), options()));
		expect(description).toMatch(/ Later, use 'Retry' in the list of executions\.$/);
	});

	test('says to retry its own execution in a sub-workflow: that of the caller would send again', async () => {
		wait();
		const done = await runWorkflow(read(), options({ mode: 'integrated' }));
		expect(failureOf(done).description).toMatch(
			/ Later, use 'Retry' of the sub-workflow's own execution, not of the workflow that called it/,
		);
	});

	test('says neither with Continue: n8n offers no Retry then', async () => {
		wait();
		const [item] = outputOf(await runWorkflow(read(continuing), options()));
		expect(JSON.stringify(item)).not.toMatch(/Retry|again/);
	});
});
