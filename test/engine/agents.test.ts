import type { IDataObject, INodeParameters } from 'n8n-workflow';
import { TOOL } from './support/nodeTypes';
import {
	byTitle,
	credentialsFor,
	database,
	failure,
	faultFor,
	hintsOf,
	inputOf,
	lost,
	push,
	titled,
	titlesAt,
	useSimulator,
} from './support/pushCampaign';
import { itemsOf, runAsOwnAgent, runWorkflow } from './support/run';
import { chain, connect, nodeFrom } from './support/workflow';

// The node as the tool of an agent: of the AI Agent node, by MCP, and of n8n's own Agents.

const simulator = useSimulator();
const credentials = () => ({ credentials: credentialsFor(simulator()) });

/** An agent that calls the tool once for each input item. */
function workflowWith(agent: string, parameters: INodeParameters, more = {}) {
	const json = chain([{ name: 'Agent', type: agent, ...more }]);
	const type = 'n8n-nodes-push-campaign.pushCampaignTool';
	json.nodes.push(nodeFrom(push(parameters, { name: TOOL, id: TOOL, type })));
	connect(json, TOOL, 'Agent', 0, 'ai_tool');
	return json;
}

const run = async (agent: string, parameters: INodeParameters, input = titled('a')) => {
	const done = await runWorkflow(workflowWith(agent, parameters), { ...credentials(), input });
	return itemsOf(done, 'Agent').map(({ json }) => json);
};
const textOf = (answers: IDataObject[]) => JSON.stringify(answers);

describe.each(['test.agent', 'test.olderAgent'])('as a tool of %s', (agent) => {
	// An older agent hands its arguments to expressions of `$fromAI` alone.
	const parameters = agent === 'test.agent' ? byTitle : { title: 'a' };

	test('it sends, also a text with a field of the item that the agent works on, and the agent reads the row', async () => {
		expect(textOf(await run(agent, { title: '=Hello {{ $json.title }}' }))).toContain('1001');
		expect(titlesAt(simulator())).toEqual(['Hello a']);
	});

	test('a text of several parts has what the agent hands over, and a part that gave nothing is refused', async () => {
		const part = (name: string) =>
			agent === 'test.agent' ? `{{ $json.${name} }}` : `{{ $fromAI('${name}', 'Any', 'string') }}`;
		const title = `=Hi ${part('name')}, ${part('more')}{{ 'x'.length }}`;
		await run(agent, { title }, inputOf({ name: 'Ann', more: 'no ' }));
		expect(titlesAt(simulator())).toEqual(['Hi Ann, no 1']);
		const answers = textOf(await run(agent, { title }, inputOf({ name: ' ', more: 'no ' })));
		expect(answers).toContain('}} gave nothing');
	});

	test('a text is judged by the item that its expressions read: a word that it holds is meant', async () => {
		await run(
			agent,
			{ title: "={{ 'Meet ' + $json.kept }}" },
			inputOf({ kept: 'undefined heroes' }),
		);
		expect(titlesAt(simulator())).toEqual(['Meet undefined heroes']);
	});

	test('its message carries what to do, because the model reads the message alone', async () => {
		simulator().addFault(faultFor(undefined, failure('invalid_value')));
		const answers = textOf(await run(agent, parameters));
		expect(answers).toContain('does not accept one of the values');
		expect(answers).toContain('This was not sent.');
		// Nothing twice: n8n adds the description where the message does not hold it.
		expect(answers.split('This was not sent.')).toHaveLength(2);
	});

	test('what is unknown says not to call it again for that, and offers no Retry', async () => {
		simulator().addFault(faultFor(undefined, lost));
		const answers = textOf(await run(agent, parameters));
		expect(answers.split('Do not call this tool again for it: a person has to')).toHaveLength(2);
		expect(answers).not.toMatch(/Retry/);
	});

	test('what is unknown says so with On Error set to Continue as well', async () => {
		simulator().addFault(faultFor(undefined, { kind: 'reset-after' }));
		const json = workflowWith(agent, parameters);
		const tool = json.nodes.find(({ name }) => name === TOOL);
		if (tool !== undefined) tool.onError = 'continueRegularOutput';
		const done = await runWorkflow(json, { ...credentials(), input: titled('a') });
		expect(JSON.stringify(itemsOf(done, 'Agent'))).toContain('Do not call this tool again');
	});

	test('a second call with the same content gives the first answer again', async () => {
		const answers = await run(agent, parameters, titled('a', 'a'));
		expect(titlesAt(simulator())).toEqual(['a']);
		expect(answers).toHaveLength(2);
		expect(answers.filter((answer) => JSON.stringify(answer).includes('1001'))).toHaveLength(2);
	});

	test('a key is claimed under its own node', async () => {
		await run(agent, { ...parameters, options: { idempotencyKey: '=order-{{ 1 }}' } });
		expect(titlesAt(simulator())).toEqual(['a']);
		await run(agent, { ...parameters, options: { idempotencyKey: '=order-{{ 1 }}' } });
		expect(titlesAt(simulator())).toEqual(['a']);
		expect(database.keyRows).toEqual(['claim:1', 'sent']);
	});
});

test('of two calls at once with the same content and another ID each, one sends', async () => {
	simulator().addFault(faultFor(undefined, { kind: 'delay', ms: 50 }));
	const idempotencyKey = "={{ $fromAI('key', 'Any', 'string') }}";
	const calls = inputOf({ key: 'k1' }, { key: 'k2' });
	await run('test.olderAgent', { title: 'a', options: { idempotencyKey } }, calls);
	expect(titlesAt(simulator())).toEqual(['a']);
});

test('a call with the content of an earlier one was sent earlier', async () => {
	const input = titled('a', 'a');
	const done = await runWorkflow(workflowWith('test.agent', byTitle), { ...credentials(), input });
	expect(hintsOf(done, TOOL)).toEqual(['Nothing was sent now. 1 was sent earlier.']);
});

test('calls of a tool with other content each send', async () => {
	await run('test.agent', byTitle, titled('a', 'b'));
	expect(titlesAt(simulator()).sort()).toEqual(['a', 'b']);
});

test('calls of a tool that go to another site each send', async () => {
	const otherUrl = `${simulator().url}/other`;
	const input = inputOf({ title: 'a', url: simulator().url }, { title: 'a', url: otherUrl });
	await runWorkflow(workflowWith('test.agent', byTitle), {
		credentials: credentialsFor(simulator(), { baseUrl: '={{ $json.url }}' }),
		input,
	});
	expect(titlesAt(simulator())).toEqual(['a', 'a']);
});

describe('n8n’s own Agents, which keep nothing,', () => {
	test('send again with each call', async () => {
		const json = chain([push()]);
		await runAsOwnAgent(json, credentials());
		const second = await runAsOwnAgent(json, credentials());
		expect(second).toMatchObject([{ json: { campaignId: '1002' } }]);
	});

	test('read', async () => {
		const json = chain([push({ resource: 'site', operation: 'getSubscriberCount' })]);
		const items = await runAsOwnAgent(json, credentials());
		expect(items).toMatchObject([{ json: { activeSubscribers: 10_000 } }]);
	});

	test.each([
		{
			option: 'Test Subscriber ID',
			options: { testSubscriberId: '5001' },
			says: /^'Test Subscriber ID' does not work here: .* This was not sent\. Take 'Test Subscriber ID' out/,
		},
		{
			option: 'Send Only Once',
			options: { idempotencyKey: '=order-{{ 1 }}' },
			says: /^'Send Only Once' does not work here: .*outside of a workflow.* This was not sent\. Take 'Send Only Once' out of the options, or let the/,
		},
	])('refuse in words that say why, and send nothing: $option', async (row) => {
		const json = chain([push({ options: row.options })]);
		await expect(runAsOwnAgent(json, credentials())).rejects.toThrow(row.says);
		expect(simulator().requests).toEqual([]);
	});
});
