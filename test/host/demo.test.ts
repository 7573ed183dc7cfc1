import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
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

	test.each([
		{ name: 'personal-notifications', start: 'When clicking ‘Execute workflow’', last: 'Notify' },
		{ name: 'campaign-calendar', start: 'Every 15 minutes', last: 'Schedule' },
		{ name: 'announce-rss-posts', start: 'When a post is published', last: 'Send to all' },
		{ name: 'abandoned-cart', start: 'When a cart is abandoned', last: 'Send a reminder' },
	])('the example $name sends when it is executed', async ({ name, start, last }) => {
		const execution = await client.runManually(idOf(name), start);
		expect(execution.status).toBe('success');
		const statuses = outputOf(execution, last).map(({ json }) => json['status']);
		expect(statuses).toContain('success');
	});

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
