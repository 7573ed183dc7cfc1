import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { z } from 'zod';
import { chooseCredential, exampleFile, parseWorkflow } from '../../examples/read';
import { N8nClient, outputOf, startN8n, type N8nServer } from '../../host';
import {
	access,
	demoOwner,
	demoWorkflows,
	prepareDemo,
	readExamples,
	type DemoState,
} from '../../host/demo/prepare';
import { addDemoCampaign, sampleRows } from '../../host/demo/samples';
import { startSimulator, type Simulator } from '../../simulator';
import { tarball } from './support';

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
		const execution = await client.runManually(
			idOf(demoWorkflows.first),
			'When clicking ‘Execute workflow’',
		);
		expect(execution.status).toBe('success');
		const [numbers] = outputOf(execution, 'Read the numbers');
		expect(numbers?.json).toMatchObject({ campaignId: '1002' });
	});

	test('its own workflow reports what the demo campaign did', async () => {
		const workflowId = idOf(demoWorkflows.watching);
		const [first] = (await client.waitForExecutions({ workflowId })).slice(-1);
		const [report] = outputOf(await client.waitForExecution(first?.id ?? ''), 'Put it into words');
		expect(report?.json['report']).toMatch(/^Campaign 1001: /);
	});

	const table = async (name: string) => {
		const withId = z.object({ id: z.string() });
		const { id: project } = withId.parse(await client.request('GET', 'projects/personal'));
		const filter = encodeURIComponent(JSON.stringify({ name }));
		const path = `projects/${project}/data-tables`;
		const found = await client.request('GET', `${path}?filter=${filter}`);
		const [first] = z.object({ data: z.array(withId) }).parse(found).data;
		return `${path}/${first?.id}/rows`;
	};
	/** What a user writes into the rows of a data table that have this state. */
	const writeState = async (name: string, from: string, to: string | null) => {
		const filter = {
			type: 'and',
			filters: [{ columnName: 'state', condition: 'eq', value: from }],
		};
		await client.request('PATCH', await table(name), { filter, data: { state: to } });
	};
	const statesIn = async (name: string) => {
		const rows = z.object({ data: z.array(z.object({ state: z.string().nullable() })) });
		const { data } = rows.parse(await client.request('GET', await table(name)));
		return data.map(({ state: written }) => written);
	};

	test.each([
		{ name: 'abandoned-cart', start: 'When a cart is abandoned', last: 'Send a reminder' },
		{ name: 'announce-rss-posts', start: 'When a post is published', last: 'Send to all' },
		{ name: 'back-in-stock', start: 'When a product is back', last: 'Send to those who wait' },
	])('the example $name sends when it is executed', async ({ name, start, last }) => {
		const execution = await client.runManually(idOf(name), start);
		expect(execution.status).toBe('success');
		const statuses = outputOf(execution, last).map(({ json }) => json['status']);
		expect(statuses).toContain('success');
	});

	test('the example approval-in-chat sends what was written on its form', async () => {
		const workflowData = await client.workflow(idOf('approval-in-chat'));
		const triggerToStartFrom = { name: 'When a notification is written' };
		const run = { workflowData, triggerToStartFrom };
		await client.request('POST', `workflows/${workflowData.id}/run`, run);
		const form = new FormData();
		const written = ['New opening hours', 'We are open on Sundays.', 'https://example.com/hours'];
		written.forEach((value, index) => form.set(`field-${index}`, value));
		const [, path] = /"webhookId": "([^"]+)"/.exec(await exampleText('approval-in-chat')) ?? [];
		await fetch(`${server.url}/form-test/${path}`, { method: 'POST', body: form });
		const [ended] = await client.waitForExecutions({ workflowId: workflowData.id });
		const execution = await client.waitForExecution(ended?.id ?? '');
		expect(outputOf(execution, 'Send to all')[0]?.json).toMatchObject({
			status: 'success',
			title: 'New opening hours',
			audience: 'test',
		});
	});

	test.each([
		{ start: 'When clicks reach 100', words: /^Campaign 1001 was clicked \d+ times\.$/ },
		{ start: 'When subscribers reach 10,000', words: /^The site has 10000 subscribers\.$/ },
	])('the example alert-on-numbers posts "$start"', async ({ start, words }) => {
		const execution = await client.runManually(idOf('alert-on-numbers'), start);
		expect(outputOf(execution, 'Put it into words')[0]?.json['text']).toMatch(words);
		expect(outputOf(execution, 'Post to the chat')).toHaveLength(1);
	});

	test.each([
		{ name: 'abandoned-cart', start: 'When a cart is abandoned', missing: 'Test Subscriber ID' },
		{
			name: 'announce-rss-posts',
			start: 'When a post is published',
			missing: 'Test Subscriber ID',
		},
		{ name: 'back-in-stock', start: 'When a product is back', missing: 'Test Subscriber ID' },
		{ name: 'send-wait-read', start: 'When clicking ‘Execute workflow’', missing: 'Title' },
	])(
		'the example $name, imported as it is, sends nothing before $missing is filled in',
		async ({ name, start, missing }) => {
			const { draft } = parseWorkflow(await exampleText(name));
			const { credential } = state;
			if (credential === undefined) throw new Error('There is no credential');
			const chosen = chooseCredential(draft, 'n8n-nodes-push-campaign.', credential);
			const { id } = await client.createWorkflow(chosen);
			simulator.clearRequests();
			const { status, data } = await client.runManually(id, start);
			expect(status).toBe('error');
			expect(data.resultData.error?.message).toContain(missing);
			expect(simulator.requests.filter(({ method }) => method === 'POST')).toEqual([]);
			await client.request('POST', `workflows/${id}/archive`);
		},
	);

	test.each([
		{
			name: 'personal-notifications',
			start: 'When clicking ‘Execute workflow’',
			tableName: 'Push shipped orders',
			again: null,
			// Nobody has the ID in the third row.
			states: ['success', 'success', 'notSent', 'success'],
		},
		{
			name: 'campaign-calendar',
			start: 'Every 15 minutes',
			tableName: 'Push campaign calendar',
			again: 'ready',
			states: ['success', 'success'],
		},
	])(
		'the example $name sends its rows, and one that was unknown as its note says',
		async ({ name, start, tableName, again, states }) => {
			const id = idOf(name);
			simulator.addFault({ match: { method: 'POST' }, action: { kind: 'reset-before' } });
			await client.runManually(id, start);
			expect(await statesIn(tableName)).toContain('unknown');

			const text = JSON.stringify(await client.workflow(id));
			const chosen = text.replace('"idempotencyKey":', '"unknownOutcome":"resend",$&');
			await client.updateWorkflow(id, { nodes: parseWorkflow(chosen).draft.nodes });
			await writeState(tableName, 'unknown', again);
			await client.runManually(id, start);
			expect(await statesIn(tableName)).toEqual(states);
		},
	);

	test('the next start creates nothing again, and another address of the service goes into the credential', async () => {
		const before = await client.workflows();
		const again = await prepare(state);
		expect(again).toEqual({ state, isLoginChanged: false });
		const moved = {
			...state,
			credential: state.credential && { ...state.credential, baseUrl: '' },
		};
		expect((await prepare(moved)).state).toEqual(state);
		expect(await client.workflows()).toEqual(before);
	});

	test('a login that its user changed is left alone', async () => {
		const changed = { currentPassword: demoOwner.password, newPassword: 'Another-password-2' };
		await client.request('PATCH', 'me/password', changed);
		expect(await prepare(state)).toEqual({ state, isLoginChanged: true });
	});
});
