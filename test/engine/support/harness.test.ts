import { createServer } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import type {
	ICredentialType,
	IExecuteFunctions,
	INodeExecutionData,
	INodeProperties,
	INodeType,
	IPollFunctions,
} from 'n8n-workflow';
import { z } from 'zod';
import { nodeOf } from './doubles';
import { useListening } from './listening';
import { Poller, runPoll } from './poll';
import { credentialsFor, NODE, push, useSimulator } from './pushCampaign';
import { errorOf, itemsOf, runWorkflow, startWorkflow } from './run';
import { chain, connect, nodeFrom, START, type NodeSketch } from './workflow';

const key: ICredentialType = {
	name: 'keyApi',
	displayName: 'Key API',
	properties: [
		{ displayName: 'Key', name: 'key', type: 'string', default: '' },
		{ displayName: 'Header', name: 'header', type: 'string', default: 'x-key' },
	],
	authenticate: async ({ key: value, header }, options) => ({
		...options,
		headers: { ...options.headers, [z.string().parse(header)]: value },
	}),
};

const url = (): INodeProperties => ({
	displayName: 'URL',
	name: 'url',
	type: 'string',
	default: '',
	required: true,
});

/** Asks the server about each item, unless the node's context has the answer already. */
const ask = nodeOf(
	'ask',
	async function (this: IExecuteFunctions) {
		const known = this.getContext('node');
		const items: INodeExecutionData[] = [];
		for (const [item, { json }] of this.getInputData().entries()) {
			const id = z.string().parse(json['id']);
			const options = {
				url: `${z.string().parse(this.getNodeParameter('url', item))}/${id}`,
				json: true,
			};
			try {
				known[id] ??= await this.helpers.httpRequestWithAuthentication.call(
					this,
					'keyApi',
					options,
				);
				items.push({ json: { id, answer: String(known[id]) }, pairedItem: { item } });
			} catch (error) {
				if (!this.continueOnFail()) throw error;
				items.push({ json: { error: 'Refused' }, pairedItem: { item } });
			}
		}
		return [items];
	},
	[url()],
	{ credentials: [{ name: 'keyApi', required: true }] },
);

const wait = nodeOf('wait', async function () {
	await sleep(60_000, undefined, { signal: this.getExecutionCancelSignal() }).catch(
		() => undefined,
	);
	return [[]];
});

/** Counts its polls in its static data, and reports something at the second. */
const count: INodeType = {
	description: {
		...nodeOf('count', async () => [], [
			{ displayName: 'Quiet', name: 'quiet', type: 'boolean', default: false },
		]).description,
		group: ['trigger'],
		polling: true,
		inputs: [],
	},
	async poll(this: IPollFunctions) {
		const data = this.getWorkflowStaticData('node');
		const polls = Number(data['polls'] ?? 0) + 1;
		data['polls'] = polls;
		if (polls === 2) this.__emitError(new Error('Second poll'));
		if (this.getNodeParameter('quiet') === true) return null;
		const activation = this.getActivationMode();
		const budget = this.getPollBudgetMs?.() ?? 'none';
		return [[{ json: { polls, mode: this.getMode(), activation, budget } }]];
	},
};

const surroundings = {
	nodeTypes: { 'test.ask': ask, 'test.wait': wait, 'test.count': count },
	credentialTypes: [key],
	credentials: { keyApi: { key: 'secret' } },
};

let seen: Array<{ path: string; key: unknown }>;
let refuse: (path: string) => boolean;

const port = useListening(
	createServer((request, response) => {
		const path = request.url ?? '';
		seen.push({ path, key: request.headers['x-key'] });
		response.statusCode = refuse(path) ? 500 : 200;
		response.end(JSON.stringify(`answer to ${path}`));
	}),
);

beforeEach(() => {
	seen = [];
	refuse = () => false;
});

const askNode = (more: Partial<NodeSketch> = {}): NodeSketch => ({
	name: 'Ask',
	type: 'test.ask',
	parameters: { url: `={{ "http://127.0.0.1:${port()}" }}` },
	credentials: { keyApi: { id: '1', name: 'Key' } },
	...more,
});

const input = [{ json: { id: 'a' } }, { json: { id: 'b' } }];

describe('runWorkflow', () => {
	test('sends real requests, authenticated by the credential type', async () => {
		const run = await runWorkflow(chain([askNode()]), { ...surroundings, input });
		expect(run.status).toBe('success');
		expect(itemsOf(run, 'Ask').map(({ json }) => json['answer'])).toEqual([
			'answer to /a',
			'answer to /b',
		]);
		expect(seen).toEqual([
			{ path: '/a', key: 'secret' },
			{ path: '/b', key: 'secret' },
		]);
	});

	test.each(['manual', 'trigger', 'webhook'] as const)('runs in mode %s', async (mode) => {
		const run = await runWorkflow(chain([askNode()]), { ...surroundings, input, mode });
		expect(run).toMatchObject({ mode, status: 'success', finished: true });
	});

	test('refuses what n8n refuses to start', async () => {
		const workflow = chain([askNode({ parameters: { url: '' } })]);
		await expect(runWorkflow(workflow, surroundings)).rejects.toThrow('issues');
	});

	test('tries again on fail, with the node’s context kept', async () => {
		let failures = 2;
		refuse = (path) => path === '/b' && failures-- > 0;
		const workflow = chain([askNode({ retryOnFail: true, maxTries: 3, waitBetweenTries: 1 })]);
		const run = await runWorkflow(workflow, { ...surroundings, input });
		expect(run.status).toBe('success');
		expect(seen.map(({ path }) => path)).toEqual(['/a', '/b', '/b', '/b']);
	});

	test('ends with the node’s exception', async () => {
		refuse = () => true;
		const run = await runWorkflow(chain([askNode()]), { ...surroundings, input });
		expect(run.status).toBe('error');
		expect(errorOf(run)).toMatchObject({ name: 'NodeApiError', httpCode: '500' });
	});

	test('continues with the regular output', async () => {
		refuse = (path) => path === '/b';
		const workflow = chain([askNode({ onError: 'continueRegularOutput' })]);
		const run = await runWorkflow(workflow, { ...surroundings, input });
		expect(run.status).toBe('success');
		expect(itemsOf(run, 'Ask').map(({ json }) => json)).toEqual([
			{ id: 'a', answer: 'answer to /a' },
			{ error: 'Refused' },
		]);
	});

	test('continues with the error output, where the fields of the input are kept', async () => {
		refuse = (path) => path === '/b';
		const workflow = chain([
			askNode({ onError: 'continueErrorOutput' }),
			{ name: 'Good', type: 'n8n-nodes-base.noOp' },
		]);
		workflow.nodes.push(nodeFrom({ name: 'Bad', type: 'n8n-nodes-base.noOp' }));
		connect(workflow, 'Ask', 'Bad', 1);
		const run = await runWorkflow(workflow, { ...surroundings, input });
		expect(itemsOf(run, 'Good').map(({ json }) => json)).toEqual([
			{ id: 'a', answer: 'answer to /a' },
		]);
		expect(itemsOf(run, 'Bad').map(({ json }) => json)).toEqual([{ id: 'b', error: 'Refused' }]);
	});

	test('retries a failed execution with the node’s context kept', async () => {
		refuse = (path) => path === '/b';
		const failed = await runWorkflow(chain([askNode()]), { ...surroundings, input });
		expect(failed.status).toBe('error');
		refuse = () => false;
		const run = await runWorkflow(chain([askNode()]), { ...surroundings, retryOf: failed });
		expect(run).toMatchObject({ mode: 'retry', status: 'success' });
		expect(itemsOf(run, START)).toHaveLength(2);
		expect(itemsOf(run, 'Ask')).toHaveLength(2);
		expect(seen.map(({ path }) => path)).toEqual(['/a', '/b', '/b']);
		await expect(
			runWorkflow(chain([askNode()]), { ...surroundings, retryOf: run }),
		).rejects.toThrow('succeeded');
	});

	test('is cancelled as by a user', async () => {
		const workflow = chain([{ name: 'Wait', type: 'test.wait' }]);
		const { finished, cancel } = await startWorkflow(workflow, surroundings);
		setImmediate(cancel);
		expect((await finished).status).toBe('canceled');
	});

	test('runs a loop, and a node behind it once for each round', async () => {
		const workflow = chain([
			{ name: 'Loop', type: 'test.loop', parameters: { times: 3 } },
			askNode(),
		]);
		connect(workflow, 'Ask', 'Loop');
		const run = await runWorkflow(workflow, { ...surroundings, input });
		expect(run.data.resultData.runData['Ask']).toHaveLength(3);
		expect(itemsOf(run, 'Loop', 1)).toHaveLength(2);
	});
});

describe('runPoll', () => {
	const node = { type: 'test.count' };

	test('is a fetched test event in manual mode, which saves nothing', async () => {
		const { items, staticData } = await runPoll({}, { ...surroundings, node, mode: 'manual' });
		expect(items?.[0]?.json).toMatchObject({ polls: 1, mode: 'manual', activation: 'manual' });
		expect(staticData).toEqual({});
	});

	test('keeps static data between polls and over a restart, as far as it was saved', async () => {
		const poller = new Poller({}, { ...surroundings, node, staticData: { polls: 0 } });
		await poller.poll();
		const second = await poller.poll();
		expect(second.errors.map((error) => error.message)).toEqual(['Second poll']);
		expect(second.staticData).toEqual({ polls: 2 });
		const { items } = await poller.restarted().poll();
		expect(items?.[0]?.json).toMatchObject({ polls: 3, activation: 'init' });
		expect(poller.emitted).toHaveLength(2);
	});

	test.each([
		['classic', {}],
		['durable', { polls: 1 }],
	] as const)('a quiet poll in the %s engine saves %j', async (engine, saved) => {
		const poller = new Poller({ quiet: true }, { ...surroundings, node, engine });
		const { staticData } = await poller.poll();
		expect(staticData).toEqual(saved);
	});

	test('gives the poll budget that the version of n8n gives', async () => {
		const budgetOf = async (budgetMs?: number | 'absent') => {
			const { items } = await runPoll(
				{},
				{ ...surroundings, node, ...(budgetMs === undefined ? {} : { budgetMs }) },
			);
			return items?.[0]?.json['budget'];
		};
		expect(await budgetOf()).toBe(300_000);
		expect(await budgetOf(36_000)).toBe(36_000);
		expect(await budgetOf('absent')).toBe('none');
	});
});

describe('the nodes of the package', () => {
	const simulator = useSimulator();
	const ofPackage = () => ({ credentials: credentialsFor(simulator()) });

	test('run against the simulator', async () => {
		const run = await runWorkflow(chain([push()]), ofPackage());
		expect(errorOf(run)).toBeUndefined();
		expect(itemsOf(run, NODE)).toMatchObject([
			{ json: { audience: 'all', status: 'success' }, pairedItem: { item: 0 } },
		]);
		expect(simulator().campaigns.size).toBe(1);
	});

	test('poll the simulator', async () => {
		const id = simulator().addCampaign({ counters: { clicked: 0, delivered: 3 } });
		const { items } = await runPoll({ campaignIds: id }, ofPackage());
		expect(items).toMatchObject([{ json: { campaignId: id, firstSeen: true } }]);
	});
});
