import type { INode, INodeParameters } from 'n8n-workflow';
import { chain, node, pushCampaign, pushCampaignTrigger } from '../../host';
import { secrets, useStage } from './support';
import { Editor } from './support/editor';
import { content, contentBody, everyOperation } from './support/fixtures';
import { objectWith } from './support/matchers';

const campaign = 'Campaign';
const sendFields = ['Title', 'Message', 'Target URL', 'Additional Fields', 'Options'];
const everywhere = [
	'Action Buttons',
	'Auto Hide',
	'Expire After',
	'Icon URL',
	'Send At',
	'Send At Timezone',
	'UTM Parameters',
];
const sendOptions = [
	'Dry Run',
	'Idempotency Key',
	'Max Parallel Requests',
	'Rate Limit Retries',
	'Resend Unknown',
	'Shorten Long Texts',
	'Timeout',
];
const readOptions = ['Max Parallel Requests', 'Rate Limit Retries', 'Timeout'];

interface Panel {
	resource: string;
	operation: string;
	/** The operation as it is saved. */
	value: string;
	fields: string[];
	/** What 'Add Field' offers; the operations that read have none. */
	additional?: string[];
	options: string[];
}

/** What a user sees of each operation, in the order of the panel. */
const panels: Panel[] = [
	{
		resource: campaign,
		operation: 'Send to All',
		value: 'sendToAll',
		fields: sendFields,
		additional: [...everywhere, 'Campaign Name', 'Image URL'],
		options: sendOptions,
	},
	{
		resource: campaign,
		operation: 'Send to Attributes',
		value: 'sendToAttributes',
		fields: ['Specify Attributes', 'Attributes', 'Name', 'Value', ...sendFields],
		additional: [...everywhere, 'Campaign Name'],
		options: sendOptions,
	},
	{
		resource: campaign,
		operation: 'Send to Segments',
		value: 'sendToSegments',
		fields: ['Segment IDs', ...sendFields],
		additional: [...everywhere, 'Campaign Name', 'Image URL'],
		options: sendOptions,
	},
	{
		resource: campaign,
		operation: 'Send to Subscriber',
		value: 'sendToSubscriber',
		fields: ['Subscriber ID', ...sendFields],
		additional: everywhere,
		options: sendOptions,
	},
	{
		resource: campaign,
		operation: 'Get Status',
		value: 'getStatus',
		fields: ['Campaign ID', 'Simplify', 'Options'],
		options: readOptions,
	},
	{
		resource: 'Site',
		operation: 'Get Subscriber Count',
		value: 'getSubscriberCount',
		fields: ['Simplify', 'Options'],
		options: readOptions,
	},
];

const actions = [
	'Send campaign to all subscribers',
	'Send campaign to subscribers with attributes',
	'Send campaign to segments',
	'Send campaign to one subscriber',
	'Get campaign status',
	'Get subscriber count',
];

/** What someone types who does not know what the node is called. */
const searchWords = [
	'push notification',
	'browser notification',
	'browser push',
	'send notification',
	'notify',
	'marketing',
];

describe("n8n's editor", () => {
	const stage = useStage({ major: '2', editor: true });
	let editor: Editor;

	beforeAll(async () => {
		editor = await Editor.open(stage().server.url);
	}, 400_000);

	afterAll(async () => {
		await editor.close();
	}, 60_000);

	/** Saves a workflow that starts by hand, and opens the last of its nodes. */
	const openLast = async (name: string, nodes: INode[]): Promise<void> => {
		const start = node('Start', 'n8n-nodes-base.manualTrigger');
		const draft = chain(name, [start, ...nodes]);
		const { id } = await stage().client.createWorkflow({
			...draft,
			settings: { ...draft.settings, timezone: 'Europe/Oslo' },
		});
		const last = nodes.at(-1);
		if (last !== undefined) await editor.openNode(id, last);
	};

	const action = (parameters: INodeParameters): INode =>
		pushCampaign(parameters, { credential: stage().credential });

	/** A test that keeps a picture of where it failed. */
	const step = (title: string, work: () => Promise<void>): void => {
		test(title, async () => {
			try {
				await work();
			} catch (error) {
				await editor.picture(`failed-${title.replace(/\W+/g, '-')}`);
				throw error;
			}
		});
	};

	step('finds both nodes by search, with icon, trigger and actions', async () => {
		await editor.searchNodes('push campaign');
		const found = editor.part('item-iterator-item').filter({ hasText: 'Push Campaign' });
		await found.getByText('Starts the workflow when').waitFor();
		await editor.picture('01-search');
		const icon = await found.locator('img').first().getAttribute('src');
		const answer = await fetch(new URL(icon ?? '', stage().server.url));
		expect(answer.headers.get('content-type')).toContain('image/svg+xml');

		await found.click();
		await editor.part('node-creator-category-item').filter({ hasText: 'Triggers (1)' }).waitFor();
		await editor.part('node-creator-category-item').filter({ hasText: 'Actions (6)' }).click();
		await editor.page.getByText('Get subscriber count').waitFor();
		await editor.picture('02-actions');
		const names = await editor.part('node-creator-item-name').allInnerTexts();
		expect(names.map((name) => name.trim())).toEqual(['On new Push Campaign event', ...actions]);
		expect(actions).toHaveLength(everyOperation.length);

		await editor.page.getByText('Send campaign to segments').click();
		await editor.part('node-parameters').waitFor();
		await editor.expectLabels((labels) => expect(labels).toContain('Segment IDs'));
	});

	/** Types each of the words into the node panel that is open, and sees the node found. */
	const findByEveryWord = async (name: string): Promise<void> => {
		const found = editor
			.part('item-iterator-item')
			.filter({ has: editor.page.getByText(name, { exact: true }) });
		for (const word of searchWords) {
			// What the word before it had found must be gone first.
			await editor.search('no node has such a name');
			await found.first().waitFor({ state: 'hidden' });
			await editor.search(word);
			await found.first().waitFor();
		}
	};

	step('finds both nodes by what people call push notifications', async () => {
		await editor.searchNodes('');
		await findByEveryWord('Push Campaign');
		// Nodes that start a workflow come first here: the trigger stands for both.
		await editor.part('item-iterator-item').first().click();
		await editor.part('node-creator-category-item').filter({ hasText: 'Triggers (1)' }).waitFor();
		await editor.part('node-creator-category-item').filter({ hasText: 'Actions (6)' }).waitFor();
	});

	step('finds the node by the same words among the tools of an AI Agent', async () => {
		const agent = node('AI Agent', '@n8n/n8n-nodes-langchain.agent', {}, { typeVersion: 3.1 });
		const start = node('Start', 'n8n-nodes-base.manualTrigger');
		const { id } = await stage().client.createWorkflow(chain('Agent', [start, agent]));
		await editor.openTools(id);
		await findByEveryWord('Push Campaign Tool');
		await editor.picture('02-tools');
	});

	step('creates the credential and tests it, and helps when its key is wrong', async () => {
		const { page } = editor;
		await page.goto(`${stage().server.url}/home/credentials/create`);
		await editor.part('new-credential-type-select').locator('input').fill('Push Campaign');
		await editor.part('new-credential-type-select-option').click();
		await editor.part('new-credential-type-button').click();
		await editor.field('baseUrl').fill(stage().simulator.url);
		await editor.field('apiKey').fill(secrets.apiKey);
		await editor.field('authToken').fill(secrets.authToken);
		await editor.picture('03-credential');
		await editor.part('credential-save-button').click();
		await page.getByText('Connection tested successfully').waitFor();
		await editor.picture('04-credential-works');

		await editor.field('apiKey').fill('wrong');
		await editor.part('credential-save-button').click();
		await page.getByText('Couldn’t connect with these settings').waitFor();
		await page.getByText('More details').click();
		await page.getByText('The push service does not accept this API Key and Auth Token').waitFor();
		await editor.picture('05-credential-refused');
	});

	step('shows for every operation the fields that the service accepts, and no others', async () => {
		await openLast('Panels', [action({})]);
		expect(panels.map(({ value }) => value)).toEqual(everyOperation);
		for (const { resource, operation, fields, additional, options } of panels) {
			await editor.choose('resource', resource);
			await editor.choose('operation', operation);
			await editor.expectLabels((labels) =>
				expect(labels).toEqual(['Resource', 'Operation', ...fields]),
			);
			if (additional !== undefined) {
				expect(await editor.offered('Add Field')).toEqual([...additional].sort());
			}
			expect(await editor.offered('Add option')).toEqual(options);
			await editor.picture(`06-${operation.toLowerCase().replaceAll(' ', '-')}`);
		}
		await editor.choose('resource', campaign);
		await editor.choose('operation', 'Send to Attributes');
		await editor.choose('specifyAttributes', 'Using JSON');
		await editor.expectLabels((labels) => {
			expect(labels).toContain('Attributes (JSON)');
			expect(labels).not.toContain('Attributes');
		});
	});

	for (const { operation, value, additional, options } of panels) {
		if (additional === undefined) continue;
		step(`keeps every field of ${operation}, whatever is added after it`, async () => {
			await openLast(`All of ${operation}`, [action({ operation: value })]);
			for (const field of [...additional].sort()) {
				await editor.add('Add Field', field);
				// n8n's editor begins every list without an entry, and forgets it so.
				if (field === 'Action Buttons') {
					await editor.page.getByRole('button', { name: 'Add Button' }).click();
				}
			}
			for (const option of options) await editor.add('Add option', option);
			const inside = ['URL', 'Amount', 'Unit', 'Source', 'Medium', 'Campaign', 'Term', 'Content'];
			await editor.expectLabels((labels) =>
				expect(labels).toEqual(expect.arrayContaining([...additional, ...options, ...inside])),
			);
			await editor.picture(`06-all-of-${value}`);
		});
	}

	/** Two items, made from nothing. */
	const twoItems = [
		node(
			'Titles',
			'n8n-nodes-base.set',
			{ mode: 'raw', jsonOutput: '{"items": [1, 2]}', options: {} },
			{ typeVersion: 3.4 },
		),
		node('Items', 'n8n-nodes-base.splitOut', { fieldToSplitOut: 'items', options: {} }),
	];

	step('says beforehand that each item becomes a campaign', async () => {
		await openLast('Two items', [...twoItems, action(content)]);
		await editor.page.getByText('Execute previous nodes').click();
		const hint = 'Each input item becomes a campaign of its own.';
		await editor.part('node-hint').filter({ hasText: hint }).waitFor();
		expect(stage().simulator.requests).toEqual([]);
	});

	step('says afterwards when it sends', async () => {
		const additionalFields = { sendAt: '2099-12-24T09:00:00', sendAtTimezone: 'Asia/Tokyo' };
		await openLast('Two scheduled', [...twoItems, action({ ...content, additionalFields })]);
		await editor.execute();
		const hint = '2 sends are scheduled for 24 Dec 2099 09:00, Asia/Tokyo.';
		await editor.part('node-hint').filter({ hasText: hint }).waitFor();
		await editor.picture('08-scheduled');
		expect(stage().simulator.requests).toHaveLength(2);
	});

	step('says that a dry run sent nothing, on the canvas too', async () => {
		await openLast('Dry run', [action({ ...content, options: { dryRun: true } })]);
		await editor.execute();
		await editor.part('node-hint').filter({ hasText: 'Nothing was sent' }).waitFor();
		expect(await editor.part('node-hint').count()).toBe(1);
		await editor.page.keyboard.press('Escape');
		const onCanvas = editor.part('canvas-node').filter({ hasText: 'Push Campaign' });
		await onCanvas.getByText('Send to All (dry run)', { exact: true }).waitFor();
		expect(stage().simulator.requests).toEqual([]);
	});

	step('takes everything that a user fills in, sends it, and shows the answer', async () => {
		await openLast('Everything', [action({ operation: 'sendToAttributes' })]);
		await editor.field('name').fill('plan');
		await editor.field('value').fill('pro');
		await editor.field('title').fill(content.title);
		await editor.field('message').fill(content.message);
		await editor.field('targetUrl').fill(content.targetUrl);
		await editor.add('Add Field', 'Action Buttons');
		await editor.page.getByRole('button', { name: 'Add Button' }).click();
		await editor.field('url').fill('https://example.com/shop');
		await editor
			.part('fixed-collection-actionButtons')
			.locator('[data-test-id="parameter-input-title"] input')
			.fill('Shop now');
		await editor.add('Add Field', 'Expire After');
		await editor.field('amount').fill('3');
		await editor.choose('unit', 'Hours');
		await editor.add('Add Field', 'Auto Hide');
		await editor.part('parameter-input-autoHide').locator('.el-switch').click();
		await editor.add('Add Field', 'Send At');
		await editor.field('sendAt').fill('2099-05-01 10:00:00');
		await editor.field('sendAt').press('Enter');
		await editor.picture('07-filled-in');
		const output = await editor.execute();
		await output.getByText('1 item').waitFor();
		await editor.picture('08-sent');
		await editor.expectTexts(output, [
			'campaignId',
			'1001',
			'attributes',
			'2099-05-01 10:00 +02:00',
		]);
		expect(stage().simulator.requests.map(({ json }) => json)).toEqual([
			{
				...contentBody,
				attribute: { plan: 'pro' },
				action_buttons: [{ title: 'Shop now', url: 'https://example.com/shop' }],
				expire_push: '3h',
				auto_hide: 1,
				send_at: '2099-05-01 10:00 +02:00',
			},
		]);
	});

	step('says which item is not valid, and why', async () => {
		const items = JSON.stringify({ items: [{ title: 'Short' }, { title: 'long '.repeat(30) }] });
		await openLast('Not valid', [
			node(
				'Titles',
				'n8n-nodes-base.set',
				{ mode: 'raw', jsonOutput: items, options: {} },
				{ typeVersion: 3.4 },
			),
			node('Items', 'n8n-nodes-base.splitOut', { fieldToSplitOut: 'items', options: {} }),
			action({ ...content, title: '={{ $json.title }}' }),
		]);
		const output = await editor.execute();
		await output.getByText('Title is 150 characters long').first().waitFor();
		await editor.picture('09-not-valid');
		await editor.expectTexts(output, ['item 1']);
		expect(stage().simulator.requests).toEqual([]);
	});

	step('is readable in the dark', async () => {
		await editor.page.emulateMedia({ colorScheme: 'dark' });
		try {
			await openLast('Dark', [action(content)]);
			const output = await editor.execute();
			await output.getByText('1 item').waitFor();
			await editor.picture('10-dark');
			const icons = editor.page.locator('img[src*="pushCampaign.dark.svg"]');
			await icons.filter({ visible: true }).first().waitFor();
			await editor.searchNodes('push campaign');
			await icons.filter({ visible: true }).first().waitFor();
			await editor.picture('11-dark-search');
		} finally {
			await editor.page.emulateMedia({ colorScheme: 'light' });
		}
	});

	step("fetches the trigger's test event", async () => {
		const { client, simulator, credential } = stage();
		simulator.addCampaign({ id: '2001', status: 'Sent', counters: { delivered: 40, clicked: 7 } });
		const trigger = pushCampaignTrigger(
			{ campaignIds: '2001', pollTimes: { item: [{ mode: 'everyMinute' }] } },
			{ credential },
		);
		const { id } = await client.createWorkflow(chain('Watch', [trigger]));
		await editor.openNode(id, trigger);
		await editor.expectLabels((labels) =>
			expect(labels).toEqual(
				expect.arrayContaining(['Poll Times', 'Campaign IDs', 'Counters', 'Options']),
			),
		);
		await editor.part('trigger-execute-button').first().click();
		const output = editor.part('output-panel');
		await output.getByText('1 item').waitFor();
		await editor.picture('12-test-event');
		await editor.expectTexts(output, ['2001', 'delivered:40', 'clicked:7', 'firstSeen']);
		expect(simulator.requests.map(({ path }) => path)).toEqual(['/v1/notification/status/id/2001']);
		expect(await client.workflow(id)).toEqual(objectWith({ staticData: null }));
	});
});
