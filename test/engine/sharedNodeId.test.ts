import type { INodeParameters } from 'n8n-workflow';
import {
	credentialsFor,
	failureOf,
	outputOf,
	push,
	titlesAt,
	useSimulator,
} from './support/pushCampaign';
import { runWorkflow } from './support/run';
import { chain } from './support/workflow';

const simulator = useSimulator();
const idempotencyKey = 'order-1042';

/** Runs the node under test before another node. */
const runBefore = async (other: { name: string; id: string }, options: INodeParameters) =>
	await runWorkflow(
		chain([
			push({ options }, { id: 'action-1' }),
			{ ...other, type: 'n8n-nodes-base.noOp', typeVersion: 1 },
		]),
		{ credentials: credentialsFor(simulator()) },
	);

describe('if another node of the workflow has the same ID', () => {
	const twin = { name: 'Second', id: 'action-1' };

	test('a send with a key is refused, in words that name the other node', async () => {
		const run = await runBefore(twin, { idempotencyKey });
		expect(failureOf(run)).toMatchObject({
			name: 'NodeOperationError',
			message:
				'Idempotency Key and Send Only Once can\'t be used here: "Second" has the same node ID, so both nodes would share their keys',
			description:
				'Delete one of the two nodes and add it again from the list of nodes, so that it gets an ID of its own.',
			itemIndex: 0,
		});
		expect(titlesAt(simulator())).toEqual([]);
	});

	test('a send without a key goes out', async () => {
		expect(outputOf(await runBefore(twin, {}))).toHaveLength(1);
	});

	test('a dry run with a key is not refused', async () => {
		const run = await runBefore(twin, { idempotencyKey, dryRun: true });
		expect(outputOf(run)).toMatchObject([{ dryRun: true }]);
	});
});

test('a node with an ID of its own is not refused for it', async () => {
	const run = await runBefore({ name: 'Second', id: 'action-2' }, { idempotencyKey });
	expect(outputOf(run)).toMatchObject([{ status: 'success' }]);
});
