import { startSimulator, type Simulator } from '../../../simulator';
import { runPoll } from './poll';
import { itemsOf, runWorkflow } from './run';
import { chain } from './workflow';

let simulator: Simulator;

beforeAll(async () => {
	simulator = await startSimulator();
});

afterAll(() => simulator.close());

const credentials = () => ({
	pushCampaignApi: { baseUrl: simulator.url, apiKey: 'demo-key', authToken: 'demo-token' },
});

test('the engine runs the action node against the simulator', async () => {
	const parameters = {
		title: 'Summer sale',
		message: 'Everything must go',
		targetUrl: 'https://shop.example.com',
	};
	const workflow = chain([
		{
			name: 'Push Campaign',
			type: 'n8n-nodes-push-campaign.pushCampaign',
			parameters,
			credentials: { pushCampaignApi: { id: '1', name: 'Test' } },
		},
	]);
	const run = await runWorkflow(workflow, { credentials: credentials() });
	expect(run.data.resultData.error).toBeUndefined();
	expect(itemsOf(run, 'Push Campaign')).toMatchObject([
		{ json: { audience: 'all', status: 'success' }, pairedItem: { item: 0 } },
	]);
	expect(simulator.campaigns.size).toBe(1);
});

test('the engine polls the trigger node against the simulator', async () => {
	const id = simulator.addCampaign({});
	simulator.setCounters(id, { clicked: 0, delivered: 3 });
	const { items } = await runPoll({ campaignIds: String(id) }, { credentials: credentials() });
	expect(items).toMatchObject([{ json: { campaignId: String(id), firstSeen: true } }]);
});
