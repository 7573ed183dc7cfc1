import { WorkflowExecute } from 'n8n-core';
import {
	createRunExecutionData,
	deepCopy,
	type IRun,
	type IRunExecutionData,
	type WorkflowExecuteMode,
} from 'n8n-workflow';
import { until } from '../../host/process/until';
import { additionalDataOf } from './support/additionalData';
import {
	credentialsFor,
	failureOf,
	inputOf,
	outputOf,
	push,
	titlesAt,
	useSimulator,
} from './support/pushCampaign';
import { credentialsOf, loadWorkflow } from './support/run';
import { chain, START, type WorkflowJson } from './support/workflow';

const simulator = useSimulator();

const json: WorkflowJson = chain([
	push({ title: '={{ $json.title }}', options: { maxParallel: 1 } }),
]);
const titles = ['Item 1', 'Item 2', 'Item 3', 'Item 4'];
const input = inputOf(...titles.map((title) => ({ title })));

/** What n8n 2 saves of an execution before its first node runs, and of a stopped one nothing else. */
function savedData(): IRunExecutionData {
	const node = json.nodes.find(({ name }) => name === START);
	if (node === undefined) throw new Error('The workflow has no start node');
	return createRunExecutionData({
		executionData: { nodeExecutionStack: [{ node, data: { main: [input] }, source: null }] },
	});
}

let executions = 0;

function start(mode: WorkflowExecuteMode, saved: IRunExecutionData) {
	executions += 1;
	const credentials = credentialsOf({ credentials: credentialsFor(simulator()) });
	const additionalData = additionalDataOf(json, mode, `stopped-${executions}`, credentials);
	const data = deepCopy(saved);
	return new WorkflowExecute(additionalData, mode, data).processRunExecutionData(
		loadWorkflow(json, true),
	);
}

/** Stops an execution while its third request is answered by nobody. */
async function stopAtThird(saved: IRunExecutionData): Promise<void> {
	simulator().addFault({
		match: { bodyIncludes: '"Item 3"' },
		action: { kind: 'hang', process: true },
	});
	const run = start('webhook', saved);
	await until(
		() => simulator().requestCount,
		(count) => count === 3,
		{ within: 20_000, every: 5, late: (count) => `${count} of 3 requests came` },
	);
	run.cancel();
	await run;
}

const retry = async (saved: IRunExecutionData): Promise<IRun> => await start('retry', saved);

test('the Retry of a stopped execution sends the rest, and nothing that went out before', async () => {
	const saved = savedData();
	await stopAtThird(saved);
	const retried = await retry(saved);
	const { message, itemIndex } = failureOf(retried);
	expect(message).toMatch(/^It is unknown whether this was sent: the execution was canceled/);
	expect(itemIndex).toBe(2);
	expect(titlesAt(simulator())).toEqual(titles);
	await retry(saved);
	expect(titlesAt(simulator())).toEqual(titles);
});

test('a new execution with the same items sends all of them again', async () => {
	await stopAtThird(savedData());
	simulator().reset();
	const other = await start('webhook', savedData());
	expect(outputOf(other)).toHaveLength(4);
	expect(titlesAt(simulator())).toEqual(titles);
});

test('the second Retry of an execution that failed before the node ran sends nothing again', async () => {
	const saved = savedData();
	const first = outputOf(await retry(saved));
	expect(first).toHaveLength(4);
	expect(outputOf(await retry(saved))).toEqual(first);
	expect(titlesAt(simulator())).toEqual(titles);
});
