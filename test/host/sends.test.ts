import type { INodeParameters } from 'n8n-workflow';
import { chain, createDataTable, node, outputOf } from '../../host';
import {
	acceptedTitles,
	callNode,
	expectSent,
	failureOf,
	goesOn,
	hintsOf,
	listOf,
	neverAnswered,
	refusal,
	repeated,
	expectRetrySendsRest,
	runInEditor,
	rowsTable,
	runNodes,
	sendNode,
	sendWorkflow,
	sentItems,
	statusesOf,
	stopNewest,
	subWorkflow,
	titled,
	titlesOf,
	untilRequests,
	useStage,
	wordsOf,
} from './support';
import { testOperations } from './support/operations';

const stage = useStage();
const sender = (parameters: INodeParameters, settings = {}) =>
	sendNode(stage(), parameters, settings);

const retryOnFail = { retryOnFail: true, maxTries: 3 };

describe('a production execution', () => {
	testOperations(stage);
});

describe('the same notification for several items', () => {
	const fixed = { title: 'Sale' };
	const at = { additionalFields: { sendAt: '={{ $json.sendAt }}' } };

	test('five rows, two of them of one customer: each of the four gets it once, and the hint says so', async () => {
		const customers = ['Ann', 'Bob', 'Ann', 'Cid', 'Dan'].map((customer) => ({ customer }));
		const action = sender({
			...fixed,
			operation: 'sendToAttributes',
			attributes: { pairs: [{ name: 'customer', value: '={{ $json.customer }}' }] },
		});
		const { execution } = await runNodes(stage(), [action], customers);
		expect(hintsOf(execution)).toContain(
			'2 items are the same notification to every subscriber with customer = Ann: it was sent once.',
		);
		const sent = stage().simulator.requests.map(({ json }) => json);
		expect(sent).toMatchObject(
			['Ann', 'Bob', 'Cid', 'Dan'].map((customer) => ({ attribute: { customer } })),
		);
	});

	test.each([
		{
			what: 'of which two are moved to one morning by quiet hours',
			parameters: {
				additionalFields: {
					...at.additionalFields,
					quietHours: { hours: { from: '21:00', to: '08:00' } },
				},
			},
			rows: [{ sendAt: '2035-05-17 22:00' }, { sendAt: '2035-05-17 23:00' }],
		},
		{
			what: 'at one moment that is written with two offsets',
			parameters: at,
			rows: [{ sendAt: '2035-05-17T20:00Z' }, { sendAt: '2035-05-17T22:00+02:00' }],
		},
		{
			what: 'under two campaign names',
			parameters: { additionalFields: { name: '={{ $json.name }}' } },
			rows: [{ name: 'Monday' }, { name: 'Tuesday' }],
		},
		{
			what: 'for one attribute as a number and as a text',
			parameters: {
				operation: 'sendToAttributes',
				specifyAttributes: 'json',
				attributesJson: '={{ { level: $json.level } }}',
			},
			rows: [{ level: 1 }, { level: '1' }],
		},
	])('goes out once $what', async ({ parameters, rows }) => {
		const { execution } = await runNodes(stage(), [sender({ ...fixed, ...parameters })], rows);
		expect(statusesOf(execution)).toEqual(['success', 'alreadySent']);
		expectSent(stage(), 'Sale');
	});

	test.each([
		{ what: 'the first one goes out', options: {}, hint: 'it was sent once', sent: ['Sale'] },
		{ what: 'a dry run says so', options: { dryRun: true }, hint: 'it goes out once', sent: [] },
	])('in the editor, $what', async ({ options, hint, sent }) => {
		const nodes = [...listOf(titled('Sheet', 20)), sender({ ...fixed, options })];
		const execution = await runInEditor(stage(), nodes);
		expect(hintsOf(execution)).toContain(
			`20 items are the same notification to all subscribers: ${hint}.`,
		);
		expectSent(stage(), ...sent);
	});
});

test.each([
	{ settings: {}, says: '4 of 20 items are not valid, so none would be sent', sends: 0 },
	{ settings: goesOn, says: '16 of 20 would be sent', sends: 16 },
])('a dry run says what the run does: $says', async ({ settings, says, sends }) => {
	const items = titled('Item', 20).map((item, index) => (index % 5 === 4 ? { title: '' } : item));
	const run = async (options: INodeParameters) =>
		await runInEditor(stage(), [...listOf(items), sender({ options }, settings)]);
	const dry = await run({ dryRun: true });
	expect(dry.status).toBe('success');
	expect(hintsOf(dry)).toContain(says);
	expect(acceptedTitles(stage())).toEqual([]);
	await run({});
	expect(acceptedTitles(stage())).toHaveLength(sends);
});

describe('Test Subscriber ID', () => {
	const tryOut = () => sender({ options: { testSubscriberId: '5001' } });

	test('each row of an evaluation goes to this subscriber alone', async () => {
		const { client, simulator } = stage();
		const name = 'Test cases';
		const columns = { title: 'string' } as const;
		const tableId = await createDataTable(client, { name, columns, rows: titled('Case', 3) });
		const source = { source: 'dataTable', dataTableId: { __rl: true, mode: 'id', value: tableId } };
		const metrics = { assignments: [{ id: 'm', name: 'done', type: 'number', value: 1 }] };
		const { id } = await client.createWorkflow(
			chain('Evaluation', [
				node('Row', 'n8n-nodes-base.evaluationTrigger', source, { typeVersion: 4.7 }),
				tryOut(),
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

	test.each(['once', 'each'] as const)(
		"is refused in a sub-workflow whose caller is run in the editor with mode '%s', and nothing leaves",
		async (mode) => {
			const subId = await subWorkflow(stage(), [tryOut()]);
			const nodes = [...listOf(titled('Item', 3)), callNode(subId, mode)];
			const execution = await runInEditor(stage(), nodes);
			expect(execution.status).toBe('error');
			expect(wordsOf(execution)).toContain("'Test Subscriber ID'");
			expect(stage().simulator.requestCount).toBe(0);
		},
	);
});

test("the rows of every send go into n8n's own data table, mapped automatically", async () => {
	const table = await rowsTable(stage());
	const additionalFields = { name: 'Autumn', sendAt: '2035-05-17 9:30' };
	const audiences = [
		{ operation: 'sendToAll', additionalFields },
		{ operation: 'sendToSegments', segmentIds: '11, 12', additionalFields },
		{
			operation: 'sendToAttributes',
			specifyAttributes: 'json',
			attributesJson: '{ "plan": "pro", "age": 7 }',
			options: { idempotencyKey: 'autumn' },
		},
		{ operation: 'sendToSubscriber', subscriberId: '5001' },
	];
	const said: unknown[] = [];
	for (const parameters of audiences) {
		const action = sender({ title: 'Sale', ...parameters });
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

describe('an execution that failed', () => {
	test('says how many of 5,000 items were sent, and Retry sends the rest and nothing twice', async () => {
		const { simulator } = stage();
		simulator.addFault(refusal('Item 2500'));
		const workflow = await sendWorkflow(stage());
		const failed = await workflow.run(titled('Item', 5_000));
		expect(failed.status).toBe('error');
		const sent = acceptedTitles(stage()).length;
		expect(failureOf(failed).message).toBe(
			`The push service could not carry out the request. ${sent.toLocaleString('en-US')} of 5,000 were sent.`,
		);
		const retried = await expectRetrySendsRest(stage(), failed, ...titlesOf('Item', 5_000));
		expect(statusesOf(retried)).toEqual(titled('Item', 5_000).map(() => 'success'));
		for (const { title, campaignId } of sentItems(retried)) {
			expect(simulator.campaigns.get(String(campaignId))?.body['title']).toBe(title);
		}
	});

	test('Retry On Fail sends the rest of a batch, and nothing twice', async () => {
		stage().simulator.addFault({ ...refusal('Item 30'), times: 2 });
		const workflow = await sendWorkflow(stage(), { settings: retryOnFail });
		expect((await workflow.run(titled('Item', 60))).status).toBe('success');
		expectSent(stage(), ...titlesOf('Item', 60));
	});

	test('what was edited before a Retry sends nothing again that was sent, and the rest as edited', async () => {
		const { client, simulator } = stage();
		simulator.addFault(refusal('Item 2'));
		const workflow = await sendWorkflow(stage());
		const failed = await workflow.run(titled('Item', 3));
		await workflow.change({ parameters: { title: '=Edited {{ $json.title }}' } });
		const retried = await client.retryExecution(failed.id, { loadWorkflow: true });
		expect(retried.status).toBe('success');
		expectSent(stage(), 'Edited Item 2', 'Item 1', 'Item 3');
	});
});

describe('an execution that is stopped', () => {
	test('starts no further item', async () => {
		const { simulator } = stage();
		simulator.addFault(neverAnswered);
		const workflow = await sendWorkflow(stage());
		const call = workflow.call(titled('Stopped', 60)).catch(() => undefined);
		await untilRequests(stage(), 20);
		await stopNewest(stage(), workflow.id);
		await call;
		simulator.clearFaults();
		// What comes after it is through the whole way that the stopped one would still go.
		const later = await sendWorkflow(stage());
		await later.run(titled('Later', 60));
		expect(repeated(acceptedTitles(stage()))).toEqual([]);
		expect(simulator.requestCount).toBe(20 + 60);
	});

	test('says what was sent if a time limit ends it', async () => {
		const { client, simulator } = stage();
		simulator.addFault({ ...neverAnswered, skip: 10 });
		const workflow = await sendWorkflow(stage());
		const settings = { executionOrder: 'v1', executionTimeout: 5 } as const;
		await client.updateWorkflow(workflow.id, { settings });
		await client.activate(workflow.id);
		const ended = await workflow.run(titled('Late', 60));
		expect(ended.status).toBe('canceled');
		expect(wordsOf(ended)).toMatch(
			/^The execution was canceled\. 10 of 60 were sent\.\nUnknown: items \d+ to \d+/,
		);
	});
});
