import type { INode } from 'n8n-workflow';
import { chain, node, pushCampaign, webhookWorkflow } from '../../host';
import { content, secrets, useStage } from './support';
import { Editor } from './support/editor';
import { expectSent, listOf, refusal, restGoesOut, titled, titlesOf } from './support/sends';
import { publish } from './support/workflows';

// What a person sees, step by step; each step leaves a picture in `.artifacts/screenshots`.

describe("n8n's editor", () => {
	const stage = useStage({ editor: true });
	let editor: Editor;

	beforeAll(async () => {
		editor = await Editor.open(stage().server.url);
	});
	afterEach(async () => {
		const title = expect.getState().currentTestName ?? 'step';
		await editor.keepPicture(title.replace(/\W+/g, '-'));
	});
	afterAll(async () => {
		await editor.close();
	});

	const start = node('Start', 'n8n-nodes-base.manualTrigger');

	/** Saves a workflow that starts by hand, and opens the last of its nodes. */
	const openLast = async (nodes: INode[]): Promise<void> => {
		const { id } = await stage().client.createWorkflow(chain('Steps', [start, ...nodes]));
		const last = nodes.at(-1);
		if (last !== undefined) await editor.openNode(id, last);
	};

	test('tests the credential when it is saved: with a wrong key, and with the right one', async () => {
		const { page } = editor;
		await page.goto(`${stage().server.url}/home/credentials/create`);
		await editor.part('new-credential-type-select').locator('input').fill('Push Campaign');
		await editor.part('new-credential-type-select-option').click();
		await editor.part('new-credential-type-button').click();
		await editor.field('baseUrl').fill(stage().simulator.url);
		await editor.field('apiKey').fill('wrong');
		await editor.field('authToken').fill(secrets.authToken);
		await editor.part('credential-save-button').click();
		await page.getByText('Couldn’t connect with these settings').waitFor();
		await editor.field('apiKey').fill(secrets.apiKey);
		await editor.part('credential-save-button').click();
		await page.getByText('Connection tested successfully').waitFor();
	});

	test('finds the node by what people call it, and sends a first campaign', async () => {
		const { page } = editor;
		await editor.searchNodes('push notification');
		const found = editor.part('item-iterator-item').filter({ hasText: 'Push Campaign' });
		await found.first().click();
		await editor.part('node-creator-category-item').filter({ hasText: 'Triggers (4)' }).waitFor();
		await editor.part('node-creator-category-item').filter({ hasText: 'Actions (6)' }).click();
		await page.getByText('Send campaign to all subscribers').click();
		await editor.part('node-parameters').waitFor();
		await editor.expectLabels([
			...['Resource', 'Operation', 'Title', 'Message', 'Target URL'],
			...['Action Buttons', 'Additional Fields', 'Options'],
		]);

		await openLast([pushCampaign({}, { credential: stage().credential })]);
		for (const [name, value] of Object.entries(content)) await editor.field(name).fill(value);
		const output = await editor.execute();
		await editor.expectHint('Sent to all subscribers.');
		await editor.expectTexts(output, ['campaignId', 'success']);
		const [sent] = stage().simulator.requests;
		expect(sent?.json).toEqual({
			title: content.title,
			message: content.message,
			target_url: content.targetUrl,
		});
	});

	test('shows in a dry run what subscribers would see, and sends nothing', async () => {
		await openLast([
			pushCampaign({ ...content, title: 'Tom & <i>Jerry</i>' }, { credential: stage().credential }),
		]);
		await editor.add('Add option', 'Dry Run');
		await editor.execute();
		await editor.expectHint('Nothing was sent: this was a dry run.');
		await editor.expectHint('all 10,000 active subscribers');
		await editor.expectHint(`Tom & <i>Jerry</i>\n${content.message}\n${content.targetUrl}`);
		expect(stage().simulator.requests.map(({ method }) => method)).toEqual(['GET']);
	});

	const people = titled('For', 10);
	const toAll = () =>
		pushCampaign({ ...content, title: '={{ $json.title }}' }, { credential: stage().credential });
	const refused = {
		...refusal('For 10'),
		action: { kind: 'failure', type: 'invalid_value', description: 'No' },
	} as const;

	test("'Retry with currently saved workflow' in the list of executions sends the rest", async () => {
		stage().simulator.addFault(refused);
		const { client } = stage();
		const workflow = await publish(stage(), (path) => webhookWorkflow(path, [toAll()]));
		const failed = await workflow.run(people);
		await editor.openExecution(workflow.id, failed.id);
		await editor.retryWithSavedWorkflow();
		const filter = { workflowId: workflow.id, mode: 'retry' };
		const [retried] = await client.waitForExecutions(filter);
		expect(retried?.status).toBe('success');
		expectSent(stage(), ...titlesOf('For', 10));
	});

	test('says of a partly failed run what was sent, and one next step', async () => {
		stage().simulator.addFault(refusal('Third'));
		const titles = ['First', 'Second', 'Third'].map((title) => ({ title }));
		const parameters = { ...content, title: '={{ $json.title }}' };
		await openLast([
			...listOf(titles),
			pushCampaign(parameters, { credential: stage().credential }),
		]);
		const output = await editor.execute();
		await editor.expectTexts(output, [
			'2 of these 3 were sent',
			'Something went wrong',
			restGoesOut,
		]);
		const text = await output.innerText();
		expect(text.match(/2 of these 3 were sent/g)).toHaveLength(1);
		expect(text.match(/Something went wrong/g)).toHaveLength(1);
	});
});
