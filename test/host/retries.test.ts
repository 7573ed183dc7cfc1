import { once } from 'node:events';
import { createServer } from 'node:http';
import { node, webhookWorkflow } from '../../host';
import {
	byTitle,
	callNode,
	expectSent,
	lostAnswer,
	publish,
	refusal,
	retryAsItSays,
	expectRetrySendsRest,
	ringOf,
	sendNode,
	sendWorkflow,
	sentItems,
	statusesOf,
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

describe('a key that is added after an execution failed', () => {
	test('is no key of what was sent: Retries alone send the rest', async () => {
		const { simulator } = stage();
		simulator.addFault({ ...refusal('Item 30'), times: 2 });
		const workflow = await sendWorkflow(stage());
		const failed = await workflow.run(titled('Item', 60));
		await workflow.change({ options: byTitle });
		const retried = await retryAsItSays(stage(), failed);
		await expectRetrySendsRest(stage(), retried, ...titlesOf('Item', 60));
	});

	test('is sent with Count as Sent, and stays so behind 30 new keys', async () => {
		const { client, simulator } = stage();
		// All requests have left before the first one ends.
		simulator.setLatency(300);
		simulator.addFault({ skip: 2, times: 0, action: { kind: 'reset-after' } });
		const workflow = await sendWorkflow(stage());
		const failed = await workflow.run(titled('Lost', 20));
		simulator.clearFaults();
		simulator.setLatency(0);
		await workflow.change({ options: { ...byTitle, unknownOutcome: 'countAsSent' } });
		const retried = await client.retryExecution(failed.id, savedWorkflow);
		const counted = sentItems(retried).filter(({ status }) => status === 'alreadySent');
		expect(counted).toHaveLength(18);
		await workflow.change({ options: byTitle });
		const later = await workflow.run([...titled('New', 30), ...counted]);
		expect(statusesOf(later)).toEqual([
			...titlesOf('New', 30).map(() => 'success'),
			...counted.map(() => 'alreadySent'),
		]);
		expectSent(stage(), ...titlesOf('Lost', 20), ...titlesOf('New', 30));
	});
});

describe('what an execution left unknown', () => {
	test('counts as sent in each later Retry, without a key, too', async () => {
		const { client, simulator } = stage();
		simulator.addFault(lostAnswer('Item 1'));
		simulator.addFault({ ...refusal('Item 2'), times: 2 });
		const workflow = await sendWorkflow(stage());
		const failed = await workflow.run(titled('Item', 2));
		await workflow.change({ options: { unknownOutcome: 'countAsSent' } });
		const counted = await client.retryExecution(failed.id, savedWorkflow);
		expect(counted.status).toBe('error');
		await workflow.change({ options: {} });
		const retried = await client.retryExecution(counted.id, savedWorkflow);
		expect(statusesOf(retried)).toEqual(['alreadySent', 'success']);
		expectSent(stage(), ...titlesOf('Item', 2));
	});

	test.each([
		{ how: 'without a key', options: {} },
		{ how: 'with a key', options: byTitle },
	])(
		'counts as sent when its time is over, $how, and holds up no other item',
		async ({ options }) => {
			const { client, simulator } = stage();
			simulator.addFault(lostAnswer('Item 1'));
			simulator.addFault(refusal('Item 2'));
			const at = (sendAt: string) => ({ parameters: { additionalFields: { sendAt } }, options });
			const inAnHour = at('={{ $now.plus({ hours: 1 }).toISO() }}');
			const workflow = await sendWorkflow(stage(), inAnHour);
			const failed = await workflow.run(titled('Item', 2));
			// An hour later.
			await workflow.change({
				...at("={{ $json.title === 'Item 1' ? '2020-05-17 9:30' : 'now' }}"),
				options: { ...options, unknownOutcome: 'countAsSent' },
			});
			const retried = await client.retryExecution(failed.id, savedWorkflow);
			expect(statusesOf(retried)).toEqual(['alreadySent', 'success']);
			expectSent(stage(), ...titlesOf('Item', 2));
		},
	);
});

test('of two Retries at the same time one sends each item, and the other one waits for its answer', async () => {
	const { client, simulator } = stage();
	simulator.addFault(refusal('Item 1'));
	const workflow = await sendWorkflow(stage());
	const failed = await workflow.run(titled('Item', 40));
	simulator.setLatency(2_000);
	const first = client.retryExecution(failed.id, savedWorkflow);
	await untilRequests(stage(), 1);
	const second = await client.retryExecution(failed.id, savedWorkflow);
	for (const retried of [await first, second]) {
		expect(statusesOf(retried)).toEqual(titlesOf('Item', 40).map(() => 'success'));
	}
	expectSent(stage(), ...titlesOf('Item', 40));
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
