import type { INodeParameters } from 'n8n-workflow';
import type { Fault } from '../../simulator';
import {
	credentialsFor,
	inputOf,
	NODE,
	outputOf,
	push,
	titlesAt,
	useSimulator,
} from './support/pushCampaign';
import { runWorkflow } from './support/run';
import { chain, connect, nodeFrom, START } from './support/workflow';

// What the node remembers while n8n tries it again: it is n8n that keeps it from one try to the next.

const simulator = useSimulator();
const failure: Fault['action'] = { kind: 'failure', description: 'No luck', status: 500 };

const workflowOf = (options: INodeParameters = {}) =>
	chain([
		push(
			{ title: '={{ $json.title }}', options: { maxParallel: 1, ...options } },
			{ retryOnFail: true, maxTries: 3, waitBetweenTries: 1 },
		),
	]);
const run = async (workflow: ReturnType<typeof workflowOf>, titles: string[]) =>
	await runWorkflow(workflow, {
		credentials: credentialsFor(simulator()),
		input: inputOf(...titles.map((title) => ({ title }))),
	});

test('in a loop each run of the node sends once', async () => {
	const workflow = workflowOf();
	// A second way to the same node, as in a loop.
	workflow.nodes.push(nodeFrom({ name: 'Again', type: 'n8n-nodes-base.noOp' }));
	connect(workflow, START, 'Again');
	connect(workflow, 'Again', NODE);
	simulator().addFault({ skip: 1, action: failure });
	const done = await run(workflow, ['a']);
	expect(titlesAt(simulator())).toEqual(['a', 'a', 'a']);
	expect([0, 1].map((index) => outputOf(done, index)[0]?.['campaignId'])).toEqual(['1001', '1002']);
});

test('n8n saves less than 120 bytes for each item that was sent', async () => {
	const titles = Array.from({ length: 100 }, (_, index) => `No ${index}`);
	const done = await run(workflowOf({ maxParallel: 100 }), titles);
	const context = done.data.executionData?.contextData[`node:${NODE}`];
	const bytes = Buffer.byteLength(JSON.stringify(context));
	expect(bytes / titles.length).toBeGreaterThan(30);
	expect(bytes / titles.length).toBeLessThan(120);
});
