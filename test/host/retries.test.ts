import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { connect, node, pushCampaign, webhookWorkflow } from '../../host';
import { useStage } from './support';
import {
	acceptedTitles,
	byTitle,
	lostAnswer,
	newExecution,
	refusal,
	repeated,
	retryAsItSays,
	sendWorkflow,
	sentItems,
	statusesOf,
	titled,
	titlesOf,
	untilRequests,
	wordsOf,
} from './support/sends';
import { callingWorkflow } from './support/subWorkflows';

// Retries of all kinds: nobody gets anything twice by them, and nobody is forgotten.

const stage = useStage();

const savedWorkflow = { loadWorkflow: true };
const content = {
	title: '={{ $json.title }}',
	message: 'Twenty percent off',
	targetUrl: 'https://shop.example/sale',
};
const sender = () => pushCampaign(content, { credential: stage().credential });

describe('a batch that fails in part in a sub-workflow', () => {
	const callers = [
		{ mode: 'once', refused: 'Item 30', all: 60, left: 0 },
		{ mode: 'each', refused: 'Item 6', all: 60, left: 54 },
	] as const;

	test.each(callers)(
		"called with mode '$mode', it offers Retry of its own execution alone, which sends the rest and nothing twice",
		async ({ mode, refused, all, left }) => {
			stage().simulator.addFault(refusal(refused));
			const workflow = await callingWorkflow(stage(), [sender()], mode);
			const caller = await workflow.run(titled('Item', all));
			const own = (await workflow.subExecutions()).filter(({ status }) => status === 'error');
			expect(own).toHaveLength(1);
			for (const failed of [caller, ...own]) {
				expect(failed.status).toBe('error');
				expect(wordsOf(failed)).toContain(
					"of this sub-workflow's own execution sends only what was",
				);
			}
			const [failed] = own;
			if (failed === undefined) throw new Error('The sub-workflow has no execution');
			expect((await retryAsItSays(stage(), failed)).status).toBe('success');
			const accepted = acceptedTitles(stage());
			expect(accepted.sort()).toEqual(titlesOf('Item', all - left).sort());
		},
	);
});

describe('a key that is added after an execution failed', () => {
	test('is no key of what was sent: Retries alone send the rest', async () => {
		const { simulator } = stage();
		simulator.addFault({ ...refusal('Item 30'), times: 2 });
		const workflow = await sendWorkflow(stage());
		const failed = await workflow.run(titled('Item', 60));
		await workflow.change({ options: byTitle });
		const retried = await retryAsItSays(stage(), failed);
		expect((await retryAsItSays(stage(), retried)).status).toBe('success');
		expect(acceptedTitles(stage()).sort()).toEqual(titlesOf('Item', 60).sort());
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
		const all = [...titlesOf('Lost', 20), ...titlesOf('New', 30)];
		expect(acceptedTitles(stage()).sort()).toEqual(all.sort());
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
		expect(acceptedTitles(stage()).sort()).toEqual(titlesOf('Item', 2));
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
			const workflow = await sendWorkflow(stage(), {
				parameters: { additionalFields: { sendAt: '={{ $now.plus({ hours: 1 }).toISO() }}' } },
				options,
			});
			const failed = await workflow.run(titled('Item', 2));
			// An hour later.
			await workflow.change({
				parameters: {
					additionalFields: {
						sendAt: "={{ $json.title === 'Item 1' ? '2020-05-17 9:30' : 'now' }}",
					},
				},
				options: { ...options, unknownOutcome: 'countAsSent' },
			});
			const retried = await client.retryExecution(failed.id, savedWorkflow);
			expect(statusesOf(retried)).toEqual(['alreadySent', 'success']);
			expect(acceptedTitles(stage()).sort()).toEqual(titlesOf('Item', 2));
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
	expect(acceptedTitles(stage()).sort()).toEqual(titlesOf('Item', 40).sort());
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
	const path = randomUUID();
	const action = sender();
	const draft = connect(webhookWorkflow(path, [next, action]), action.name, next.name);
	const { id } = await client.createWorkflow(draft);
	await client.activate(id);
	for (const title of ['Row 3', 'Row 5']) simulator.addFault(refusal(title));

	const call = async () => await client.runWebhook(path, { items: [{}] });
	const failed = await newExecution(stage(), id, call);
	// Sends the third and the fourth row, and fails with the fifth.
	const first = await client.retryExecution(failed.id);
	expect(first.status).toBe('error');
	// Has the third row again, and reads from the sixth one on.
	const second = await client.retryExecution(failed.id);
	expect(second.status).toBe('success');
	expect((await client.retryExecution(first.id)).status).toBe('success');
	rows.close();
	const accepted = acceptedTitles(stage());
	expect(repeated(accepted)).toEqual([]);
	expect(accepted.sort()).toEqual(titlesOf('Row', 8));
});
