import type { INode, INodeParameters } from 'n8n-workflow';
import { actionType, chain, connect, node, pushCampaign, pushCampaignTrigger } from '../../host';
import { secrets, useStage } from './support';
import { Editor } from './support/editor';
import { content, contentBody, everyOperation } from './support/fixtures';

const sendFields = [
	...['Title', 'Message', 'Target URL', 'Action Buttons'],
	...['Additional Fields', 'Options'],
];
const attributes = ['Specify Attributes', 'Attributes', 'Name', 'Value'];
const everywhere = [
	...['Auto Hide', 'Expire After', 'Icon URL', 'Quiet Hours'],
	...['Send At', 'Send At Timezone', 'UTM Parameters'],
];
const named = [...everywhere, 'Campaign Name'];
const readOptions = ['Max Parallel Requests', 'Rate Limit Retries', 'Timeout'];
const sendOptions = [
	'Allow Empty Parts',
	'Convert HTML to Text',
	'Dry Run',
	'Idempotency Key',
	'Max Parallel Requests',
	'Rate Limit Retries',
	'Resend Unknown',
	'Send Only Once',
	'Shorten Long Texts',
	'Test Subscriber ID',
	'Timeout',
];

/** What a user sees of each operation, in the panel's order, and what 'Add Field' and 'Add option' offer. */
const panels: Array<
	[operation: string, fields: string[], additional: string[], options: string[]]
> = [
	['Send to All', sendFields, [...named, 'Image URL'], sendOptions],
	['Send to Attributes', [...attributes, ...sendFields], named, sendOptions],
	['Send to Segments', ['Segment IDs', ...sendFields], [...named, 'Image URL'], sendOptions],
	['Send to Subscriber', ['Subscriber ID', ...sendFields], everywhere, sendOptions],
	['Get Status', ['Campaign ID', 'Simplify', 'Options'], [], readOptions],
	['Get Subscriber Count', ['Simplify', 'Options'], [], readOptions],
];

const actions = [
	'Send campaign to all subscribers',
	'Send campaign to subscribers with attributes',
	'Send campaign to segments',
	'Send campaign to one subscriber',
	'Get campaign status',
	'Get subscriber count',
];

/** What a user sees of each event of the trigger: its line in n8n's list, and its panel. */
const triggers = [
	{
		line: 'Campaign numbers change',
		event: 'campaignChanged',
		panel: ['Campaign IDs', 'Watch', 'Options'],
	},
	{
		line: 'Campaign reaches a number',
		event: 'campaignReached',
		panel: ['Campaign IDs', 'Counter', 'Number'],
	},
	{ line: 'Subscriber count changes', event: 'subscribersChanged', panel: ['Watch', 'Options'] },
	{
		line: 'Subscriber count reaches a number',
		event: 'subscribersReached',
		panel: ['Count', 'Number'],
	},
];

/** What someone types who does not know what the node is called. */
const searchWords = [
	...['push notification', 'browser notification', 'browser push', 'send notification'],
	...['notify', 'marketing', 'send push', 'mobile push', 'click rate', 'webpushr'],
	...['status', 'campaign status', 'subscriber count'],
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

	const start = node('Start', 'n8n-nodes-base.manualTrigger');

	/** Saves a workflow that starts by hand, and opens the last of its nodes. */
	const openLast = async (name: string, nodes: INode[]): Promise<string> => {
		const draft = chain(name, [start, ...nodes]);
		const { id } = await stage().client.createWorkflow({
			...draft,
			settings: { ...draft.settings, timezone: 'Europe/Oslo' },
		});
		const last = nodes.at(-1);
		if (last !== undefined) await editor.openNode(id, last);
		return id;
	};

	const action = (parameters: INodeParameters): INode =>
		pushCampaign(parameters, { credential: stage().credential });

	/** A test that keeps what the page shows if it fails. */
	const step = (title: string, work: () => Promise<void>): void => {
		test(title, async () => await editor.observed(work));
	};

	step('finds both nodes by search, with trigger and actions', async () => {
		await editor.searchNodes('push campaign');
		const found = editor.part('item-iterator-item').filter({ hasText: 'Push Campaign' });
		// n8n shows both nodes as one, with the trigger's description.
		await found.getByText('Send web push notifications, or start a workflow when').waitFor();
		await found.click();
		await editor.part('node-creator-category-item').filter({ hasText: 'Triggers (4)' }).waitFor();
		await editor.part('node-creator-category-item').filter({ hasText: 'Actions (6)' }).click();
		await editor.page.getByText('Get subscriber count').waitFor();
		const names = await editor.part('node-creator-item-name').allInnerTexts();
		expect(names.map((name) => name.trim())).toEqual([
			...triggers.map(({ line }) => line),
			...actions,
		]);
		expect(actions).toHaveLength(everyOperation.length);

		await editor.page.getByText('Send campaign to segments').click();
		await editor.part('node-parameters').waitFor();
		await editor.expectLabels((labels) => expect(labels).toContain('Segment IDs'));
	});

	/** Types each of the words into the node panel that is open, and sees the node found. */
	const expectFoundByEveryWord = async (name: string): Promise<void> => {
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
		await expectFoundByEveryWord('Push Campaign');
	});

	const agent = node('AI Agent', '@n8n/n8n-nodes-langchain.agent', {}, { typeVersion: 3.1 });

	step('finds the node by the same words among the tools of an AI Agent', async () => {
		const { id } = await stage().client.createWorkflow(chain('Agent', [start, agent]));
		await editor.openTools(id);
		await expectFoundByEveryWord('Push Campaign Tool');
	});

	step('warns of a tool that reaches many subscribers without asking', async () => {
		const tool = { ...action({ ...content }), type: `${actionType}Tool` };
		const draft = chain('Agent with a tool', [start, agent]);
		const whole = { ...draft, nodes: [...draft.nodes, tool] };
		const { id } = await stage().client.createWorkflow(
			connect(whole, tool.name, agent.name, { type: 'ai_tool' }),
		);
		await editor.openNode(id, tool);
		const notice = editor.page.getByText('The agent can send this to every subscriber');
		await notice.waitFor();
		await editor.choose('operation', 'Send to Subscriber');
		await notice.waitFor({ state: 'hidden' });
		await openLast('No tool', [action(content)]);
		await editor.expectLabels((labels) => expect(labels).toContain('Target URL'));
		expect(await notice.count()).toBe(0);
	});

	step(
		'creates the credential with four fields and tests it, and helps when its key is wrong',
		async () => {
			const { page } = editor;
			await page.goto(`${stage().server.url}/home/credentials/create`);
			await editor.part('new-credential-type-select').locator('input').fill('Push Campaign');
			await editor.part('new-credential-type-select-option').click();
			await editor.part('new-credential-type-button').click();
			const always = ['baseUrl', 'apiKey', 'authToken', 'headerNames'];
			await editor.expectFields(always);
			await editor.field('baseUrl').fill('http://push.example');
			await editor.expectFields([...always, 'allowHttp']);
			await editor.field('baseUrl').fill('https://push.example');
			await editor.expectFields(always);
			await editor.field('baseUrl').fill('  hTTp://push.example');
			await editor.expectFields([...always, 'allowHttp']);
			await editor.choose('headerNames', 'Custom', page.locator('body'));
			await editor.expectFields([...always, 'allowHttp', 'apiKeyHeader', 'authTokenHeader']);
			await editor.choose('headerNames', 'Standard', page.locator('body'));
			await editor.field('baseUrl').fill(stage().simulator.url);
			await editor.field('apiKey').fill(secrets.apiKey);
			await editor.field('authToken').fill(secrets.authToken);
			await editor.part('credential-save-button').click();
			await page.getByText('Connection tested successfully').waitFor();

			await editor.field('apiKey').fill('wrong');
			await editor.part('credential-save-button').click();
			await page.getByText('Couldn’t connect with these settings').waitFor();
			await page.getByText('More details').click();
			await page.getByText('Check API Key, Auth Token and Header Names.').waitFor();
		},
	);

	step('shows for every operation the fields that the service accepts, and no others', async () => {
		await openLast('Panels', [action({})]);
		expect(panels).toHaveLength(everyOperation.length);
		for (const [operation, fields, additional, options] of panels) {
			await editor.choose('resource', operation === 'Get Subscriber Count' ? 'Site' : 'Campaign');
			await editor.choose('operation', operation);
			await editor.expectLabels((labels) =>
				expect(labels).toEqual(['Resource', 'Operation', ...fields]),
			);
			if (additional.length > 0) {
				expect(await editor.offered('Add Field')).toEqual([...additional].sort());
			}
			expect(await editor.offered('Add option')).toEqual(options);
		}
	});

	step('keeps every field and every button, whatever is added after it', async () => {
		const additional = [...named, 'Image URL'].sort();
		await openLast('All fields', [action({})]);
		const addButton = editor.page.getByRole('button', { name: 'Add Button' });
		await addButton.click();
		for (const field of additional) await editor.add('Add Field', field);
		await addButton.click();
		for (const option of sendOptions) await editor.add('Add option', option);
		const buttons = ['Action Buttons', 'Title', 'URL', 'Title', 'URL', 'Additional Fields'];
		const inside = [
			...['Amount', 'Unit', 'From', 'To'],
			...['Source', 'Medium', 'Campaign', 'Term', 'Content', 'Add To'],
		];
		await editor.expectLabels((labels) => {
			expect(labels.slice(labels.indexOf('Action Buttons')).slice(0, 6)).toEqual(buttons);
			expect(labels).toEqual(expect.arrayContaining([...additional, ...sendOptions, ...inside]));
		});
	});

	step('says while one types what is too long, and which address is none', async () => {
		const hint = (text: string) => editor.part('node-hint').filter({ hasText: text });
		await openLast('Typing', [action(content)]);
		await editor.field('title').fill('🌷'.repeat(100));
		await editor.field('targetUrl').fill('www.example.com');
		await hint('Target URL must begin with https://').waitFor();
		expect(await hint('Title is longer').count()).toBe(0);
		await editor.field('title').fill('🌷'.repeat(101));
		await editor.field('message').fill('x'.repeat(256));
		await hint('Title is longer than the 100 characters').waitFor();
		await hint('Message is longer than the 255 characters').waitFor();
		await editor.add('Add option', 'Shorten Long Texts');
		await hint('Title is longer').waitFor({ state: 'hidden' });
		await editor.field('targetUrl').fill('http://www.example.com');
		await hint('Target URL').waitFor({ state: 'hidden' });
		await hint('Message is longer').waitFor({ state: 'hidden' });
		await editor.add('Add option', 'Idempotency Key');
		await hint('Idempotency Key is empty').waitFor();
	});

	step('shows the panel of a node whose collections are written as expressions', async () => {
		const hours = '={{ { from: "21:00", to: "08:00" } }}';
		const written = {
			options: '={{ { dryRun: true } }}',
			additionalFields: { quietHours: { hours } },
			actionButtons: { button: '={{ [] }}' },
		};
		await openLast('Expressions', [action({ ...content, ...written })]);
		await editor.expectLabels((labels) => {
			expect(labels).toEqual(expect.arrayContaining(sendFields));
		});
	});

	/** The fields that the node behind an operation shows before anything has run. */
	const outputFields = [
		{
			operation: 'sendToAttributes',
			fields: ['campaignId', 'audience', 'status', 'description', 'title', 'name', 'attributes'],
		},
		{
			operation: 'sendToSubscriber',
			fields: ['subscriberId', 'audience', 'status', 'sendAt', 'idempotencyKey'],
		},
		{
			operation: 'getStatus',
			fields: ['campaignId', 'status', 'delivered', 'clicked', 'deliveryRate', 'clickRate'],
		},
		{
			operation: 'getSubscriberCount',
			fields: ['totalLifetimeSubscribers', 'activeSubscribers'],
		},
	];

	step('shows the next node what an operation returns before anything has run', async () => {
		for (const { operation, fields } of outputFields) {
			const resource = operation === 'getSubscriberCount' ? 'site' : 'campaign';
			const next = node('Edit Fields', 'n8n-nodes-base.set', {}, { typeVersion: 3.4 });
			await openLast(`Output of ${operation}`, [action({ resource, operation }), next]);
			const input = editor.part('ndv-input-panel');
			await editor.expectTexts(input, ['Usually outputs the following fields', ...fields]);
			await editor.keepPictures(`output-of-${operation}`);
		}
		expect(stage().simulator.requests).toEqual([]);
	});

	/** What a clock in Oslo shows so many hours from now, as HH:MM. */
	const inOslo = (hours: number): string =>
		new Date(Date.now() + hours * 3_600_000).toLocaleTimeString('en-GB', {
			timeZone: 'Europe/Oslo',
			hour: '2-digit',
			minute: '2-digit',
		});

	step('schedules for the end of Quiet Hours what would go out in them', async () => {
		await openLast('Quiet Hours', [action(content)]);
		await editor.add('Add Field', 'Quiet Hours');
		expect(await editor.field('from').inputValue()).toBe('21:00');
		expect(await editor.field('to').inputValue()).toBe('08:00');
		await editor.keepPictures('quiet-hours-panel');
		await editor.field('from').fill(inOslo(-2));
		const end = inOslo(2);
		await editor.field('to').fill(end);
		const output = await editor.execute();
		await output.getByText('1 item').waitFor();
		await editor.expectHint(`${end}, Europe/Oslo`);
		await editor.expectTexts(output, ['sendAt', end]);
		await editor.keepPictures('quiet-hours-sent');
		const [sent] = stage().simulator.requests;
		expect(JSON.stringify(sent?.json)).toContain(`${end} +0`);
	});

	step('names the choice where UTM Parameters make the URL of a button too long', async () => {
		const url = 'https://shop.example/summer/sale/sandals/';
		const parameters = { source: 'web_push', medium: 'push', campaign: 'sandals_2030' };
		await openLast('UTM', [
			action({
				...content,
				actionButtons: { button: [{ title: 'Shop', url }] },
				additionalFields: { utmParameters: { parameters } },
			}),
		]);
		const output = await editor.execute();
		await editor.expectTexts(output, [
			'URL of button 1 in Action Buttons is 41 characters long, and 103 with its UTM parameters',
		]);
		await editor.keepPictures('utm-too-long');
		await editor.choose('addTo', 'Target URL Only');
		await editor.keepPictures('utm-panel');
		await editor.execute();
		await editor.expectTexts(output, ['campaignId', 'success']);
		const [sent] = stage().simulator.requests;
		expect(sent?.json).toMatchObject({ action_buttons: [{ title: 'Shop', url }] });
		expect(JSON.stringify(sent?.json)).toContain('utm_campaign=sandals_2030');
	});

	step('takes a number for a title, and says that a name is no segment ID', async () => {
		const parameters = { operation: 'sendToSegments', ...content, title: '={{ 2030 }}' };
		await openLast('Segments', [action({ ...parameters, segmentIds: 'spring buyers' })]);
		const output = await editor.execute();
		await editor.expectTexts(output, [
			'Segment IDs holds "spring buyers", which is not a segment ID',
		]);
		await editor.keepPictures('segment-name');
		await editor.field('segmentIds').fill('12');
		await editor.execute();
		await editor.expectTexts(output, ['campaignId', 'success']);
		const [sent] = stage().simulator.requests;
		expect(sent?.json).toMatchObject({ title: '2030', segment: ['12'] });
	});

	step('finds the timezone of Send At by the name of a city', async () => {
		const additionalFields = { sendAt: '2099-12-24T09:00:00' };
		await openLast('Timezone', [action({ ...content, additionalFields })]);
		// A list that is opened before it has its entries closes when they come.
		const entries = editor.page.waitForResponse(/dynamic-node-parameters\/options/);
		await editor.add('Add Field', 'Send At Timezone');
		await entries;
		await editor.part('parameter-input-sendAtTimezone').click();
		const listed = editor.part('parameter-input-item');
		await listed.filter({ hasText: 'Africa/Abidjan' }).waitFor();
		// Nothing is chosen yet, which is not shown in red.
		expect(await editor.part('parameter-issues').count()).toBe(0);
		await editor.page.keyboard.type('Berlin');
		await listed.filter({ hasText: 'Africa/Abidjan' }).waitFor({ state: 'hidden' });
		await listed.filter({ hasText: 'Europe/Berlin' }).click();
		await editor.execute();
		await editor.expectHint('Scheduled for 24 Dec 2099 09:00, Europe/Berlin.');
		const [sent] = stage().simulator.requests;
		expect(sent?.json).toEqual({ ...contentBody, send_at: '2099-12-24 09:00 +01:00' });
	});

	const twoItems = [
		node(
			'List',
			'n8n-nodes-base.set',
			{ mode: 'raw', jsonOutput: '{ "items": [1, 2] }', options: {} },
			{ typeVersion: 3.4 },
		),
		node('Items', 'n8n-nodes-base.splitOut', { fieldToSplitOut: 'items', options: {} }),
	];

	step('says that a key kept everything back', async () => {
		const keyed = action({ ...content, options: { idempotencyKey: '={{ $json.items }}' } });
		const id = await openLast('Keyed', [...twoItems, keyed]);
		const output = await editor.execute();
		await output.getByText('2 items').waitFor();
		await editor.openNode(id, keyed);
		await editor.execute();
		await editor.expectHint('0 sent, 2 sent earlier. What was sent earlier is not sent again.');
		expect(stage().simulator.requests).toHaveLength(2);
	});

	step('sends to the test subscriber alone while one tries a workflow', async () => {
		await openLast('Test', [...twoItems, action({ ...content, title: '=Item {{ $json.items }}' })]);
		await editor.add('Add option', 'Send Only Once');
		await editor
			.part('parameter-input-sendOnce')
			.getByText('Ever')
			.or(editor.field('sendOnce'))
			.first()
			.waitFor();
		await editor.add('Add option', 'Test Subscriber ID');
		await editor.field('testSubscriberId').fill('5001');
		const output = await editor.execute();
		await editor.expectHint(
			'This was a test: 2 items went to subscriber 5001, and to nobody else. When the workflow runs by itself, it sends to all subscribers.',
		);
		await editor.expectTexts(output, ['subscriberId', 'audience', 'test']);
		await editor.keepPictures('test-subscriber');
		expect(stage().simulator.requests.map(({ path }) => path.split('/').at(-1))).toEqual([
			...['sid', 'sid'],
		]);
		await editor.add('Add option', 'Dry Run');
		await editor.execute();
		await editor.expectHint('Nothing was sent: this was a dry run.');
		expect(await editor.part('node-hint').filter({ hasText: 'sent earlier' }).count()).toBe(0);
		await editor.keepPictures('dry-run-with-send-only-once');
	});

	step('sends nothing once Dry Run is added, and shows what would go out', async () => {
		const title = 'Tom & <i>Jerry</i>';
		const button = [{ title: 'Shop now', url: 'https://shop.example.com/sale' }];
		await openLast('Dry run', [action({ ...content, title, actionButtons: { button } })]);
		await editor.add('Add option', 'Dry Run');
		const output = await editor.execute();
		await editor.expectHint('It would go to all 10,000 active subscribers right away:');
		await editor.expectHint(
			`${title}\n${content.message}\nexample.com\n[Shop now] shop.example.com`,
		);
		await editor.keepPictures('dry-run');
		// The other one says that the title holds HTML.
		expect(await editor.part('node-hint').count()).toBe(2);
		await editor.expectTexts(output, ['audience', 'title', 'dryRun', 'request']);
		await editor.page.keyboard.press('Escape');
		const onCanvas = editor.part('canvas-node').filter({ hasText: 'Push Campaign' });
		await onCanvas.getByText('Send to All (dry run)', { exact: true }).waitFor();
		expect(stage().simulator.requests.map(({ method }) => method)).toEqual(['GET']);
	});

	step('shows in a dry run which items would not be sent, and why', async () => {
		const good = { title: 'Sale', to: '5001', url: 'https://example.com', at: 'now' };
		const table = [
			good,
			{ ...good, title: '' },
			{ ...good, title: 'x'.repeat(101) },
			{ ...good, to: 'me' },
			{ ...good, url: 'example.com' },
			{ ...good, at: '2020-01-01T09:00' },
			{ ...good, title: '' },
		];
		const jsonOutput = JSON.stringify({ items: table });
		const rows = [
			node(
				'Table',
				'n8n-nodes-base.set',
				{ mode: 'raw', jsonOutput, options: {} },
				{ typeVersion: 3.4 },
			),
			node('Items', 'n8n-nodes-base.splitOut', { fieldToSplitOut: 'items', options: {} }),
		];
		const checked = action({
			operation: 'sendToSubscriber',
			subscriberId: '={{ $json.to }}',
			title: '={{ $json.title }}',
			message: 'Today',
			targetUrl: '={{ $json.url }}',
			additionalFields: { sendAt: '={{ $json.at }}' },
			options: { dryRun: true },
		});
		const id = await openLast('Dry run of a table', [...rows, checked]);
		const output = await editor.execute();
		await output.getByText('7 items').waitFor();
		await editor.openNode(id, checked);
		await editor.execute();
		await editor.expectHint('1 of 7 would be sent. 6 of 7 would not be sent:');
		await editor.expectHint(
			'Title is empty for this item: its expression returned nothing: items 1, 6',
		);
		await editor.expectHint('The one to be sent would go to subscriber 5001 right away:');
		await editor.expectTexts(output, ['dryRun', 'error', 'notSent']);
		await editor.keepPictures('dry-run-of-a-table');
		expect(stage().simulator.requests).toEqual([]);
	});

	step('says that a send to one subscriber has no campaign ID to read the status of', async () => {
		const send = action({ ...content, operation: 'sendToSubscriber', subscriberId: '5001' });
		const status = { ...action({ operation: 'getStatus' }), name: 'Status' };
		await openLast('Status of one', [send, status]);
		await editor.execute();
		const shown = 'Campaign ID is empty: a send to one subscriber has no campaign ID';
		await editor.part('output-panel').getByText(shown).first().waitFor();
		await editor.keepPictures('status-of-one');
	});

	step('shows which items failed, and why, if the node continues', async () => {
		const failing = {
			...action({ ...content, title: '={{ $json.items === 1 ? "One" : "" }}' }),
			onError: 'continueRegularOutput',
		} as const;
		const id = await openLast('Continue', [...twoItems, failing]);
		const output = await editor.execute();
		await output.getByText('2 items').waitFor();
		await editor.openNode(id, failing);
		await editor.execute();
		const reason = 'Title is empty for this item: its expression returned nothing';
		await editor.expectHint(`1 sent, 1 not sent (item 1: ${reason}). See the error column.`);
		await editor.expectTexts(output, ['status', 'notSent', 'description', reason, 'error']);
		await editor.keepPictures('continue');
	});

	step('takes everything that a user fills in, sends it, and shows the answer', async () => {
		await openLast('Everything', [action({ operation: 'sendToAttributes' })]);
		await editor.field('name').fill('plan');
		await editor.field('value').fill('pro');
		await editor.field('title').fill(content.title);
		await editor.field('message').fill(content.message);
		await editor.field('targetUrl').fill(content.targetUrl);
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
		const output = await editor.execute();
		await output.getByText('1 item').waitFor();
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

	step('is readable in the dark', async () => {
		await editor.page.emulateMedia({ colorScheme: 'dark' });
		try {
			await openLast('Dark', [action(content)]);
			const output = await editor.execute();
			await output.getByText('1 item').waitFor();
			const icons = editor.page.locator('img[src*="pushCampaign.dark.svg"]');
			await icons.filter({ visible: true }).first().waitFor();
			await editor.searchNodes('push campaign');
			await icons.filter({ visible: true }).first().waitFor();
		} finally {
			await editor.page.emulateMedia({ colorScheme: 'light' });
		}
	});

	describe('the trigger', () => {
		for (const { line, event, panel } of triggers) {
			step(`shows the fields of "${line}", and no others`, async () => {
				const trigger = pushCampaignTrigger({ event }, { credential: stage().credential });
				const { id } = await stage().client.createWorkflow(chain(line, [trigger]));
				await editor.openNode(id, trigger);
				await editor.expectLabels((labels) => {
					expect(labels.slice(labels.indexOf('Trigger On'))).toEqual(['Trigger On', ...panel]);
				});
			});
		}
	});
});
