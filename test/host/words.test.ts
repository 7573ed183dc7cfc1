import type { INodeParameters } from 'n8n-workflow';
import { chain, connect, node, outputOf, until, webhookWorkflow } from '../../host';
import type { Fault } from '../../simulator';
import {
	acceptedTitles,
	byTitle,
	callNode,
	expectSent,
	failureOf,
	goesOn,
	hintsOf,
	listOf,
	lostAnswer,
	loopOver,
	publish,
	refusal,
	rowsTable,
	runInEditor,
	runNodes,
	sendNode,
	sendWorkflow,
	sentItems,
	setNode,
	statusesOf,
	subWorkflow,
	titled,
	titlesOf,
	expectRetrySendsRest,
	retryAsItSays,
	ringOf,
	useStage,
	wordsOf,
	type Item,
	type SendWorkflowOptions,
} from './support';

// Each test reads what the screen says, and does it. Nobody gets anything twice by it, and nobody is forgotten.

const stage = useStage();

const sender = (parameters?: INodeParameters, settings?: SendWorkflowOptions['settings']) =>
	sendNode(stage(), parameters, settings);

const retryOnFail = { retryOnFail: true, maxTries: 3 };
const toOne = { operation: 'sendToSubscriber', subscriberId: '={{ $json.to }}' };
const sale = { title: 'Sale' };
const newRunSendsAgain = 'A new execution also sends again what this one has sent.';
const couldNot = 'The push service could not carry out the request.';

/** An execution that fails, and what becomes of it if its words are followed. */
interface Told {
	what: string;
	published?: SendWorkflowOptions;
	items: Item[];
	faults?: Fault[];
	/** Its message. */
	says: string | RegExp;
	/** A part of its description. */
	names?: string;
	/** What is saved, and not published, before the Retry. */
	saved?: SendWorkflowOptions;
	/** The titles that the service has accepted in the end. */
	sent: string[];
	/** What the screen says behind the Retry. */
	hint?: string;
}

const told: Told[] = [
	{
		what: 'a text that is too long goes out with the option that is named',
		items: [...titled('Post', 2), { title: 'Long '.repeat(30) }],
		says: /^1 of 3 items is not valid\. None was sent\. Item 2 \(counted from 0\): /,
		names: 'Shorten Long Texts',
		saved: { options: { shortenTexts: true } },
		sent: ['Post 1', 'Post 2', `${'Long '.repeat(20).trim()}…`],
	},
	{
		what: 'one campaign goes out when the service is back, and until then nobody wonders who has it',
		items: titled('Alone', 1),
		faults: [refusal('Alone 1')],
		says: `${couldNot} Nothing was sent.`,
		sent: ['Alone 1'],
	},
	{
		what: 'nobody gets the draft that was saved during an outage',
		items: titled('Item', 60),
		faults: [refusal('Item 50')],
		says: /^The push service could not carry out the request\. \d\d of 60 were sent\.$/,
		names: `'Retry with original workflow', in the list of executions, sends only what was not sent, with the items of this execution. ${newRunSendsAgain}`,
		saved: { parameters: { title: '=Draft of {{ $json.title }}' } },
		sent: titlesOf('Item', 60),
	},
	{
		what: 'twenty rows in front of Send to All go out once',
		published: { parameters: sale },
		items: titled('Row', 20),
		faults: [refusal('Sale')],
		says: `${couldNot} None of 20 was sent.`,
		sent: ['Sale'],
		hint: '20 items are the same notification to all subscribers: it was sent once.',
	},
	{
		what: 'a post that is twice in a feed goes out once, and the others do, too',
		published: { options: byTitle },
		items: [...titled('Post', 3), ...titled('Post', 2)],
		faults: [refusal('Post 2')],
		says: /^The push service could not carry out the request\. /,
		sent: titlesOf('Post', 3),
	},
	{
		what: 'five posts under an ID that is typed on Fixed go out with what tells them apart',
		published: { options: { idempotencyKey: 'rss' } },
		items: titled('Post', 5),
		says: `'Send Only Once' is "rss" for items 0 to 4, which are different notifications`,
		names: 'Put into it what tells one from another',
		saved: { options: byTitle },
		sent: titlesOf('Post', 5),
	},
	{
		what: 'one notification under different IDs goes out once under one',
		published: { parameters: sale, options: byTitle },
		items: titled('Row', 20),
		says: /^Items 0 to 19 are the same notification to all subscribers, under different IDs in 'Send Only Once': "Row 1", .* and 10 more$/,
		names: 'Put into it what stays the same for one notification',
		saved: { parameters: sale, options: { idempotencyKey: 'sale' } },
		sent: ['Sale'],
	},
	{
		what: 'two lines of one order both reach their subscriber',
		published: { parameters: toOne, options: { idempotencyKey: '={{ $json.order }}' } },
		items: titled('Line', 2).map((line) => ({ ...line, to: '5001', order: 'A-1' })),
		says: `'Send Only Once' is "A-1" for items 0 (subscriber 5001), 1 (subscriber 5001), which are different notifications`,
		names: 'the number of the order',
		saved: { parameters: toOne, options: { idempotencyKey: '={{ $json.order + $json.title }}' } },
		sent: titlesOf('Line', 2),
	},
	{
		what: 'a dry run that was left in and published is red, and without it all go out',
		published: { options: { dryRun: true } },
		items: titled('Item', 5),
		says: "'Dry Run' is on, so nothing was sent. Outside of the editor it is refused: it would send nothing, green.",
		names: "Take 'Dry Run' out of the options.",
		saved: { options: {} },
		sent: titlesOf('Item', 5),
	},
	{
		what: 'half of 2,000 rows without a title are told in a line',
		items: titled('Row', 2_000).map(({ title }, index) => ({
			title: index % 2 ? title : '',
			index,
		})),
		says: /^1,000 of 2,000 items are not valid\. None was sent\. Items 0, 2, 4, 6, 8, 10, 12, 14, 16, 18 and 990 more \(counted from 0\): 'Title' is empty for this item$/,
		saved: { parameters: { title: '=Row {{ $json.index + 1 }}' } },
		sent: titlesOf('Row', 2_000),
	},
];

describe('an execution that failed: its words are followed, on what is saved and not published', () => {
	test.each(told)(
		'$what',
		async ({ published, items, faults = [], says, names = '', saved, sent, hint = '' }) => {
			for (const fault of faults) stage().simulator.addFault(fault);
			const workflow = await sendWorkflow(stage(), published);
			const failed = await workflow.run(items);
			expect(failureOf(failed).message).toMatch(says);
			expect(failureOf(failed).description).toContain(names);
			const before = acceptedTitles(stage()).length;
			expect(wordsOf(failed).includes(newRunSendsAgain)).toBe(
				before > 0 && published?.options === undefined,
			);
			if (saved !== undefined) await workflow.save(saved);
			const retried = await expectRetrySendsRest(stage(), failed, ...sent);
			expect(hintsOf(retried)).toContain(hint);
		},
	);

	test('a dry run is refused in a Retry, so that the next one sends the rest', async () => {
		const { client, simulator } = stage();
		simulator.addFault(refusal('Item 2'));
		const workflow = await sendWorkflow(stage());
		const failed = await workflow.run(titled('Item', 3));
		await workflow.save({ options: { dryRun: true } });
		const looked = await client.retryExecution(failed.id, { loadWorkflow: true });
		expect(wordsOf(looked)).toContain("Take 'Dry Run' out of the options.");
		// n8n counts no Retry that worked, and offers one.
		expect((await client.execution(failed.id))['retrySuccessId'] ?? null).toBeNull();
		await workflow.save({ options: {} });
		await expectRetrySendsRest(stage(), looked, ...titlesOf('Item', 3));
	});

	test('a workflow that was imported with a timezone that is none sends nothing, and names its settings', async () => {
		const workflow = await sendWorkflow(stage());
		const timezone = async (zone: string) =>
			await stage().client.updateWorkflow(workflow.id, {
				settings: { executionOrder: 'v1', timezone: zone },
			});
		await timezone('Asia/Kolkatta');
		await stage().client.activate(workflow.id);
		const failed = await workflow.run(titled('Item', 2));
		expect(failed.status).toBe('error');
		expect(wordsOf(failed)).toMatch(/Asia\/Kolkatta.*settings/s);
		expect(wordsOf(failed)).not.toMatch(/unknown what was sent/);
		expect(stage().simulator.requestCount).toBe(0);
		await timezone('Asia/Kolkata');
		expect((await stage().client.retryExecution(failed.id, { loadWorkflow: true })).status).toBe(
			'success',
		);
		expectSent(stage(), ...titlesOf('Item', 2));
	});

	test('40 that are unknown are named, and nothing is left that a Retry would send', async () => {
		const { client, simulator } = stage();
		// The first 20 end, and then 40 have left before the first of them ends.
		simulator.setLatency(500);
		simulator.addFault({ skip: 20, times: 0, action: { kind: 'reset-after' } });
		const workflow = await sendWorkflow(stage());
		const failed = await workflow.run(titled('Item', 60));
		simulator.clearFaults();
		expect(failureOf(failed).message).toMatch(
			/^Do not send them again yet: it is unknown whether 40 of 60 were sent .*\. 20 of 60 were sent\.$/,
		);
		expect(failureOf(failed).description).toBe(
			'Unknown: items 20 to 59 (counted from 0). Look for them in the dashboard of your push service. What is not there can be sent from there.',
		);
		expect((await client.retryExecution(failed.id)).status).toBe('error');
		expectSent(stage(), ...titlesOf('Item', 60));
	});

	test('one that is unknown keeps nothing else back: the Retry that its words name sends the others', async () => {
		const { simulator } = stage();
		simulator.addFault(lostAnswer('Item 2'));
		const workflow = await sendWorkflow(stage(), { settings: retryOnFail });
		const items = titled('Item', 60);
		const failed = await workflow.run(items);
		expect(failureOf(failed).message).toMatch(
			/^Do not send it again yet: it is unknown whether item 1 was sent /,
		);
		await stage().client.retryExecution(failed.id);
		expectSent(stage(), ...titlesOf('Item', 60));
	});
});

describe('200 personal notifications, three of whose subscribers have unsubscribed', () => {
	const gone = ['999', '998', '997'];
	const people = Array.from({ length: 200 }, (_, index) => ({
		title: `For ${index}`,
		to: index % 70 === 0 ? gone[index / 70] : `${5001 + index}`,
	}));

	test.each([
		{ how: 'as the node is', settings: {} },
		{ how: 'with Retry On Fail', settings: retryOnFail },
	])(
		'go out $how: green, flat rows for a table behind it, and a hint that names the three',
		async ({ settings }) => {
			const table = await rowsTable(stage());
			const nodes = [sender({ ...toOne }, settings), table];
			const { execution } = await runNodes(stage(), nodes, people);
			expect(execution.status).toBe('success');
			expect(statusesOf(execution)).toEqual(
				people.map(({ to = '' }) => (gone.includes(to) ? 'notSent' : 'success')),
			);
			expect(sentItems(execution)[0]).toEqual({
				subscriberId: '999',
				audience: 'subscriber',
				status: 'notSent',
				description: 'The push service has no subscriber 999',
				title: 'For 0',
				recipients: 'subscriber 999',
			});
			expect(hintsOf(execution)).toContain(
				'3 subscribers are not there any more: 999, 998, 997. Nothing was sent for them.',
			);
			expect(outputOf(execution, table.name)).toHaveLength(200);
			expectSent(
				stage(),
				...people.flatMap(({ title, to = '' }) => (gone.includes(to) ? [] : [title])),
			);
			expect(stage().simulator.requestCount).toBe(200);
		},
	);
});

describe('an ID', () => {
	const atOnce = { idempotencyKey: '={{ $now.toISO() }}' };

	test('that reads the clock is refused, and the field that its words name is the same in a Retry', async () => {
		const refused = await (await sendWorkflow(stage(), { options: atOnce })).run(titled('A', 1));
		expect(failureOf(refused).message).toMatch(
			/^'Send Only Once' reads the clock, the execution or chance: \$now/,
		);
		expect(failureOf(refused).description).toContain(
			"write the date into the item by Edit Fields in front of this node, such as into a field 'day', and use {{ $json.day }}.",
		);
		expect(stage().simulator.requestCount).toBe(0);

		stage().simulator.addFault(refusal('A 1'));
		const day = setNode('Day', '={{ { ...$json, day: $now.toISO() } }}');
		const options = { idempotencyKey: '={{ $json.day }}' };
		const workflow = await publish(stage(), (path) =>
			webhookWorkflow(path, [day, sender({ options })]),
		);
		const failed = await workflow.run(titled('A', 1));
		const retried = await expectRetrySendsRest(stage(), failed, 'A 1');
		const written = outputOf(retried, day.name)[0]?.json['day'];
		expect(sentItems(retried)[0]?.['idempotencyKey']).toBe(written);
	});

	test('whose answer was lost is told once, and is a row in each later execution, which sends what is new', async () => {
		stage().simulator.addFault(lostAnswer('Post 2'));
		const workflow = await sendWorkflow(stage(), { options: byTitle });
		const failed = await workflow.run(titled('Post', 2));
		expect(failureOf(failed).message).toMatch(/it is unknown whether item 1 was sent/);
		for (const count of [2, 3, 4]) {
			const later = await workflow.run(titled('Post', count));
			expect(later.status).toBe('success');
			expect(statusesOf(later).slice(0, 2)).toEqual(['alreadySent', 'unknown']);
			expect(hintsOf(later)).toContain(
				"Of 1 item it is unknown whether it was sent: ID 'Post 2'. Nothing was sent for it.",
			);
		}
		expectSent(stage(), ...titlesOf('Post', 4));
	});
});

test('out of time while thousands of items are read, it says that none of them was sent', async () => {
	const { client, simulator } = stage();
	const workflow = await sendWorkflow(stage(), { options: byTitle });
	const settings = { executionOrder: 'v1', executionTimeout: 3 } as const;
	await client.updateWorkflow(workflow.id, { settings });
	await client.activate(workflow.id);
	const ended = await workflow.run(titled('Row', 30_000));
	expect(wordsOf(ended)).toBe('The execution was canceled. None of 30,000 was sent.\n');
	expect(simulator.requestCount).toBe(0);
});

describe('what else the workflow has sent is not known, so nothing is ordered', () => {
	test.each([
		{ what: 'without keys', options: {} },
		{ what: 'with keys', options: byTitle },
	])('in a loop that goes on after its first row, $what', async ({ options }) => {
		stage().simulator.addFault(refusal('Row 1'));
		const workflow = await publish(stage(), (path) =>
			loopOver(path, [sender({ options }, goesOn)]),
		);
		const first = await workflow.run(titled('Row', 6));
		expect(first.status).toBe('success');
		const [round] = first.data.resultData.runData['Push Campaign'] ?? [];
		const hints = JSON.stringify(round?.['hints']);
		expect(hints).toContain('1 of 1 item failed');
		expect(hints).not.toMatch(/Retry|run the/);
		expect(acceptedTitles(stage())).toEqual(titlesOf('Row', 6).slice(1));
		if (options !== byTitle) return;
		await workflow.run(titled('Row', 6));
		expectSent(stage(), ...titlesOf('Row', 6));
	});

	test.each([
		{
			what: 'a Push Campaign node',
			parameters: { title: '=Caller, {{ $json.title }}' },
			match: { bodyIncludes: 'Caller, Item 2' },
			says: "'Retry with original workflow', in the list of executions, sends only",
			own: titlesOf('Caller, Item', 3),
		},
		{
			what: 'Get Status',
			parameters: { operation: 'getStatus' },
			match: { method: 'GET' },
			says: "'Retry with currently saved workflow', in the list of executions, goes on from this node",
			own: [],
		},
	])(
		'$what that fails behind a sub-workflow that has sent',
		async ({ parameters, match, says, own }) => {
			const subId = await subWorkflow(stage(), [sender()]);
			const type = own.length > 0 ? {} : { type: 'bad_request' };
			stage().simulator.addFault({
				match,
				action: { kind: 'failure', ...type, description: 'No' },
			});
			const workflow = await publish(stage(), (path) =>
				webhookWorkflow(path, [callNode(subId, 'once'), sender(parameters)]),
			);
			const failed = await workflow.run(titled('Item', 3));
			expect(wordsOf(failed)).toContain(says);
			await expectRetrySendsRest(stage(), failed, ...own, ...titlesOf('Item', 3));
		},
	);

	test('by a node that is not valid behind one that has sent: mended, a Retry sends its own alone', async () => {
		const nodes = [sender({}, { name: 'First' }), sender({ title: '={{ $json.missing }}' })];
		const workflow = await publish(stage(), (path) => webhookWorkflow(path, nodes));
		const failed = await workflow.run(titled('Item', 2));
		expect(failureOf(failed).message).toBe("'Title' is empty for this item");
		await workflow.save(sender({ title: '=Second, {{ $json.title }}' }));
		const sent = [...titlesOf('Item', 2), ...titlesOf('Second, Item', 2)];
		await expectRetrySendsRest(stage(), failed, ...sent);
	});
});

test('a run that goes on, with Retry On Fail, says each of three kinds of failures once', async () => {
	const { simulator } = stage();
	simulator.addFault(refusal('Item 2'));
	simulator.addFault(lostAnswer('Item 4'));
	const workflow = await sendWorkflow(stage(), { settings: { ...goesOn, ...retryOnFail } });
	const items = [...titled('Item', 5), { title: 'x'.repeat(101) }];
	const execution = await workflow.run(items);
	const hints = hintsOf(execution);
	expect(hints.match(/3 of 6 items failed/g)).toHaveLength(1);
	expect(hints).toContain('Not sent: items 1, 5 (counted from 0). Unknown: item 3');
	expect(hints.match(/\bNot sent: /g)).toHaveLength(1);
	expect(hints.match(/\bUnknown\b/g)).toHaveLength(1);
	expect(statusesOf(execution)).toEqual([
		...['success', 'notSent', 'success', 'unknown', 'success', 'notSent'],
	]);
	expectSent(stage(), 'Item 1', 'Item 3', 'Item 4', 'Item 5');
});

describe('in the editor', () => {
	test.each([
		{ what: 'Send At', additionalFields: { sendAt: '={{ $now.plus({ hours: 3 }).toISO() }}' } },
		{
			what: 'Quiet Hours',
			additionalFields: { quietHours: { hours: { from: '00:00', to: '23:59' } } },
		},
	])('a test goes out right away in spite of $what', async ({ additionalFields }) => {
		const options = { testSubscriberId: '5003' };
		const action = sender({ additionalFields, options });
		const execution = await runInEditor(stage(), [...listOf(titled('Item', 2)), action]);
		const { requests } = stage().simulator;
		expect(requests.map(({ path }) => path.split('/').at(-1))).toEqual(['sid']);
		expect(requests[0]?.json).toMatchObject({ title: 'Item 1', sid: '5003' });
		expect(requests[0]?.json).not.toHaveProperty('send_at');
		expect(hintsOf(execution)).toMatch(
			/it went to subscriber 5003 alone\..* they go each to all subscribers on \d+ \w+ \d+ at /,
		);
	});

	test('whoever has sent 3 of 4 is told that a new execution sends them again, and a Retry sends the fourth alone', async () => {
		const { client, simulator } = stage();
		simulator.addFault(refusal('Item 4'));
		const list = node('Items', 'n8n-nodes-base.noOp');
		const start = node('Start', 'n8n-nodes-base.manualTrigger');
		const draft = chain('Pinned', [start, list, sender()]);
		const pinData = { [list.name]: titled('Item', 4).map((json) => ({ json })) };
		const { id } = await client.createWorkflow(Object.assign(draft, { pinData }));
		const failed = await client.runManually(id, start.name);
		expect(failureOf(failed).message).toBe(`${couldNot} 3 of 4 were sent.`);
		expect(failureOf(failed).description).toContain(newRunSendsAgain);
		await expectRetrySendsRest(stage(), failed, ...titlesOf('Item', 4));
	});

	test('whoever has sent nothing clicks once more: no Retry is named', async () => {
		stage().simulator.addFault({ ...refusal('Item 1'), times: 1 });
		const nodes = [...listOf(titled('Item', 1)), sender()];
		const failed = await runInEditor(stage(), nodes);
		expect(wordsOf(failed)).toBe(
			`${couldNot} Nothing was sent.\nThe service says: "Something went wrong".`,
		);
		await runInEditor(stage(), nodes);
		expectSent(stage(), 'Item 1');
	});
});

describe('an error output that is wired back into the node', () => {
	const isFirstRounds = node('First rounds', 'n8n-nodes-base.filter', {
		conditions: { boolean: [{ value1: '={{ $runIndex < 3 }}', value2: true }] },
	});
	const wait = node('Wait', 'n8n-nodes-base.wait', { amount: 0.1 }, { typeVersion: 1.1 });
	const byErrors = { onError: 'continueErrorOutput' } as const;

	test.each([
		{ what: 'without a key', options: {}, failures: [2, 1, 1] },
		// Its ID says that it is unknown: then it is a row.
		{ what: 'with a key', options: byTitle, failures: [2, 0] },
	])(
		'sends the refused one in the next round, and the unknown one never again, $what',
		async ({ options, failures }) => {
			stage().simulator.addFault(lostAnswer('Item 2'));
			stage().simulator.addFault(refusal('Item 3'));
			const workflow = await publish(stage(), (path) =>
				ringOf(path, [wait, isFirstRounds, sender({ options }, byErrors)], 1),
			);
			const execution = await workflow.run(titled('Item', 4));
			expect(execution.status).toBe('success');
			const rounds = execution.data.resultData.runData['Push Campaign'] ?? [];
			expect(rounds.map(({ data }) => data?.['main']?.[1]?.length ?? 0)).toEqual(failures);
			expectSent(stage(), ...titlesOf('Item', 4));
		},
	);

	test('never sends the unknown one again, also by a Retry after a node on its way back has failed', async () => {
		stage().simulator.addFault(lostAnswer('Item 2'));
		const action = sender({ operation: 'sendToSubscriber', subscriberId: '5001' }, byErrors);
		const broken = node(isFirstRounds.name, 'n8n-nodes-base.stopAndError', { errorMessage: 'No' });
		const workflow = await publish(stage(), (path) => {
			const alone = webhookWorkflow(path, [action]);
			const both = { ...alone, nodes: [...alone.nodes, broken] };
			const there = connect(both, action.name, broken.name, { output: 1 });
			return connect(there, broken.name, action.name);
		});
		const failed = await workflow.run(titled('Item', 3));
		expect(failed.status).toBe('error');
		await workflow.save(isFirstRounds);
		const retried = await stage().client.retryExecution(failed.id, { loadWorkflow: true });
		expect(retried.status).toBe('success');
		expectSent(stage(), ...titlesOf('Item', 3));
	});
});

describe('settings that nobody has told', () => {
	test('a sub-workflow that is called for each item, with keys: the Retry of its caller sends the rest alone', async () => {
		stage().simulator.addFault(refusal('Item 4'));
		const subId = await subWorkflow(stage(), [sender({ options: byTitle })]);
		const workflow = await publish(stage(), (path) =>
			webhookWorkflow(path, [callNode(subId, 'each')]),
		);
		const failed = await workflow.run(titled('Item', 6));
		expect(wordsOf(failed)).toContain(
			'A Retry of the workflow that called it begins from the beginning.',
		);
		expect(acceptedTitles(stage())).toEqual(titlesOf('Item', 3));
		expect((await stage().client.retryExecution(failed.id)).status).toBe('success');
		expectSent(stage(), ...titlesOf('Item', 6));
	});

	test('a node that goes on with something unknown, in front of one that takes it for its own: a Retry sends what the second one could, and nothing offers to send the rest', async () => {
		const { simulator } = stage();
		simulator.addFault(lostAnswer('First 2'));
		simulator.addFault(refusal('Second 3'));
		const named = (name: string, settings = {}) =>
			sender({ title: `=${name} {{ $('Items').item.json.number }}` }, { ...settings, name });
		const workflow = await publish(stage(), (path) =>
			webhookWorkflow(path, [named('First', goesOn), named('Second')]),
		);
		const failed = await workflow.run([1, 2, 3].map((number) => ({ number })));
		expect(failureOf(failed).message).toContain(
			'(what came in is marked as unknown by another send)',
		);
		const retried = await retryAsItSays(stage(), failed);
		expect(retried.status).toBe('error');
		expect(wordsOf(retried)).not.toContain('Retry with');
		expectSent(stage(), ...titlesOf('First', 3), 'Second 1', 'Second 3');
	});

	test('two sends with a pause between them that n8n saves: a Retry after the second fails sends its rest alone', async () => {
		const { client, simulator } = stage();
		simulator.addFault(refusal('Second, Item 2'));
		const url = setNode('Resume URL', '={{ { url: $execution.resumeUrl } }}');
		const wait = node(
			'Wait',
			'n8n-nodes-base.wait',
			{ resume: 'webhook' },
			{ typeVersion: 1.1, webhookId: 'resume' },
		);
		// After the pause n8n goes on with the call alone.
		const list = setNode('List', "={{ { items: $('Items').all().map(({ json }) => json) } }}");
		const rows = node('Rows', 'n8n-nodes-base.splitOut', { fieldToSplitOut: 'items' });
		const second = sender({ title: '=Second, {{ $json.title }}' }, { name: 'Second' });
		const workflow = await publish(stage(), (path) =>
			webhookWorkflow(path, [sender(), url, wait, list, rows, second]),
		);
		const running = workflow.run(titled('Item', 3));
		const [waiting] = await until(
			async () => await client.executions({ workflowId: workflow.id, status: ['waiting'] }),
			(all) => all.length > 0,
			{ within: 60_000, late: () => 'No execution waits' },
		);
		const paused = await client.execution(waiting?.id ?? '');
		await fetch(String(outputOf(paused, url.name)[0]?.json['url']));
		const failed = await running;
		expect(failureOf(failed).message).toMatch(/2 of 3 were sent\.$/);
		const sent = [...titlesOf('Item', 3), ...titlesOf('Second, Item', 3)];
		await expectRetrySendsRest(stage(), failed, ...sent);
	});
});
