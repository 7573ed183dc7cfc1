import type { INodeParameters } from 'n8n-workflow';
import { chain, connect, node, outputOf, until, webhookWorkflow } from '../../host';
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
	restGoesOut,
	retryAsItSays,
	expectRetrySendsRest,
	ringOf,
	runInEditor,
	secrets,
	sendNode,
	sendWorkflow,
	statusesOf,
	subWorkflow,
	titled,
	titlesOf,
	useStage,
	wordsOf,
	type SendWorkflowOptions,
} from './support';

// Each test reads what the screen says, and does it. Nobody gets anything twice by it, and nobody is forgotten.

const stage = useStage();

const keysHold = 'An ID that was sent is not sent again.';
const takeItOut = "Take 'Unknown Outcome' out of the options";
const nothingUnknown = "'Unknown Outcome' is set, and nothing here was left unknown";

const sender = (parameters?: INodeParameters, settings?: SendWorkflowOptions['settings']) =>
	sendNode(stage(), parameters, settings);

describe('an execution that failed: its words are followed, on what is saved and not published', () => {
	test('a text that is too long goes out with the option that they name', async () => {
		const workflow = await sendWorkflow(stage());
		const failed = await workflow.run([...titled('Post', 2), { title: 'Long '.repeat(30) }]);
		expect(failureOf(failed).message).toMatch(
			/^1 of 3 items is not valid\. None was sent\. Item 2 /,
		);
		expect(failureOf(failed).description).toMatch(/Shorten Long Texts/);
		expect(stage().simulator.requestCount).toBe(0);
		await workflow.save({ options: { shortenTexts: true } });
		expect((await retryAsItSays(stage(), failed)).status).toBe('success');
		expect(new Set(acceptedTitles(stage())).size).toBe(3);
		expect(acceptedTitles(stage())).toHaveLength(3);
	});

	test('of 200 subscribers 199 get theirs, and the one who has unsubscribed is named by ID', async () => {
		const workflow = await sendWorkflow(stage(), {
			parameters: { operation: 'sendToSubscriber', subscriberId: '={{ $json.to }}' },
		});
		const ids = Array.from({ length: 200 }, (_, index) =>
			index === 30 ? '999' : `${5001 + index}`,
		);
		const failed = await workflow.run(ids.map((to) => ({ title: 'For you', to })));
		const { message, description } = failureOf(failed);
		expect(message).toBe('The push service has no subscriber 999. 199 of 200 were sent.');
		expect(description).toContain('With On Error set to Continue, the workflow goes on');
		await workflow.save({ settings: goesOn });
		const retried = await retryAsItSays(stage(), failed);
		expect(retried.status).toBe('success');
		expect(statusesOf(retried)).toEqual(ids.map((id) => (id === '999' ? 'notSent' : 'success')));
		expect(hintsOf(retried)).toContain('item 30 (subscriber 999)');
		const reached = [...stage().simulator.campaigns.values()].map(({ body }) => body['sid']);
		expect(reached.sort()).toEqual(ids.filter((id) => id !== '999').sort());
	});

	test('40 that are unknown are named, so that those that did not arrive are sent again, and the others count as sent', async () => {
		const { simulator } = stage();
		for (const title of ['Item 25', 'Item 30']) {
			simulator.addFault({ ...refusal(title), action: { kind: 'reset-before' } });
		}
		// The first 20 end, and then 40 have left before the first of them ends.
		simulator.setLatency(500);
		simulator.addFault({ skip: 20, times: 0, action: { kind: 'reset-after' } });
		const workflow = await sendWorkflow(stage());
		const failed = await workflow.run(titled('Item', 60));
		simulator.clearFaults();
		expect(failureOf(failed).message).toMatch(/40 of 60 were sent .*\. 20 of 60 were sent\.$/);
		expect(failureOf(failed).description).toMatch(/^Unknown: items 20 to 59 \(counted from 0\)\./);
		// As the page Reliability says it, which the words name.
		const unknownOutcome = "={{ [24, 29].includes($itemIndex) ? 'resend' : 'countAsSent' }}";
		await workflow.save({ options: { unknownOutcome } });
		const retried = await expectRetrySendsRest(stage(), failed, ...titlesOf('Item', 60));
		expect(statusesOf(retried).filter((status) => status === 'alreadySent')).toHaveLength(38);
		expect(hintsOf(retried)).toContain(takeItOut);
	});

	test.each(['takes the option out', 'leaves it in'])(
		'whom the service refuses after Send Again gets it by the next Retry of somebody who %s',
		async (how) => {
			const { simulator } = stage();
			simulator.addFault(lostAnswer('Item 1'));
			const workflow = await sendWorkflow(stage());
			const lost = await workflow.run(titled('Item', 1));
			simulator.addFault(refusal('Item 1'));
			await workflow.save({ options: { unknownOutcome: 'resend' } });
			let failed = await retryAsItSays(stage(), lost);
			expect(wordsOf(failed)).toContain(takeItOut);
			if (how === 'leaves it in') {
				failed = await retryAsItSays(stage(), failed);
				expect(wordsOf(failed)).toContain(nothingUnknown);
			}
			await workflow.save({ options: {} });
			// Once lost, and once as chosen.
			await expectRetrySendsRest(stage(), failed, 'Item 1', 'Item 1');
		},
	);

	test('a dry run is refused in a Retry, so that the next one sends the rest', async () => {
		const { client, simulator } = stage();
		simulator.addFault(refusal('Item 2'));
		const workflow = await sendWorkflow(stage());
		const failed = await workflow.run(titled('Item', 3));
		await workflow.save({ options: { dryRun: true } });
		const looked = await retryAsItSays(stage(), failed);
		expect(wordsOf(looked)).toContain("Take 'Dry Run' out of the options.");
		// n8n counts no Retry that worked, and offers one.
		expect((await client.execution(failed.id))['retrySuccessId'] ?? null).toBeNull();
		await workflow.save({ options: {} });
		await expectRetrySendsRest(stage(), looked, ...titlesOf('Item', 3));
	});

	test.each([
		{ what: 'is not valid any more', isMissing: false, options: {} },
		{ what: 'is not valid any more, with a key', isMissing: false, options: byTitle },
		{ what: 'has lost its credential', isMissing: true, options: {} },
		{ what: 'has lost its credential, with a key', isMissing: true, options: byTitle },
	])('Count as Sent counts an item that $what', async ({ isMissing, options }) => {
		const { client, simulator } = stage();
		const data = { ...secrets, baseUrl: simulator.url };
		const credential = await client.createCredential('Short-lived', 'pushCampaignApi', data);
		simulator.addFault(lostAnswer('Item 1'));
		const workflow = await sendWorkflow({ client, credential }, { options });
		const failed = await workflow.run(titled('Item', 1));
		if (isMissing) await client.request('DELETE', `credentials/${credential.id}`);
		await workflow.save({
			parameters: isMissing ? {} : { targetUrl: 'nowhere' },
			options: { ...options, unknownOutcome: 'countAsSent' },
		});
		expect(statusesOf(await retryAsItSays(stage(), failed))).toEqual(['alreadySent']);
		expectSent(stage(), 'Item 1');
	});
});

describe('Unknown Outcome', () => {
	test.each(['countAsSent', 'resend'])(
		'left in and published, %s decides nothing later: all is refused until it is taken out',
		async (unknownOutcome) => {
			stage().simulator.addFault(lostAnswer('Item 1'));
			const workflow = await sendWorkflow(stage(), { options: byTitle });
			const failed = await workflow.run(titled('Item', 2));
			await workflow.change({ options: { ...byTitle, unknownOutcome } });
			const retried = await retryAsItSays(stage(), failed);
			expect(retried.status).toBe('success');
			expect(hintsOf(retried)).toContain(takeItOut);
			const sent = acceptedTitles(stage());
			const later = await workflow.run(titled('Later', 3));
			expect(wordsOf(later)).toMatch(new RegExp(`^${nothingUnknown}`));
			expect(wordsOf(later)).toContain(takeItOut);
			expectSent(stage(), ...sent);
			await workflow.save({ options: byTitle });
			await expectRetrySendsRest(stage(), later, ...sent, ...titlesOf('Later', 3));
			expect(sent.filter((title) => title === 'Item 2')).toEqual(['Item 2']);
		},
	);

	test.each([
		{ before: {}, now: {}, what: 'without a key' },
		{ before: byTitle, now: { idempotencyKey: '=new {{ $json.title }}' }, what: 'under a new key' },
		{ before: {}, now: byTitle, what: 'under a key that was added later' },
	])(
		'is no business of a new execution $what: nothing leaves, in production and in the editor',
		async ({ before, now }) => {
			stage().simulator.addFault(lostAnswer('Item 1'));
			const workflow = await sendWorkflow(stage(), { options: before });
			const items = titled('Item', 3);
			await workflow.run(items);
			const sent = acceptedTitles(stage()).length;
			for (const unknownOutcome of ['countAsSent', 'resend']) {
				await workflow.change({ options: { ...now, unknownOutcome } });
				const action = sender({ options: { ...now, unknownOutcome } });
				const manual = await runInEditor(stage(), [...listOf(items), action]);
				for (const refused of [await workflow.run(items), manual]) {
					// One reason for all: no numbers.
					expect(failureOf(refused).message).toBe(`${nothingUnknown}. None of 3 was sent.`);
				}
			}
			expect(acceptedTitles(stage())).toHaveLength(sent);
		},
	);
});

describe('what else the workflow has sent is not known, so nothing is ordered', () => {
	test.each([
		{ what: 'without keys', hasKeys: false, options: {} },
		{ what: 'with keys', hasKeys: true, options: byTitle },
	])('in a loop that goes on after its first row, $what', async ({ hasKeys, options }) => {
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
		expect(hints.includes(keysHold)).toBe(hasKeys);
		expect(acceptedTitles(stage())).toEqual(titlesOf('Row', 6).slice(1));
		if (!hasKeys) return;
		await workflow.run(titled('Row', 6));
		expectSent(stage(), ...titlesOf('Row', 6));
	});

	test.each(['behind', 'beside'])(
		'by a node that goes on, with another one %s it that sends',
		async (where) => {
			stage().simulator.addFault(refusal('A 2'));
			const named = (name: string, settings = {}) => {
				const title = `=${name} {{ $('Items').item.json.number }}`;
				const options = { idempotencyKey: "={{ $('Items').item.json.number }}" };
				return sender({ title, options }, { ...settings, name });
			};
			const [first, second] = [named('A', goesOn), named('B')];
			const workflow = await publish(stage(), (path) => {
				if (where === 'behind') return webhookWorkflow(path, [first, second]);
				const alone = webhookWorkflow(path, [first]);
				return connect({ ...alone, nodes: [...alone.nodes, second] }, 'Items', second.name);
			});
			const items = [1, 2, 3].map((number) => ({ number }));
			const execution = await workflow.run(items);
			expect(execution.status).toBe('success');
			expect(hintsOf(execution, 'A')).toContain(keysHold);
			await workflow.run(items);
			expectSent(stage(), ...titlesOf('A', 3), ...titlesOf('B', 3));
		},
	);

	test.each([
		{
			what: 'a Push Campaign node',
			parameters: { title: '=Caller, {{ $json.title }}' },
			match: { bodyIncludes: 'Caller, Item 2' },
			says: restGoesOut,
			own: titlesOf('Caller, Item', 3),
		},
		{
			what: 'Get Status',
			parameters: { operation: 'getStatus' },
			match: { method: 'GET' },
			says: 'goes on from this node',
			own: [],
		},
	])(
		'$what that fails behind a sub-workflow that has sent',
		async ({ parameters, match, says, own }) => {
			const subId = await subWorkflow(stage(), [sender()]);
			stage().simulator.addFault({
				match,
				action: { kind: 'failure', type: 'bad_request', description: 'No' },
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
		expect(failureOf(failed).message).toBe("'Title' is empty for this item. None of 2 was sent.");
		await workflow.save(sender({ title: '=Second, {{ $json.title }}' }));
		const sent = [...titlesOf('Item', 2), ...titlesOf('Second, Item', 2)];
		await expectRetrySendsRest(stage(), failed, ...sent);
	});
});

test('a run that goes on says each of three kinds of failures once', async () => {
	const { simulator } = stage();
	simulator.addFault(refusal('Item 2'));
	simulator.addFault(lostAnswer('Item 4'));
	const workflow = await sendWorkflow(stage(), { settings: goesOn });
	const items = [...titled('Item', 5), { title: 'x'.repeat(101) }];
	const execution = await workflow.run(items);
	const hints = hintsOf(execution);
	expect(hints.match(/3 of 6 items failed/g)).toHaveLength(1);
	expect(hints).toContain('Not sent: items 1, 5 (counted from 0). Unknown: item 3.');
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

	test('a run that failed in part with pinned items is retried, and nothing is sent twice', async () => {
		const { client, simulator } = stage();
		simulator.addFault(refusal('Item 2'));
		const list = node('Items', 'n8n-nodes-base.noOp');
		const start = node('Start', 'n8n-nodes-base.manualTrigger');
		const draft = chain('Pinned', [start, list, sender()]);
		const pinData = { [list.name]: titled('Item', 3).map((json) => ({ json })) };
		const { id } = await client.createWorkflow(Object.assign(draft, { pinData }));
		const failed = await client.runManually(id, start.name);
		await expectRetrySendsRest(stage(), failed, ...titlesOf('Item', 3));
	});
});

describe('an error output that is wired back into the node', () => {
	const isFirstRounds = node('First rounds', 'n8n-nodes-base.filter', {
		conditions: { boolean: [{ value1: '={{ $runIndex < 3 }}', value2: true }] },
	});
	const wait = node('Wait', 'n8n-nodes-base.wait', { amount: 0.1 }, { typeVersion: 1.1 });
	const byErrors = { onError: 'continueErrorOutput' } as const;

	test.each([
		{ what: 'without a key', options: {} },
		{ what: 'with a key', options: byTitle },
	])(
		'sends the refused one in the next round, and the unknown one never again, $what',
		async ({ options }) => {
			stage().simulator.addFault(lostAnswer('Item 2'));
			stage().simulator.addFault(refusal('Item 3'));
			const workflow = await publish(stage(), (path) =>
				ringOf(path, [wait, isFirstRounds, sender({ options }, byErrors)], 1),
			);
			const execution = await workflow.run(titled('Item', 4));
			expect(execution.status).toBe('success');
			const rounds = execution.data.resultData.runData['Push Campaign'] ?? [];
			expect(rounds.map(({ data }) => data?.['main']?.[1]?.length ?? 0)).toEqual([2, 1, 1]);
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

	test('with Send Again left in, sends what an earlier execution left unknown once more, and no further time', async () => {
		const { simulator } = stage();
		simulator.addFault({ ...lostAnswer('Item 1'), times: 2 });
		const workflow = await publish(stage(), (path) =>
			ringOf(path, [wait, isFirstRounds, sender({ options: byTitle }, byErrors)], 1),
		);
		await workflow.run(titled('Item', 2));
		expectSent(stage(), ...titlesOf('Item', 2));
		await workflow.change(sender({ options: { ...byTitle, unknownOutcome: 'resend' } }, byErrors));
		const execution = await workflow.run(titled('Item', 3));
		expect(outputOf(execution, 'Push Campaign', 1)).toMatchObject([
			{ json: { error: { outcome: 'unknown' } } },
		]);
		expectSent(stage(), 'Item 1', 'Item 1', 'Item 2', 'Item 3');
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

	test('a node that goes on with something unknown, in front of one that takes it for its own: Send Again and a Retry send what the second has left', async () => {
		const { simulator } = stage();
		simulator.addFault(lostAnswer('First 2'));
		simulator.addFault(refusal('Second 3'));
		const named = (name: string, settings = {}, options = {}) =>
			sender(
				{ title: `=${name} {{ $('Items').item.json.number }}`, options },
				{ ...settings, name },
			);
		const workflow = await publish(stage(), (path) =>
			webhookWorkflow(path, [named('First', goesOn), named('Second')]),
		);
		const failed = await workflow.run([1, 2, 3].map((number) => ({ number })));
		expect(wordsOf(failed)).toContain("leave out its field 'error'");
		expect(wordsOf(failed)).toContain('if it is not, Send Again');
		await workflow.save(named('Second', {}, { unknownOutcome: 'resend' }));
		await expectRetrySendsRest(stage(), failed, ...titlesOf('First', 3), ...titlesOf('Second', 3));
	});

	test('two sends with a pause between them that n8n saves: a Retry after the second fails sends its rest alone', async () => {
		const { client, simulator } = stage();
		simulator.addFault(refusal('Second, Item 2'));
		const set = (name: string, jsonOutput: string) =>
			node(name, 'n8n-nodes-base.set', { mode: 'raw', jsonOutput }, { typeVersion: 3.4 });
		const url = set('Resume URL', '={{ { url: $execution.resumeUrl } }}');
		const wait = node(
			'Wait',
			'n8n-nodes-base.wait',
			{ resume: 'webhook' },
			{ typeVersion: 1.1, webhookId: 'resume' },
		);
		// After the pause n8n goes on with the call alone.
		const list = set('List', "={{ { items: $('Items').all().map(({ json }) => json) } }}");
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
