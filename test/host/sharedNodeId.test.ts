import { randomUUID } from 'node:crypto';
import type { INodeParameters } from 'n8n-workflow';
import { pushCampaign, webhookWorkflow } from '../../host';
import { useStage } from './support';
import { content } from './support/fixtures';
import { acceptedTitles, failureOf } from './support/reliabilityWorkflow';

// n8n 2.41 refuses such a workflow ("duplicate_node_id"), n8n 1 saves it.
describe('two nodes with one ID in a workflow of n8n 1.x', () => {
	const stage = useStage({ major: '1' });

	/** Runs a workflow in which 'First' and 'Second' have the same ID. */
	async function runTwins(options: INodeParameters) {
		const { client, credential } = stage();
		const id = randomUUID();
		const path = `twins-${id}`;
		const twins = ['First', 'Second'].map((name) => ({
			...pushCampaign({ ...content, title: name, options }, { name, credential }),
			id,
		}));
		const workflow = await client.createWorkflow(webhookWorkflow(path, twins));
		await client.activate(workflow.id);
		await client.runWebhook(path, { items: [{}] });
		const [ended] = await client.waitForExecutions({ workflowId: workflow.id });
		return await client.waitForExecution(ended?.id ?? '');
	}

	test('two nodes with one ID refuse an idempotency key, because they would share their keys', async () => {
		const run = await runTwins({ idempotencyKey: 'order-1042' });
		expect(failureOf(run).message).toContain('"Second" has the same node ID');
		expect(acceptedTitles(stage())).toEqual([]);
	});

	test('two nodes with one ID both send if they have no key', async () => {
		expect((await runTwins({})).status).toBe('success');
		expect(acceptedTitles(stage())).toEqual(['First', 'Second']);
	});
});
