import type { INodeType, IPollFunctions } from 'n8n-workflow';
import { nodeOf } from './doubles';
import { Poller, runPoll } from './poll';
import { credentialsFor, push, useSimulator } from './pushCampaign';
import { runWorkflow } from './run';
import { chain } from './workflow';

// What n8n does and the other tests rely on; what they do show themselves is not here.

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
const options = {
	nodeTypes: { 'test.count': count },
	credentials: {},
	node: { type: 'test.count' },
};

test('a poll in manual mode is a fetched test event, which saves nothing', async () => {
	const { items, staticData } = await runPoll({}, { ...options, mode: 'manual' });
	expect(items?.[0]?.json).toMatchObject({ polls: 1, mode: 'manual', activation: 'manual' });
	expect(staticData).toEqual({});
});

test('static data is kept between polls and over a restart, as far as it was saved', async () => {
	const poller = new Poller({}, { ...options, staticData: { polls: 0 } });
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
	const { staticData } = await new Poller({ quiet: true }, { ...options, engine }).poll();
	expect(staticData).toEqual(saved);
});

test.each([
	[undefined, 300_000],
	[36_000, 36_000],
	['absent', 'none'],
] as const)('with the budget %p a poll has %p', async (budgetMs, has) => {
	const more = budgetMs === undefined ? {} : { budgetMs };
	const { items } = await runPoll({}, { ...options, ...more });
	expect(items?.[0]?.json['budget']).toBe(has);
});

const simulator = useSimulator();

test('what n8n refuses to start is refused', async () => {
	const credentials = credentialsFor(simulator());
	const run = runWorkflow(chain([push({ title: '' })]), { credentials });
	await expect(run).rejects.toThrow('issues');
});
