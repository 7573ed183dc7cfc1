import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DateTime } from 'luxon';
import { z } from 'zod';
import { N8nClient, outputOf, startN8n, type N8nServer, type Row } from '../../host';
import { chooseCredential, exampleFile, parseWorkflow } from '../../host/demo/examples';
import {
	access,
	demoOwner,
	demoWorkflows,
	prepareDemo,
	readExamples,
	type DemoState,
} from '../../host/demo/prepare';
import { addDemoCampaign, fillIn, sampleRows } from '../../host/demo/samples';
import { startSimulator, type Simulator } from '../../simulator';
import { tarball } from './support';

/** An example that sends what is new, by its name. */
interface Example {
	name: string;
	/** The nodes that start it and that send. */
	start: string;
	last: string;
	/** What nodes give, by their names, and status and key of each item that comes out then. */
	runs: Array<{ pins: Record<string, object[]>; rows: Array<[status: string, key: string]> }>;
}

const byHand = 'When clicking ‘Execute workflow’';

describe('what npm start prepares', () => {
	let folder: string;
	let server: N8nServer;
	let simulator: Simulator;
	let client: N8nClient;
	let state: DemoState;

	const prepare = async (before: DemoState) =>
		await prepareDemo(client, before, simulator.url, sampleRows(Date.now(), 'Europe/Berlin'));

	beforeAll(async () => {
		folder = await mkdtemp(join(tmpdir(), 'demo-'));
		const { apiKey: serviceKey, authToken } = access;
		simulator = await startSimulator({ serviceKey, authToken });
		addDemoCampaign(simulator, Date.now());
		const env = { N8N_DISABLE_UI: 'true', GENERIC_TIMEZONE: 'Europe/Berlin' };
		server = await startN8n({ major: '2', userFolder: folder, tarball: await tarball(), env });
		client = new N8nClient(server.url);
		const ports = { n8n: server.port, service: 0 };
		const prepared = await prepare({ since: Date.now(), ports, workflows: {} });
		expect(prepared.isLoginChanged).toBe(false);
		state = prepared.state;
	});
	afterAll(async () => {
		await server.stop();
		await simulator.close();
		await rm(folder, { recursive: true, force: true, maxRetries: 10 });
	});

	const idOf = (name: string) => state.workflows[name] ?? '';
	const exampleText = async (name: string) => await readFile(exampleFile(name), 'utf8');

	test('every example is there, and the first workflow sends and reads its numbers', async () => {
		const examples = await readExamples();
		const listed = await client.workflows();
		expect(listed.map(({ name }) => name).sort()).toEqual(
			examples.map(({ draft }) => draft.name).sort(),
		);
		expect(listed.filter(({ active }) => active).map(({ id }) => id)).toEqual([
			idOf(demoWorkflows.watching),
		]);
		const execution = await client.runManually(idOf(demoWorkflows.first), byHand);
		expect(execution.status).toBe('success');
		const [numbers] = outputOf(execution, 'Read the numbers');
		expect(numbers?.json).toMatchObject({ campaignId: '1002' });
	});

	test('the first workflow ends green in front of what reads the numbers if it only showed what would be sent', async () => {
		const text = await exampleText(demoWorkflows.first);
		const { id } = await importText(
			fillIn(text).replace('"options": {}', '"options": { "dryRun": true }'),
		);
		const execution = await client.runManually(id, byHand);
		expect(execution.status).toBe('success');
		expect(execution.data.resultData.runData).not.toHaveProperty('Wait');
		await client.request('POST', `workflows/${id}/archive`);
	});

	test('n8n listens to this machine alone', async () => {
		// Linux has all of 127.0.0.0/8, so what listens to the network answers there.
		const elsewhere = server.url.replace('127.0.0.1', '127.0.0.2');
		await expect(fetch(elsewhere)).rejects.toThrow('fetch failed');
	});

	test('its own workflow reports what the demo campaign did', async () => {
		const workflowId = idOf(demoWorkflows.watching);
		const [first] = (await client.waitForExecutions({ workflowId })).slice(-1);
		const [report] = outputOf(await client.waitForExecution(first?.id ?? ''), 'Put it into words');
		expect(report?.json['report']).toMatch(/^Campaign 1001: \w+ \+\d/);
	});

	const table = async (name: string) => {
		const withId = z.object({ id: z.string() });
		const { id: project } = withId.parse(await client.request('GET', 'projects/personal'));
		const path = `projects/${project}/data-tables`;
		const filter = encodeURIComponent(JSON.stringify({ name }));
		const found = await client.request('GET', `${path}?filter=${filter}`);
		const [first] = z.object({ data: z.array(withId) }).parse(found).data;
		return `${path}/${first?.id}/rows`;
	};
	/** What a user writes into the rows of a data table that have this state. */
	const write = async (name: string, state: string, data: Row) => {
		const filters = [{ columnName: 'state', condition: 'eq', value: state }];
		const filter = { type: 'and', filters };
		await client.request('PATCH', await table(name), { filter, data });
	};
	const rowsIn = async (name: string) => {
		const rows = z.object({ data: z.array(z.record(z.unknown())) });
		return rows.parse(await client.request('GET', await table(name))).data;
	};
	const statesIn = async (name: string) => (await rowsIn(name)).map((row) => row['state']);

	const today = DateTime.now().setZone('Europe/Berlin').toFormat('yyyy-MM-dd');
	const sends = () => simulator.requests.filter(({ method }) => method === 'POST');

	/** Creates an example as it sends once it is published: its user tries nothing, so that keys count. */
	const importExample = async (name: string) =>
		await importText((await exampleText(name)).replace(/,\s*"testSubscriberId": ""/, ''));
	const importText = async (text: string) => {
		const { credential } = state;
		if (credential === undefined) throw new Error('There is no credential');
		const { draft } = parseWorkflow(text);
		return await client.createWorkflow(
			chooseCredential(draft, 'n8n-nodes-push-campaign.', credential),
		);
	};
	/** Pins what some nodes of a workflow give. */
	const pin = async (id: string, items: Record<string, object[]>) => {
		const pinData: Record<string, object[]> = {};
		for (const [name, all] of Object.entries(items)) pinData[name] = all.map((json) => ({ json }));
		const { versionId } = await client.workflow(id);
		await client.request('PATCH', `workflows/${id}`, { versionId, pinData });
	};

	const cart = (cartId: string, status: string) => {
		const called = [{ body: { cartId, subscriberId: '5001', product: 'the blue rain jacket' } }];
		const start = 'When a cart is abandoned';
		return { [start]: called, 'Wait an hour': called, 'Ask the shop': [{ status }] };
	};
	const product = (productId: string) => {
		const body = { productId, product: 'the jacket', url: 'https://shop.example.com/jacket' };
		return { 'When a product is back': [{ body }] };
	};
	const posts = (...entries: object[]) => {
		const link = 'https://blog.example.com/1';
		return {
			'When a post is published': entries.map((entry) => ({ title: 'Walks', link, ...entry })),
		};
	};

	const newsExamples: Example[] = [
		{
			name: 'abandoned-cart',
			start: 'When a cart is abandoned',
			last: 'Send a reminder',
			runs: [
				{ pins: cart('C-1', 'paid'), rows: [] },
				{ pins: cart('C-1', 'open'), rows: [['success', 'C-1']] },
				{ pins: cart('C-1', 'open'), rows: [['alreadySent', 'C-1']] },
				{ pins: cart('C-2', 'open'), rows: [['success', 'C-2']] },
			],
		},
		{
			name: 'back-in-stock',
			start: 'When a product is back',
			last: 'Send to those who wait',
			runs: [
				{ pins: product('A-1'), rows: [['success', `A-1-${today}`]] },
				{ pins: product('A-1'), rows: [['alreadySent', `A-1-${today}`]] },
				{ pins: product('A-2'), rows: [['success', `A-2-${today}`]] },
			],
		},
		{
			name: 'announce-rss-posts',
			start: 'When a post is published',
			last: 'Send the post',
			runs: [
				{ pins: posts({ guid: '7' }), rows: [['success', '7']] },
				{ pins: posts({ guid: '7', title: 'Edited' }), rows: [['alreadySent', '7']] },
				{
					pins: posts({ guid: '8' }, { guid: '9', title: 'Rides' }),
					rows: [
						['success', '8'],
						['success', '9'],
					],
				},
				{ pins: posts({}), rows: [['success', 'https://blog.example.com/1']] },
			],
		},
	];

	test.each(newsExamples)(
		'the example $name sends when it is executed',
		async ({ name, start, last }) => {
			const execution = await client.runManually(idOf(name), start);
			expect(execution.status).toBe('success');
			expect(outputOf(execution, last).map(({ json }) => json['status'])).toContain('success');
		},
	);

	test.each(newsExamples)(
		'the example $name tells everybody of what is new, and nobody twice',
		async ({ name, start, last, runs }) => {
			const { id } = await importExample(name);
			for (const { pins, rows } of runs) {
				await pin(id, pins);
				simulator.clearRequests();
				const execution = await client.runManually(id, start);
				const given = outputOf(execution, last).map(({ json }) => json);
				expect(given.map(({ status, idempotencyKey }) => [status, idempotencyKey])).toEqual(rows);
				expect(sends()).toHaveLength(rows.filter(([status]) => status === 'success').length);
			}
			await client.request('POST', `workflows/${id}/archive`);
		},
	);

	test.each([
		...newsExamples.map(({ name, start }) => ({ name, start, missing: 'Test Subscriber ID' })),
		{ name: 'send-wait-read', start: byHand, missing: 'Title' },
	])(
		'the example $name, imported as it is, sends nothing before $missing is filled in',
		async ({ name, start, missing }) => {
			const { id } = await importText(await exampleText(name));
			simulator.clearRequests();
			const { status, data } = await client.runManually(id, start);
			expect(status).toBe('error');
			expect(data.resultData.error?.message).toContain(missing);
			expect(sends()).toEqual([]);
			await client.request('POST', `workflows/${id}/archive`);
		},
	);

	test.each([
		{ answer: 'Send it', item: { data: { approved: true } }, statuses: ['success'] },
		{ answer: 'Discard it', item: { data: { approved: false } }, statuses: [] },
		// n8n goes on with what came into the node that waited (n8n-core: workflow-execute.js).
		{ answer: 'nothing within a day', item: { activeSubscribers: 10_000 }, statuses: [] },
	])(
		'the example approval-in-chat sends what was written on its form if the answer is "Send it": $answer',
		async ({ item, statuses }) => {
			const { id } = await importExample('approval-in-chat');
			await pin(id, { 'Ask for approval': [item], 'Confirm in the chat': [{ ok: true }] });
			simulator.clearRequests();
			const workflowData = await client.workflow(id);
			const triggerToStartFrom = { name: 'When a notification is written' };
			await client.request('POST', `workflows/${id}/run`, { workflowData, triggerToStartFrom });
			const form = new FormData();
			const written = ['New opening hours', 'We are open on Sundays.', 'https://example.com/hours'];
			written.forEach((value, index) => form.set(`field-${index}`, value));
			const [, path] = /"webhookId": "([^"]+)"/.exec(await exampleText('approval-in-chat')) ?? [];
			await fetch(`${server.url}/form-test/${path}`, { method: 'POST', body: form });
			const [ended] = await client.waitForExecutions({ workflowId: id });
			const execution = await client.waitForExecution(ended?.id ?? '');
			expect(execution.status).toBe('success');
			const rows = outputOf(execution, 'Send the notification');
			expect(rows.map(({ json }) => json['status'])).toEqual(statuses);
			const [title, message] = written;
			expect(sends()).toMatchObject(statuses.map(() => ({ json: { title, message } })));
			await client.request('POST', `workflows/${id}/archive`);
		},
	);

	test('the example back-in-stock expires at the end of the next day', async () => {
		const end = DateTime.fromISO(today, { zone: 'Europe/Berlin' }).plus({ days: 2 });
		const minutesLeft = () => Math.floor(end.diffNow('minutes').minutes);
		const before = minutesLeft();
		simulator.clearRequests();
		await client.runManually(idOf('back-in-stock'), 'When a product is back');
		const left: unknown = expect.stringMatching(`^(${before}|${minutesLeft()})m$`);
		expect(sends()).toMatchObject([{ json: { expire_push: left } }]);
	});

	test.each([
		{ start: 'When clicks reach 100', words: /^Campaign 1001 was clicked \d+ times\.$/ },
		{ start: 'When subscribers reach 10,000', words: /^The site has 10000 subscribers\.$/ },
	])('the example alert-on-numbers posts "$start"', async ({ start, words }) => {
		const execution = await client.runManually(idOf('alert-on-numbers'), start);
		expect(outputOf(execution, 'Put it into words')[0]?.json['text']).toMatch(words);
		expect(outputOf(execution, 'Post to the chat')).toHaveLength(1);
	});

	/** Takes Test Subscriber ID out, as in an execution that its user did not start in the editor. */
	const stopTesting = async (id: string) => {
		const text = JSON.stringify(await client.workflow(id));
		const { nodes } = parseWorkflow(text.replace(/,"testSubscriberId":"\d+"/, '')).draft;
		await client.updateWorkflow(id, { nodes });
	};

	test('a test of the example campaign-calendar goes to the test subscriber, and leaves the table as it is', async () => {
		simulator.clearRequests();
		await client.runManually(idOf('campaign-calendar'), 'Every 15 minutes');
		expect(sends()).toMatchObject([{ json: { sid: '5001' } }]);
		expect(await statesIn('Push campaign calendar')).toEqual(['ready', 'ready']);
	});

	test.each([
		{
			name: 'personal-notifications',
			start: byHand,
			tableName: 'Push shipped orders',
			again: null,
			// Nobody has the ID in the third row, until it is corrected.
			states: ['success', 'success', 'notSent', 'success'],
			statesLater: ['alreadySent', 'alreadySent', 'success', 'alreadySent'],
		},
		{
			name: 'campaign-calendar',
			start: 'Every 15 minutes',
			tableName: 'Push campaign calendar',
			again: 'ready',
			states: ['success', 'success'],
			statesLater: ['alreadySent', 'alreadySent'],
		},
	])(
		'the example $name sends its rows, one that was corrected too, and none twice or that is unknown',
		async ({ name, start, tableName, again, states, statesLater }) => {
			const id = idOf(name);
			await stopTesting(id);
			simulator.addFault({ match: { method: 'POST' }, action: { kind: 'reset-before' } });
			await client.runManually(id, start);
			const first = await statesIn(tableName);
			const lost = first.indexOf('unknown');
			expect(first).toEqual(states.with(lost, 'unknown'));

			simulator.clearRequests();
			await write(tableName, 'unknown', { state: again });
			await write(tableName, 'success', { state: again });
			if (states.includes('notSent')) await write(tableName, 'notSent', { subscriberId: '5004' });
			await client.runManually(id, start);
			const later = statesLater.with(lost, 'unknown');
			expect(await statesIn(tableName)).toEqual(later);
			expect(sends()).toHaveLength(later.filter((one) => one === 'success').length);
		},
	);

	test('the example campaign-calendar sends what is ready in a new table, and reads the numbers of the last seven days', async () => {
		const id = idOf('campaign-calendar');
		await stopTesting(id);
		const name = 'Push campaign calendar';
		await client.request('DELETE', (await table(name)).replace(/\/rows$/, ''));
		await client.runManually(id, 'Every 15 minutes');
		const day = (days: number) => DateTime.fromISO(today).plus({ days }).toISODate();
		const text = { title: 'Sale', message: 'Today', url: 'https://example.com/sale' };
		const plan = { ...text, sendAt: `${day(1)} 09:30`, timezone: 'Europe/Berlin' };
		const sent = { ...plan, state: 'success', delivered: 1 };
		const insert = async (data: object[]) =>
			await client.request('POST', (await table(name)).replace(/rows$/, 'insert'), { data });
		await insert([
			{ ...plan, state: 'ready' },
			{ ...plan, state: 'draft' },
			plan,
			{ ...sent, scheduledFor: `${day(-7)} 09:30 +02:00`, campaignId: '1001' },
			{ ...sent, scheduledFor: `${day(-8)} 09:30 +02:00`, campaignId: '1001' },
			{ ...sent, scheduledFor: `${day(-1)} 09:30 +02:00`, campaignId: '999' },
		]);
		simulator.clearRequests();
		await client.runManually(id, 'Every 15 minutes');
		expect(simulator.requests.map(({ method }) => method)).toEqual(['POST']);
		const sentBefore = ['success', 'success', 'success'];
		expect(await statesIn(name)).toEqual(['success', 'draft', null, ...sentBefore]);

		await insert([{ ...plan, state: 'ready' }]);
		const newest = [...simulator.campaigns.keys()].at(-1) ?? '';
		for (const campaignId of ['1001', newest]) {
			simulator.setCounters(campaignId, { delivered: 12, clicked: 3, closed: 4 });
		}
		await client.runManually(id, 'Each morning');
		expect(sends()).toHaveLength(1);
		const none = { delivered: null, reason: null };
		const read = { delivered: 12, clicked: 3, closed: 4, reason: '' };
		const failed: unknown = expect.stringContaining('999');
		const unread = { delivered: 1, clicked: null, reason: failed };
		const left = { delivered: 1, clicked: null, reason: null };
		expect(await rowsIn(name)).toMatchObject([read, none, none, read, left, unread, none]);
	});

	test('the next start creates nothing again, and another address of the service goes into the credential', async () => {
		const before = await client.workflows();
		const again = await prepare(state);
		expect(again).toEqual({ state, isLoginChanged: false });
		const credential = state.credential && { ...state.credential, baseUrl: '' };
		expect((await prepare({ ...state, credential })).state).toEqual(state);
		expect(await client.workflows()).toEqual(before);
	});

	test('a login that its user changed is left alone', async () => {
		const changed = { currentPassword: demoOwner.password, newPassword: 'Another-password-2' };
		await client.request('PATCH', 'me/password', changed);
		expect(await prepare(state)).toEqual({ state, isLoginChanged: true });
	});
});
