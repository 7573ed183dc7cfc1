import { chain, node, outputOf, pushCampaignTrigger } from '../../host';
import { useStage } from './support';
import { testOperations } from './support/operations';
import {
	acceptedTitles,
	byTitle,
	refusal,
	sendWorkflow,
	statusesOf,
	titled,
	titlesOf,
	untilRequests,
} from './support/sends';

describe('on n8n 1.123', () => {
	const stage = useStage({ major: '1' });

	testOperations(stage);

	test('Retry sends the rest of a batch that failed, and nothing twice', async () => {
		stage().simulator.addFault(refusal('Item 30'));
		const workflow = await sendWorkflow(stage());
		const failed = await workflow.run(titled('Item', 60));
		expect(failed.status).toBe('error');
		expect((await stage().client.retryExecution(failed.id)).status).toBe('success');
		expect(acceptedTitles(stage()).sort()).toEqual(titlesOf('Item', 60).sort());
	});

	test('Send Only Once sends the same items once', async () => {
		const workflow = await sendWorkflow(stage(), { options: byTitle });
		expect(statusesOf(await workflow.run(titled('Once', 2)))).toEqual(['success', 'success']);
		expect(statusesOf(await workflow.run(titled('Once', 2)))).toEqual([
			...['alreadySent', 'alreadySent'],
		]);
		expect(acceptedTitles(stage()).sort()).toEqual(titlesOf('Once', 2));
	});

	test('a trigger emits each change once', async () => {
		const { client, simulator, credential } = stage();
		const campaignIds = simulator.addCampaign({ counters: { clicked: 3 } });
		const { id } = await client.createWorkflow(
			chain('Watch', [
				pushCampaignTrigger({ campaignIds }, { credential }),
				node('Then', 'n8n-nodes-base.noOp'),
			]),
		);
		await client.activate(id);
		await client.waitForExecutions({ workflowId: id });
		simulator.setCounters(campaignIds, { clicked: 9 });
		await client.waitForExecutions({ workflowId: id, count: 2 });
		await untilRequests(stage(), 2);
		const executions = await client.executions({ workflowId: id });
		const changes = await Promise.all(
			executions.map(async (each) =>
				outputOf(await client.waitForExecution(each.id), 'Then').map(({ json }) => json['changes']),
			),
		);
		expect(changes).toEqual([
			[{ clicked: { from: 3, to: 9, by: 6 } }],
			[expect.objectContaining({ clicked: { from: 0, to: 3, by: 3 } })],
		]);
		await client.deactivate(id);
	});
});
