import { once } from 'node:events';
import { createServer } from 'node:http';
import { node, webhookWorkflow } from '../../host';
import {
	byTitle,
	callNode,
	expectSent,
	publish,
	refusal,
	retryAsItSays,
	expectRetrySendsRest,
	ringOf,
	secondRetry,
	sendNode,
	sendWorkflow,
	subWorkflow,
	titled,
	titlesOf,
	untilRequests,
	useStage,
	wordsOf,
} from './support';

// Retries of all kinds: nobody gets anything twice by them, and nobody is forgotten.

const stage = useStage();

const savedWorkflow = { loadWorkflow: true };

test.each([
	{ mode: 'once', refused: 'Item 30', left: 0 },
	{ mode: 'each', refused: 'Item 6', left: 54 },
] as const)(
	"a batch that fails in part in a sub-workflow called with mode '$mode' offers Retry of its own execution alone, which sends the rest and nothing twice",
	async ({ mode, refused, left }) => {
		const { client, simulator } = stage();
		simulator.addFault(refusal(refused));
		const subId = await subWorkflow(stage(), [sendNode(stage())]);
		const workflow = await publish(stage(), (path) =>
			webhookWorkflow(path, [callNode(subId, mode)]),
		);
		const caller = await workflow.run(titled('Item', 60));
		const own = await client.waitForExecutions({ workflowId: subId, status: ['error'] });
		expect(own).toHaveLength(1);
		const failed = await client.waitForExecution(own[0]?.id ?? '');
		for (const each of [caller, failed]) {
			expect(each.status).toBe('error');
			expect(wordsOf(each)).toContain("of this sub-workflow's own execution sends only what was");
		}
		await expectRetrySendsRest(stage(), failed, ...titlesOf('Item', 60 - left));
	},
);

test('a key that is added after an execution failed is no key of what was sent: Retries alone send the rest', async () => {
	const { client, simulator } = stage();
	simulator.addFault({ ...refusal('Item 30'), times: 2 });
	const workflow = await sendWorkflow(stage());
	const failed = await workflow.run(titled('Item', 60));
	await workflow.save({ options: byTitle });
	const retried = await client.retryExecution(failed.id, savedWorkflow);
	expect(retried.status).toBe('error');
	expect((await client.retryExecution(retried.id, savedWorkflow)).status).toBe('success');
	expectSent(stage(), ...titlesOf('Item', 60));
});

describe('of several Retries of one execution', () => {
	/** A node in front that fails as it is published, and hands its items on as it is saved. */
	const failedInFront = async () => {
		const front = (type: string, parameters = {}) =>
			node('Front', `n8n-nodes-base.${type}`, parameters);
		const broken = front('stopAndError', { errorMessage: 'No' });
		const workflow = await publish(stage(), (path) =>
			webhookWorkflow(path, [broken, sendNode(stage())]),
		);
		const failed = await workflow.run(titled('Item', 40));
		await workflow.save(front('noOp'));
		return failed;
	};
	const failedInPart = async () => {
		stage().simulator.addFault(refusal('Item 1'));
		return await (await sendWorkflow(stage())).run(titled('Item', 40));
	};

	test.each([
		{ what: 'that failed in part', fail: failedInPart },
		{ what: 'in which a node in front failed', fail: failedInFront },
	])(
		'$what, one sends, another one at the same time waits for its answers, and after a restart the newest alone goes on',
		async ({ fail }) => {
			const { client, simulator } = stage();
			const failed = await fail();
			simulator.setLatency(1_000);
			simulator.addFault(refusal('Item 39'));
			const first = client.retryExecution(failed.id, savedWorkflow);
			await untilRequests(stage(), 1);
			const second = await client.retryExecution(failed.id, savedWorkflow);
			simulator.setLatency(0);
			const ended = [await first, second];
			// The second one sends what the service refused the first one.
			expect(ended.map(({ status }) => status).sort()).toEqual(['error', 'success']);
			expectSent(stage(), ...titlesOf('Item', 40));
			await stage().restart();
			expect(wordsOf(await client.retryExecution(failed.id, savedWorkflow))).toMatch(secondRetry);
			expectSent(stage(), ...titlesOf('Item', 40));
		},
	);

	test('after a restart an older one is refused, and the one that its words name sends the rest', async () => {
		const { client, simulator } = stage();
		const failed = await failedInPart();
		simulator.addFault(refusal('Item 39'));
		const newest = await retryAsItSays(stage(), failed);
		expect(newest.status).toBe('error');
		await stage().restart();
		const refused = await client.retryExecution(failed.id);
		expect(wordsOf(refused)).toMatch(secondRetry);
		await expectRetrySendsRest(stage(), newest, ...titlesOf('Item', 40));
	});
});

/** Gives its rows one by one, each to one reader. */
async function startRows(count: number) {
	const rows = titled('Row', count);
	const server = createServer((_, response) => {
		response.setHeader('content-type', 'application/json');
		response.end(JSON.stringify(rows.splice(0, 1)));
	});
	server.listen(0, '127.0.0.1');
	await once(server, 'listening');
	const address = server.address();
	if (address === null || typeof address === 'string') throw new Error('Not on a TCP port');
	return { url: `http://127.0.0.1:${address.port}/`, close: () => server.close() };
}

test('a second Retry of the same execution sends what a loop reads then, and nothing twice', async () => {
	const { client, simulator } = stage();
	const rows = await startRows(8);
	const next = node(
		'Next row',
		'n8n-nodes-base.httpRequest',
		{ url: rows.url },
		{ typeVersion: 4.2 },
	);
	const workflow = await publish(stage(), (path) => ringOf(path, [next, sendNode(stage())]));
	for (const title of ['Row 3', 'Row 5']) simulator.addFault(refusal(title));

	const failed = await workflow.run([{}]);
	// Sends the third and the fourth row, and fails with the fifth.
	const first = await client.retryExecution(failed.id);
	expect(first.status).toBe('error');
	// Has the third row again, and reads from the sixth one on.
	expect((await client.retryExecution(failed.id)).status).toBe('success');
	expect((await client.retryExecution(first.id)).status).toBe('success');
	rows.close();
	expectSent(stage(), ...titlesOf('Row', 8));
});
