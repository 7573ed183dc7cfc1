import { randomUUID } from 'node:crypto';
import { outputOf, pushCampaign, webhookWorkflow } from '../../host';
import {
	byTitle,
	expectRetrySendsRest,
	expectSent,
	notTheFirst,
	refusal,
	runNodes,
	sendNode,
	sendWorkflow,
	statusesOf,
	titled,
	titlesOf,
	untilRequests,
	useStage,
	wordsOf,
} from './support';
import { watch, watchWorkflow } from './support/watches';

describe('on n8n 1.123', () => {
	const stage = useStage({ major: '1' });

	test('a send is scheduled in its timezone, and the next node reads its numbers', async () => {
		const { simulator, credential } = stage();
		const additionalFields = { sendAt: '2035-05-17 9:30', sendAtTimezone: 'Europe/Berlin' };
		const audience = { operation: 'sendToSegments', segmentIds: '11, 12' };
		const send = sendNode(stage(), { ...audience, title: 'Sale', additionalFields });
		const status = pushCampaign({ operation: 'getStatus' }, { name: 'Status', credential });
		const { answer } = await runNodes(stage(), [send, status]);
		expect(simulator.requests[0]?.json).toMatchObject({
			segment: ['11', '12'],
			send_at: '2035-05-17 09:30 +02:00',
		});
		expect(answer.json).toMatchObject([{ campaignId: '1001', deliveryRate: null }]);
	});

	test('of two Retries of a batch that failed, the first one sends the rest, and the second one nothing', async () => {
		const { client, simulator } = stage();
		simulator.addFault(refusal('Item 30'));
		const workflow = await sendWorkflow(stage());
		const failed = await workflow.run(titled('Item', 60));
		await expectRetrySendsRest(stage(), failed, ...titlesOf('Item', 60));
		expect(wordsOf(await client.retryExecution(failed.id))).toMatch(notTheFirst);
		expectSent(stage(), ...titlesOf('Item', 60));
	});

	test('Send Only Once sends the same items once', async () => {
		const workflow = await sendWorkflow(stage(), { options: byTitle });
		expect(statusesOf(await workflow.run(titled('Once', 2)))).toEqual(['success', 'success']);
		expect(statusesOf(await workflow.run(titled('Once', 2)))).toEqual([
			...['alreadySent', 'alreadySent'],
		]);
		expectSent(stage(), ...titlesOf('Once', 2));
	});

	test("a test by the webhook's test URL whose n8n was killed is refused by Retry: nobody knows how it was started", async () => {
		const { client, simulator, server } = stage();
		const path = randomUUID();
		const action = sendNode(stage(), { options: { testSubscriberId: '5001' } });
		const { id } = await client.createWorkflow(webhookWorkflow(path, [action]));
		const workflowData = { ...(await client.workflow(id)), pinData: {} };
		const triggerToStartFrom = { name: 'Webhook' };
		await client.request('POST', `workflows/${id}/run`, { workflowData, triggerToStartFrom });
		const hang = { kind: 'hang', process: true } as const;
		simulator.addFault({ match: { method: 'POST' }, action: hang });
		const call = fetch(`${server.url}/webhook-test/${path}`, {
			method: 'POST',
			headers: { 'content-type': 'application/json' },
			body: JSON.stringify({ items: titled('Test', 2) }),
		}).catch(() => undefined);
		await untilRequests(stage(), 1);
		await stage().crash();
		await call;
		const [crashed] = await client.waitForExecutions({ workflowId: id });
		expect(crashed?.status).toBe('crashed');
		for (const loadWorkflow of [false, true]) {
			const retried = await client.retryExecution(crashed?.id ?? '', { loadWorkflow });
			expect(wordsOf(retried)).toContain("'Test Subscriber ID' does not work here");
		}
		expect(simulator.requests.map((request) => request.path.split('/').at(-1))).toEqual(['sid']);
	});

	test('a trigger emits each change once', async () => {
		const { client, simulator } = stage();
		const campaignId = simulator.addCampaign({ counters: { clicked: 3 } });
		const { id } = await client.createWorkflow(watchWorkflow(watch(stage(), [campaignId])));
		await client.activate(id);
		await client.waitForExecutions({ workflowId: id });
		simulator.setCounters(campaignId, { clicked: 9 });
		await client.waitForExecutions({ workflowId: id, count: 2 });
		await untilRequests(stage(), 2);
		const executions = await client.executions({ workflowId: id });
		const moves = await Promise.all(
			executions.map(async (each) => {
				const items = outputOf(await client.waitForExecution(each.id), 'End');
				return items.map(({ json }) => [json['clicked'], json['clickedBy']]);
			}),
		);
		expect(moves).toEqual([[[9, 6]], [[3, 3]]]);
		await client.deactivate(id);
	});
});
