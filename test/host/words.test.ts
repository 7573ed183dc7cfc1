import type { INodeParameters } from 'n8n-workflow';
import { connect, node, outputOf, pushCampaign, until, webhookWorkflow } from '../../host';
import { useStage } from './support';
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
	restGoesOut,
	retryAsItSays,
	runInEditor,
	sendWorkflow,
	statusesOf,
	subscribersReached,
	titled,
	titlesOf,
	wordsOf,
	type SendWorkflowOptions,
} from './support/sends';
import { callNode, subWorkflow } from './support/subWorkflows';
import { loopOver, publish, ringOf } from './support/workflows';

// Each test reads what the screen says, and does it. Nobody gets anything twice by it, and nobody is forgotten.

const stage = useStage();

const keysHold = 'An ID that was sent is not sent again.';
const takeItOut = "Take 'Unknown Outcome' out of the options";
const nothingUnknown = "'Unknown Outcome' is set, and nothing here was left unknown";

const content = {
	title: '={{ $json.title }}',
	message: 'Twenty percent off',
	targetUrl: 'https://shop.example/sale',
};
const sender = (changes: INodeParameters = {}, settings: SendWorkflowOptions['settings'] = {}) =>
	pushCampaign({ ...content, ...changes }, { credential: stage().credential, ...settings });

describe('an execution that failed: its words are followed, on what is saved and not published', () => {
	test('a text that is too long goes out with the option that they name', async () => {
		const workflow = await sendWorkflow(stage());
		const failed = await workflow.run([...titled('Post', 2), { title: 'Long '.repeat(30) }]);
		expect(failureOf(failed).message).toMatch(/^1 of 3 items is not valid\. None was sent\./);
		expect(failureOf(failed).description).toMatch(/Shorten Long Texts/);
		await workflow.save({ options: { shortenTexts: true } });
		expect((await retryAsItSays(stage(), failed)).status).toBe('success');
		expect(acceptedTitles(stage())).toHaveLength(3);
		expect(repeated(acceptedTitles(stage()))).toEqual([]);
	});

	test('of 200 subscribers 199 get theirs, and the one who has unsubscribed is told by ID', async () => {
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
		expect(subscribersReached(stage()).sort()).toEqual(ids.filter((id) => id !== '999').sort());
	});

	test('40 that are unknown are named, so that those that did not arrive are sent again, and the others count as sent', async () => {
		const { simulator } = stage();
		for (const title of ['Item 25', 'Item 30']) {
			simulator.addFault({
				match: { bodyIncludes: `"${title}"` },
				action: { kind: 'reset-before' },
			});
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
		const retried = await retryAsItSays(stage(), failed);
		expect(statusesOf(retried).filter((status) => status === 'alreadySent')).toHaveLength(38);
		expect(hintsOf(retried)).toContain(takeItOut);
		expect(acceptedTitles(stage()).sort()).toEqual(titlesOf('Item', 60).sort());
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
			expect((await retryAsItSays(stage(), failed)).status).toBe('success');
			// Once lost, and once as chosen.
			expect(acceptedTitles(stage())).toHaveLength(2);
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
		expect((await retryAsItSays(stage(), looked)).status).toBe('success');
		expect(acceptedTitles(stage()).sort()).toEqual(titlesOf('Item', 3));
	});

	test.each([
		{ what: 'is not valid any more', options: {} },
		{ what: 'is not valid any more, with a key', options: byTitle },
		{ what: 'has lost its credential', options: {} },
		{ what: 'has lost its credential, with a key', options: byTitle },
	])('Count as Sent counts an item that $what', async ({ what, options }) => {
		const { client, simulator } = stage();
		const data = {
			baseUrl: simulator.url,
			apiKey: 'key-5f1c9be2a7',
			authToken: 'token-93d07ac41e',
		};
		const credential = await client.createCredential('Short-lived', 'pushCampaignApi', data);
		simulator.addFault(lostAnswer('Item 1'));
		const workflow = await sendWorkflow({ client, credential }, { options });
		const failed = await workflow.run(titled('Item', 1));
		const isCredential = what.includes('credential');
		if (isCredential) await client.request('DELETE', `credentials/${credential.id}`);
		await workflow.save({
			parameters: isCredential ? {} : { targetUrl: 'nowhere' },
			options: { ...options, unknownOutcome: 'countAsSent' },
		});
		expect(statusesOf(await retryAsItSays(stage(), failed))).toEqual(['alreadySent']);
		expect(acceptedTitles(stage())).toEqual(['Item 1']);
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
			const sends = acceptedTitles(stage()).length;
			const later = await workflow.run(titled('Later', 3));
			expect(wordsOf(later)).toMatch(new RegExp(`^${nothingUnknown}`));
			expect(wordsOf(later)).toContain(takeItOut);
			expect(acceptedTitles(stage())).toHaveLength(sends);
			await workflow.save({ options: byTitle });
			expect((await retryAsItSays(stage(), later)).status).toBe('success');
			const accepted = acceptedTitles(stage());
			expect(accepted.filter((title) => title.startsWith('Later')).sort()).toEqual(
				titlesOf('Later', 3),
			);
			expect(accepted.filter((title) => title === 'Item 2')).toEqual(['Item 2']);
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
		{ what: 'without keys', options: {}, says: '' },
		{ what: 'with keys', options: byTitle, says: keysHold },
	])('in a loop that goes on after its first row, $what', async ({ options, says }) => {
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
		expect(hints.includes(keysHold)).toBe(says !== '');
		expect(acceptedTitles(stage())).toEqual(titlesOf('Row', 6).slice(1));
		if (says === '') return;
		await workflow.run(titled('Row', 6));
		expect(acceptedTitles(stage()).sort()).toEqual(titlesOf('Row', 6));
	});

	test.each(['behind', 'beside'])(
		'by a node that goes on, with another one %s it that sends',
		async (where) => {
			stage().simulator.addFault(refusal('A 2'));
			const named = (name: string, settings = {}) => {
				const title = `=${name} {{ $('Items').item.json.number }}`;
				const options = { idempotencyKey: "={{ $('Items').item.json.number }}" };
				return { ...sender({ title, options }, settings), name };
			};
			const [first, second] = [named('A', goesOn), named('B')];
			const workflow = await publish(stage(), (path) =>
				where === 'behind'
					? webhookWorkflow(path, [first, second])
					: connect(
							{
								...webhookWorkflow(path, [first]),
								nodes: [...webhookWorkflow(path, [first]).nodes, second],
							},
							'Items',
							second.name,
						),
			);
			const items = [1, 2, 3].map((number) => ({ number }));
			const execution = await workflow.run(items);
			expect(execution.status).toBe('success');
			expect(hintsOf(execution, 'A')).toContain(keysHold);
			await workflow.run(items);
			expect(acceptedTitles(stage()).sort()).toEqual([...titlesOf('A', 3), ...titlesOf('B', 3)]);
		},
	);

	test.each([
		{ what: 'a Push Campaign node', isRead: false },
		{ what: 'Get Status', isRead: true },
	])('$what that fails behind a sub-workflow that has sent', async ({ isRead }) => {
		const subId = await subWorkflow(stage(), [sender()]);
		const action = isRead
			? sender({ operation: 'getStatus' })
			: sender({ title: '=Caller, {{ $json.title }}' });
		const match = isRead ? { method: 'GET' } : { bodyIncludes: 'Caller, Item 2' };
		const failure = { kind: 'failure', type: 'bad_request', description: 'No' } as const;
		stage().simulator.addFault({ match, action: failure });
		const workflow = await publish(stage(), (path) =>
			webhookWorkflow(path, [callNode(subId, 'once'), action]),
		);
		const failed = await workflow.run(titled('Item', 3));
		expect(wordsOf(failed)).toContain(isRead ? 'goes on from this node' : restGoesOut);
		expect((await retryAsItSays(stage(), failed)).status).toBe('success');
		const own = isRead ? [] : titlesOf('Caller, Item', 3);
		expect(acceptedTitles(stage()).sort()).toEqual([...own, ...titlesOf('Item', 3)]);
	});

	test('by a node that is not valid behind one that has sent: mended, a Retry sends its own alone', async () => {
		const first = { ...sender(), name: 'First send' };
		const workflow = await publish(stage(), (path) =>
			webhookWorkflow(path, [first, sender({ title: '={{ $json.missing }}' })]),
		);
		const failed = await workflow.run(titled('Item', 2));
		expect(failureOf(failed).message).toBe("'Title' is empty for this item. None of 2 was sent.");
		await workflow.save(sender({ title: '=Second, {{ $json.title }}' }));
		expect((await retryAsItSays(stage(), failed)).status).toBe('success');
		expect(acceptedTitles(stage()).sort()).toEqual([
			...titlesOf('Item', 2),
			...titlesOf('Second, Item', 2),
		]);
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
	expect(hints.match(/Not sent: items 1, 5 \(counted from 0\)\. Unknown: item 3\./g)).toHaveLength(
		1,
	);
	expect(hints.match(/\bUnknown\b/g)).toHaveLength(1);
	expect(statusesOf(execution)).toEqual([
		...['success', 'notSent', 'success', 'unknown', 'success', 'notSent'],
	]);
	expect(acceptedTitles(stage()).sort()).toEqual(['Item 1', 'Item 3', 'Item 4', 'Item 5']);
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
			/it went to subscriber 5003 alone\..* they go .*to all subscribers on \d+ \w+ \d+ at /s,
		);
	});

	test('a run that failed in part with pinned items is retried, and nothing is sent twice', async () => {
		const { client, simulator } = stage();
		simulator.addFault(refusal('Item 2'));
		const list = node('Items', 'n8n-nodes-base.noOp');
		const start = node('Start', 'n8n-nodes-base.manualTrigger');
		const draft = connect(
			connect(
				{ name: 'Pinned', nodes: [start, list, sender()], connections: {}, settings: {} },
				start.name,
				list.name,
			),
			list.name,
			'Push Campaign',
		);
		const pinData = { [list.name]: titled('Item', 3).map((json) => ({ json })) };
		const { id } = await client.createWorkflow(Object.assign(draft, { pinData }));
		const failed = await client.runManually(id, start.name);
		expect((await retryAsItSays(stage(), failed)).status).toBe('success');
		expect(acceptedTitles(stage()).sort()).toEqual(titlesOf('Item', 3));
	});
});

describe('an error output that is wired back into the node', () => {
	/** Lets only the first rounds pass, or fails. */
	const gate = (leftValue: string) =>
		node(
			'First rounds',
			'n8n-nodes-base.filter',
			{
				conditions: {
					options: { caseSensitive: true, typeValidation: 'strict', version: 2 },
					combinator: 'and',
					conditions: [
						{
							leftValue,
							rightValue: 3,
							operator: { type: 'number', operation: 'lt' },
						},
					],
				},
				options: {},
			},
			{ typeVersion: 2.2 },
		);
	const isFirstRounds = gate('={{ $runIndex }}');
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
			expect(acceptedTitles(stage()).sort()).toEqual(titlesOf('Item', 4));
		},
	);

	test('never sends the unknown one again, also by a Retry after a node on its way back has failed', async () => {
		stage().simulator.addFault(lostAnswer('Item 2'));
		const toOne = { operation: 'sendToSubscriber', subscriberId: '5001' };
		const action = sender(toOne, byErrors);
		const broken = gate('={{ $json.title }}');
		const workflow = await publish(stage(), (path) => {
			const draft = webhookWorkflow(path, [action]);
			const whole = { ...draft, nodes: [...draft.nodes, broken] };
			return connect(
				connect(whole, action.name, broken.name, { output: 1 }),
				broken.name,
				action.name,
			);
		});
		const failed = await workflow.run(titled('Item', 3));
		expect(failed.status).toBe('error');
		await workflow.save(isFirstRounds);
		const retried = await stage().client.retryExecution(failed.id, { loadWorkflow: true });
		expect(retried.status).toBe('success');
		expect(acceptedTitles(stage()).sort()).toEqual(titlesOf('Item', 3));
	});

	test('with Send Again left in, sends what an earlier execution left unknown once more, and no further time', async () => {
		const { simulator } = stage();
		simulator.addFault({ ...lostAnswer('Item 1'), times: 2 });
		const options = { ...byTitle, unknownOutcome: 'resend' };
		const workflow = await publish(stage(), (path) =>
			ringOf(path, [wait, isFirstRounds, sender({ options: byTitle }, byErrors)], 1),
		);
		await workflow.run(titled('Item', 2));
		expect(acceptedTitles(stage()).sort()).toEqual(titlesOf('Item', 2));
		await workflow.save(sender({ options }, byErrors));
		await stage().client.activate(workflow.id);
		const execution = await workflow.run(titled('Item', 3));
		const unknown = execution.data.resultData.runData['Push Campaign']?.map(({ data }) =>
			data?.['main']?.[1]?.map(({ json }) => json['error']),
		);
		expect(unknown?.at(-1)).toMatchObject([{ outcome: 'unknown' }]);
		expect(acceptedTitles(stage()).sort()).toEqual(['Item 1', 'Item 1', 'Item 2', 'Item 3']);
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
		expect(acceptedTitles(stage()).sort()).toEqual(titlesOf('Item', 6));
	});

	test('a node that goes on with something unknown, in front of one that takes it for its own: Send Again and a Retry send what the second has left', async () => {
		const { simulator } = stage();
		simulator.addFault(lostAnswer('First 2'));
		simulator.addFault(refusal('Second 3'));
		const named = (name: string, settings = {}, options = {}) => ({
			...sender({ title: `=${name} {{ $('Items').item.json.number }}`, options }, settings),
			name,
		});
		const workflow = await publish(stage(), (path) =>
			webhookWorkflow(path, [named('First', goesOn), named('Second')]),
		);
		const failed = await workflow.run([1, 2, 3].map((number) => ({ number })));
		expect(wordsOf(failed)).toContain("leave out its field 'error'");
		expect(wordsOf(failed)).toContain('if it is not, Send Again');
		await workflow.save(named('Second', {}, { unknownOutcome: 'resend' }));
		expect((await retryAsItSays(stage(), failed)).status).toBe('success');
		expect(acceptedTitles(stage()).sort()).toEqual([
			...titlesOf('First', 3),
			...titlesOf('Second', 3),
		]);
	});

	test('two sends with a pause between them that n8n saves: a Retry after the second fails sends its rest alone', async () => {
		const { client, simulator } = stage();
		simulator.addFault(refusal('Second, Item 2'));
		const url = node(
			'Resume URL',
			'n8n-nodes-base.set',
			{ mode: 'raw', jsonOutput: '={{ { url: $execution.resumeUrl } }}', options: {} },
			{ typeVersion: 3.4 },
		);
		const wait = node(
			'Wait',
			'n8n-nodes-base.wait',
			{ resume: 'webhook', options: {} },
			{ typeVersion: 1.1, webhookId: 'resume' },
		);
		// After the pause n8n goes on with the call alone.
		const jsonOutput = "={{ { items: $('Items').all().map(({ json }) => json) } }}";
		const list = node(
			'List',
			'n8n-nodes-base.set',
			{ mode: 'raw', jsonOutput, options: {} },
			{ typeVersion: 3.4 },
		);
		const rows = node('Rows', 'n8n-nodes-base.splitOut', {
			fieldToSplitOut: 'items',
			options: {},
		});
		const second = { ...sender({ title: '=Second, {{ $json.title }}' }), name: 'Second' };
		const workflow = await publish(stage(), (path) =>
			webhookWorkflow(path, [sender(), url, wait, list, rows, second]),
		);
		const running = workflow.run(titled('Item', 3));
		const waiting = await until(
			async () =>
				(await client.executions({ workflowId: workflow.id })).find(
					({ status }) => status === 'waiting',
				),
			(found) => found !== undefined,
			{ within: 60_000, late: () => 'No execution waits' },
		);
		const paused = await client.execution(waiting?.id ?? '');
		await fetch(String(outputOf(paused, url.name)[0]?.json['url']));
		const failed = await running;
		expect(failureOf(failed).message).toMatch(/2 of 3 were sent\.$/);
		expect((await retryAsItSays(stage(), failed)).status).toBe('success');
		expect(acceptedTitles(stage()).sort()).toEqual([
			...titlesOf('Item', 3),
			...titlesOf('Second, Item', 3),
		]);
	});
});
