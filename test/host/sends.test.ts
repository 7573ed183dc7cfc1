import { chain, createDataTable, credentialType, node, outputOf, pushCampaign } from '../../host';
import type { Fault } from '../../simulator';
import { content, runNodes, secrets, useStage } from './support';
import { testOperations } from './support/operations';
import {
	acceptedTitles,
	byTitle,
	failureOf,
	goesOn,
	hintsOf,
	listOf,
	lostAnswer,
	refusal,
	repeated,
	retryAsItSays,
	runInEditor,
	sendWorkflow,
	sentItems,
	statusesOf,
	stopNewest,
	titled,
	titlesOf,
	untilRequests,
	wordsOf,
} from './support/sends';
import { callNode, subWorkflow } from './support/subWorkflows';
import { loopOver, publish } from './support/workflows';

const stage = useStage();

const isUnknown = 'Do not send it again yet: it is unknown whether item 1 was sent';
const retryOnFail = { retryOnFail: true, maxTries: 3 };
/** Every send arrives, and none is answered. */
const everySend: Fault = {
	match: { method: 'POST' },
	times: 0,
	action: { kind: 'hang', process: true },
};

describe('a production execution', () => {
	testOperations(stage);

	test('a dry run returns the very request, and sends nothing', async () => {
		const { simulator } = stage();
		const workflow = await sendWorkflow(stage(), { options: { dryRun: true } });
		const [item] = sentItems(await workflow.run(titled('Dry', 1)));
		const body = {
			title: 'Dry 1',
			message: 'Twenty percent off',
			target_url: 'https://shop.example/sale',
		};
		const url = `${simulator.url}/v1/notification/send/all`;
		expect(item).toEqual({
			audience: 'all',
			recipients: 'all subscribers',
			title: 'Dry 1',
			dryRun: true,
			request: { method: 'POST', url, body },
		});
		expect(simulator.requests.map(({ method }) => method)).toEqual(['GET']);
	});

	test('an item on the error output keeps its fields beside the reason', async () => {
		stage().simulator.addFault(refusal('Mixed 2'));
		const workflow = await sendWorkflow(stage(), { settings: { onError: 'continueErrorOutput' } });
		const execution = await workflow.run(
			titled('Mixed', 3).map((item, index) => ({ ...item, order: `A-${index + 1}` })),
		);
		expect(execution.status).toBe('success');
		expect(outputOf(execution, 'Sent').map(({ json }) => json['title'])).toEqual([
			...['Mixed 1', 'Mixed 3'],
		]);
		expect(outputOf(execution, 'Not sent').map(({ json }) => json)).toMatchObject([
			{ title: 'Mixed 2', order: 'A-2', error: { type: 'unspecified', outcome: 'notSent' } },
		]);
	});
});

describe('the same notification for several items', () => {
	const fixed = { title: 'Sale', message: 'Twenty percent off', targetUrl: 'https://shop.example' };
	const executeOnce = { executeOnce: true };

	test.each([
		{ what: 'without keys', options: {} },
		{ what: 'with a key for each', options: byTitle },
	])('20 rows, $what: none is sent, and one with Execute Once', async ({ options }) => {
		const workflow = await sendWorkflow(stage(), { parameters: fixed, options });
		const failed = await workflow.run(titled('Sheet', 20));
		expect(failureOf(failed).message).toBe(
			'Items 0 to 19 would send the same notification to all subscribers. None of 20 was sent.',
		);
		expect(failureOf(failed).description).toContain('turn on Execute Once');
		await workflow.save({ parameters: fixed, options, settings: executeOnce });
		expect((await retryAsItSays(stage(), failed)).status).toBe('success');
		expect(acceptedTitles(stage())).toEqual(['Sale']);
	});

	test('five rows, two of them of one customer: each of the four gets it behind Remove Duplicates', async () => {
		const customers = ['Ann', 'Bob', 'Ann', 'Cid', 'Dan'].map((customer) => ({ customer }));
		const parameters = {
			...fixed,
			operation: 'sendToAttributes',
			attributes: { pairs: [{ name: 'customer', value: '={{ $json.customer }}' }] },
		};
		const action = pushCampaign(parameters, { credential: stage().credential });
		const { execution: failed } = await runNodes(stage(), [action], customers);
		expect(failureOf(failed).message).toBe(
			'2 of 5 items are not valid. None was sent. Items 0, 2 (counted from 0): each would send the same notification to every subscriber with customer = Ann',
		);
		expect(failureOf(failed).description).toContain('Remove Duplicates');
		expect(failureOf(failed).description).not.toMatch(/Execute Once|Send Only Once/);
		const unique = node('Unique', 'n8n-nodes-base.removeDuplicates', {}, { typeVersion: 2 });
		await runNodes(stage(), [unique, action], customers);
		const sent = stage().simulator.requests.map(({ json }) => json);
		expect(sent).toMatchObject(
			['Ann', 'Bob', 'Cid', 'Dan'].map((customer) => ({ attribute: { customer } })),
		);
	});

	test.each([
		{ what: 'without keys', options: {} },
		{ what: 'with a key for each', options: byTitle },
	])('a loop over 12 rows, $what: the first is sent, and no further one', async ({ options }) => {
		const action = pushCampaign({ ...fixed, options }, { credential: stage().credential });
		const workflow = await publish(stage(), (path) => loopOver(path, [action]));
		const failed = await workflow.run(titled('Row', 12));
		expect(wordsOf(failed)).toMatch(/an earlier round of this execution has sent/i);
		await retryAsItSays(stage(), failed);
		expect(acceptedTitles(stage())).toEqual(['Sale']);
	});

	test.each([
		{
			what: 'of which two are moved to one morning by quiet hours',
			parameters: {
				additionalFields: {
					sendAt: '={{ $json.sendAt }}',
					quietHours: { hours: { from: '21:00', to: '08:00' } },
				},
			},
			rows: [{ sendAt: '2035-05-17 22:00' }, { sendAt: '2035-05-17 23:00' }],
		},
		{
			what: 'at one moment that is written with two offsets',
			parameters: { additionalFields: { sendAt: '={{ $json.sendAt }}' } },
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
	])('is refused $what, in a dry run too', async ({ parameters, rows }) => {
		for (const options of [{}, { dryRun: true }]) {
			const action = pushCampaign(
				{ ...fixed, ...parameters, options },
				{ credential: stage().credential },
			);
			const { execution } = await runNodes(stage(), [action], rows);
			const said = execution.status === 'error' ? wordsOf(execution) : hintsOf(execution);
			expect(said).toMatch(/items 0(, | to )1\b.*the same notification/is);
		}
		expect(acceptedTitles(stage())).toEqual([]);
	});

	test('is refused in the editor, and nothing leaves', async () => {
		const action = pushCampaign(fixed, { credential: stage().credential });
		const execution = await runInEditor(stage(), [...listOf(titled('Sheet', 20)), action]);
		expect(wordsOf(execution)).toContain('Execute Once');
		expect(stage().simulator.requestCount).toBe(0);
	});
});

test.each([
	{ settings: {}, says: '4 of 20 items are not valid, so none would be sent', sends: 0 },
	{ settings: goesOn, says: '16 of 20 would be sent', sends: 16 },
])('a dry run says what the run does: $says', async ({ settings, says, sends }) => {
	const items = titled('Item', 20).map((item, index) => (index % 5 === 4 ? { title: '' } : item));
	const workflow = await sendWorkflow(stage(), { options: { dryRun: true }, settings });
	const dry = await workflow.run(items);
	expect(dry.status).toBe('success');
	expect(hintsOf(dry)).toContain(says);
	expect(acceptedTitles(stage())).toEqual([]);
	await workflow.change({ options: {}, settings });
	await workflow.run(items);
	expect(acceptedTitles(stage())).toHaveLength(sends);
});

describe('Test Subscriber ID', () => {
	const options = { testSubscriberId: '5001' };
	const parameters = { ...content, title: '={{ $json.title }}', options };
	const sentTo = () =>
		stage().simulator.requests.map(({ path, json }) => [path.split('/').at(-1), json]);

	test('each row of an evaluation goes to this subscriber alone', async () => {
		const { client, credential } = stage();
		const name = 'Test cases';
		const columns = { title: 'string' } as const;
		const tableId = await createDataTable(client, { name, columns, rows: titled('Case', 3) });
		const source = { source: 'dataTable', dataTableId: { __rl: true, mode: 'id', value: tableId } };
		const metrics = { assignments: [{ id: 'm', name: 'done', type: 'number', value: 1 }] };
		const { id } = await client.createWorkflow(
			chain('Evaluation', [
				node('Row', 'n8n-nodes-base.evaluationTrigger', source, { typeVersion: 4.7 }),
				pushCampaign(parameters, { credential }),
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
		expect(sentTo()).toMatchObject(
			titled('Case', 3).map(({ title }) => ['sid', { title, sid: '5001' }]),
		);
	});

	test.each(['once', 'each'] as const)(
		"is refused in a sub-workflow whose caller is run in the editor with mode '%s', and nothing leaves",
		async (mode) => {
			const action = pushCampaign(parameters, { credential: stage().credential });
			const subId = await subWorkflow(stage(), [action]);
			const execution = await runInEditor(stage(), [
				...listOf(titled('Item', 3)),
				callNode(subId, mode),
			]);
			expect(execution.status).toBe('error');
			expect(wordsOf(execution)).toContain("'Test Subscriber ID'");
			expect(stage().simulator.requestCount).toBe(0);
		},
	);
});

test("the rows of every send go into n8n's own data table, mapped automatically", async () => {
	const { client, simulator } = stage();
	const columns = Object.fromEntries(
		[
			...['campaignId', 'subscriberId', 'audience', 'status', 'description', 'title'],
			...['recipients', 'name', 'sendAt', 'idempotencyKey'],
		].map((column) => [column, 'string' as const]),
	);
	const tableId = await createDataTable(client, { name: 'Sent', columns });
	const table = node(
		'Table',
		'n8n-nodes-base.dataTable',
		{
			resource: 'row',
			operation: 'insert',
			dataTableId: { __rl: true, mode: 'id', value: tableId },
			columns: { mappingMode: 'autoMapInputData', value: null },
			options: {},
		},
		{ typeVersion: 1.1 },
	);
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
		const action = pushCampaign({ ...content, ...parameters }, { credential: stage().credential });
		const { execution } = await runNodes(stage(), [action, table]);
		said.push([execution.status, outputOf(execution, 'Table')[0]?.json['recipients']]);
	}
	expect(said).toEqual([
		['success', 'all subscribers'],
		['success', 'segments 11, 12'],
		['success', 'every subscriber with plan = pro or age = 7'],
		['success', 'subscriber 5001'],
	]);
	expect(simulator.campaigns.size).toBe(4);
});

describe('an execution that failed', () => {
	test('says how many of 5,000 items were sent, and Retry sends the rest and nothing twice', async () => {
		const { simulator } = stage();
		simulator.addFault(refusal('Item 2500'));
		const workflow = await sendWorkflow(stage());
		const failed = await workflow.run(titled('Item', 5_000));
		expect(failed.status).toBe('error');
		const sent = acceptedTitles(stage()).length;
		const { message } = failureOf(failed);
		expect(message).toBe(
			`The push service could not carry out the request. ${sent} of 5000 were sent.`,
		);
		const retried = await retryAsItSays(stage(), failed);
		expect(retried.status).toBe('success');
		expect(statusesOf(retried)).toEqual(titled('Item', 5_000).map(() => 'success'));
		expect(acceptedTitles(stage()).sort()).toEqual(titlesOf('Item', 5_000).sort());
		for (const { title, campaignId } of sentItems(retried)) {
			expect(simulator.campaigns.get(String(campaignId))?.body['title']).toBe(title);
		}
	});

	test('Retry On Fail sends the rest of a batch, and nothing twice', async () => {
		stage().simulator.addFault({ ...refusal('Item 30'), times: 2 });
		const workflow = await sendWorkflow(stage(), { settings: retryOnFail });
		expect((await workflow.run(titled('Item', 60))).status).toBe('success');
		expect(acceptedTitles(stage()).sort()).toEqual(titlesOf('Item', 60).sort());
	});

	test('two Retries of the same execution send each item once between them', async () => {
		const { client, simulator } = stage();
		const items = titled('Item', 40);
		simulator.addFault({ ...refusal('Item 10'), times: 2 });
		const workflow = await sendWorkflow(stage());
		const failed = await workflow.run(items);
		const first = await client.retryExecution(failed.id);
		expect(first.status).toBe('error');
		const second = await client.retryExecution(failed.id);
		expect(second.status).toBe('success');
		expect(acceptedTitles(stage()).sort()).toEqual(titlesOf('Item', 40).sort());
	});

	test('what was edited before a Retry sends nothing again that was sent, and the rest as edited', async () => {
		const { client, simulator } = stage();
		simulator.addFault(refusal('Item 2'));
		const workflow = await sendWorkflow(stage());
		const failed = await workflow.run(titled('Item', 3));
		await workflow.change({ parameters: { title: '=Edited {{ $json.title }}' } });
		const retried = await client.retryExecution(failed.id, { loadWorkflow: true });
		expect(retried.status).toBe('success');
		expect(acceptedTitles(stage()).sort()).toEqual(['Edited Item 2', 'Item 1', 'Item 3']);
	});

	test('a send whose answer was lost stays unknown, also with Retry On Fail and Retry', async () => {
		const { client, simulator } = stage();
		simulator.addFault(lostAnswer('Item 2'));
		const workflow = await sendWorkflow(stage(), { settings: retryOnFail });
		const failed = await workflow.run(titled('Item', 3));
		expect(failureOf(failed).message).toContain(isUnknown);
		const retried = await client.retryExecution(failed.id);
		expect(failureOf(retried).message).toContain(isUnknown);
		expect(acceptedTitles(stage()).sort()).toEqual(titlesOf('Item', 3));
	});

	test('names the host if nobody listens there', async () => {
		const { client, simulator } = stage();
		const address = 'http://127.0.0.1:1';
		const data = { ...secrets, baseUrl: address };
		const credential = await client.createCredential('Nobody there', credentialType, data);
		const workflow = await sendWorkflow({ client, credential });
		const failed = await workflow.run(titled('Item', 1));
		expect(failureOf(failed).message).toContain('127.0.0.1');
		expect(wordsOf(failed)).toContain("check 'Base URL'");
		expect(simulator.requestCount).toBe(0);
	});

	test('nothing is sent if one item of a batch is not valid', async () => {
		const workflow = await sendWorkflow(stage());
		const failed = await workflow.run([...titled('Item', 2), { title: 'x'.repeat(101) }]);
		expect(failed.status).toBe('error');
		expect(failureOf(failed).message).toMatch(
			/^1 of 3 items is not valid\. None was sent\. Item 2 /,
		);
		expect(stage().simulator.requestCount).toBe(0);
	});
});

describe('an execution that is stopped', () => {
	test('starts no further item', async () => {
		const { simulator } = stage();
		simulator.addFault(everySend);
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
		simulator.addFault({ ...everySend, skip: 10 });
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
