import { chain, createDataTable, insertInto, node, outputOf } from '../../host';
import {
	acceptedTitles,
	expectRetrySendsRest,
	neverAnswered,
	refusal,
	runNodes,
	sendNode,
	sendWorkflow,
	sentItems,
	statusesOf,
	titled,
	titlesOf,
	useStage,
	wordsOf,
} from './support';

const stage = useStage();

test('each row of an evaluation goes to the Test Subscriber ID alone', async () => {
	const { client, simulator } = stage();
	const name = 'Test cases';
	const columns = { title: 'string' } as const;
	const tableId = await createDataTable(client, { name, columns, rows: titled('Case', 3) });
	const source = { source: 'dataTable', dataTableId: { __rl: true, mode: 'id', value: tableId } };
	const metrics = { assignments: [{ id: 'm', name: 'done', type: 'number', value: 1 }] };
	const { id } = await client.createWorkflow(
		chain('Evaluation', [
			node('Row', 'n8n-nodes-base.evaluationTrigger', source, { typeVersion: 4.7 }),
			sendNode(stage(), { options: { testSubscriberId: '5001' } }),
			node(
				'Metrics',
				'n8n-nodes-base.evaluation',
				{ operation: 'setMetrics', metric: 'customMetrics', metrics },
				{ typeVersion: 4.7 },
			),
		]),
	);
	await client.request('POST', `workflows/${id}/test-runs/new`, {});
	const evaluations = { workflowId: id, mode: 'evaluation', count: 3 };
	const ended = await client.waitForExecutions(evaluations);
	expect(ended.map(({ status }) => status)).toEqual(['success', 'success', 'success']);
	expect(simulator.requests).toMatchObject(
		titled('Case', 3).map(({ title }) => ({
			path: '/v1/notification/send/sid',
			json: { title, sid: '5001' },
		})),
	);
});

test("the rows of every send go into n8n's own data table, mapped automatically", async () => {
	const names =
		'campaignId subscriberId audience status description title recipients name sendAt idempotencyKey';
	const columns = Object.fromEntries(names.split(' ').map((name) => [name, 'string' as const]));
	const table = insertInto(await createDataTable(stage().client, { name: 'Rows', columns }));
	const additionalFields = { name: 'Autumn', sendAt: '2035-05-17 9:30' };
	const audiences = [
		{ operation: 'sendToAll', additionalFields },
		{ operation: 'sendToSegments', segmentIds: '11, 12', additionalFields },
		{
			operation: 'sendToAttributes',
			specifyAttributes: 'json',
			attributesJson: '{ "plan": "pro", "age": 7 }',
			options: { idempotencyKey: "={{ 'autumn' }}" },
		},
		{ operation: 'sendToSubscriber', subscriberId: '5001' },
	];
	const said: unknown[] = [];
	for (const parameters of audiences) {
		const action = sendNode(stage(), { title: 'Sale', ...parameters });
		const { execution } = await runNodes(stage(), [action, table]);
		said.push([execution.status, outputOf(execution, table.name)[0]?.json['recipients']]);
	}
	expect(said).toEqual([
		['success', 'all subscribers'],
		['success', 'segments 11, 12'],
		['success', 'every subscriber with plan = pro or age = 7'],
		['success', 'subscriber 5001'],
	]);
	expect(stage().simulator.campaigns.size).toBe(4);
});

test('an execution says how many of 5,000 items were sent, and its Retry sends the rest and nothing twice', async () => {
	const { simulator } = stage();
	simulator.addFault(refusal('Item 2500'));
	const workflow = await sendWorkflow(stage());
	const failed = await workflow.run(titled('Item', 5_000));
	const sent = acceptedTitles(stage()).length;
	expect(wordsOf(failed)).toContain(
		`The push service could not carry out the request. ${sent.toLocaleString('en-US')} of these 5,000 were sent.`,
	);
	const retried = await expectRetrySendsRest(stage(), failed, ...titlesOf('Item', 5_000));
	expect(statusesOf(retried)).toEqual(titled('Item', 5_000).map(() => 'success'));
	for (const { title, campaignId } of sentItems(retried)) {
		expect(simulator.campaigns.get(String(campaignId))?.body['title']).toBe(title);
	}
});

test('an execution that a time limit ends says what was sent', async () => {
	const { client, simulator } = stage();
	simulator.addFault({ ...neverAnswered, skip: 10 });
	const workflow = await sendWorkflow(stage());
	const settings = { executionOrder: 'v1', executionTimeout: 5 } as const;
	await client.updateWorkflow(workflow.id, { settings });
	await client.activate(workflow.id);
	const ended = await workflow.run(titled('Late', 60));
	expect(ended.status).toBe('canceled');
	expect(wordsOf(ended)).toMatch(
		/^The execution was canceled\. 10 of these 60 were sent\.\nUnknown: items \d+ to \d+/,
	);
});
