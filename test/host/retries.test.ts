import { node, outputOf, until, webhookWorkflow } from '../../host';
import {
	acceptedTitles,
	byTitle,
	callNode,
	expectRetrySendsRest,
	expectSent,
	loopOver,
	lostAnswer,
	notTheFirst,
	publish,
	refusal,
	retryAsItSays,
	sendNode,
	sendWorkflow,
	setNode,
	statusesOf,
	subWorkflow,
	titled,
	titlesOf,
	untilRequests,
	useStage,
	wordsOf,
} from './support';

// Retries of all kinds: nobody gets anything twice by them, and nobody is forgotten.

const stage = useStage();

const saved = { loadWorkflow: true };

test("the Retry of a sub-workflow's own execution sends the rest, and nothing twice", async () => {
	const { client, simulator } = stage();
	simulator.addFault(refusal('Item 30'));
	const subId = await subWorkflow(stage(), [sendNode(stage())]);
	const workflow = await publish(stage(), (path) =>
		webhookWorkflow(path, [callNode(subId, 'once')]),
	);
	expect((await workflow.run(titled('Item', 60))).status).toBe('error');
	const [own] = await client.waitForExecutions({ workflowId: subId });
	const failed = await client.waitForExecution(own?.id ?? '');
	await expectRetrySendsRest(stage(), failed, ...titlesOf('Item', 60));
});

describe('of two Retries of one execution at once, one sends the rest and the other one nothing', () => {
	const failedInPart = async () => {
		stage().simulator.addFault(refusal('Item 1'));
		return await (await sendWorkflow(stage())).run(titled('Item', 40));
	};
	/** A node in front that fails as it is published, and hands its items on as it is saved. */
	const failedInFront = async () => {
		const front = (type: string, parameters = {}) =>
			node('Front', `n8n-nodes-base.${type}`, parameters);
		const broken = front('stopAndError', { errorMessage: 'No' });
		const workflow = await publish(stage(), (path) =>
			webhookWorkflow(path, [broken, sendNode(stage())]),
		);
		const failed = await workflow.run(titled('Item', 40));
		await workflow.save(front('noOp'));
		return failed;
	};
	const failedInLoop = async () => {
		stage().simulator.addFault(refusal('Item 20'));
		const done = node('Done', 'n8n-nodes-base.noOp');
		const workflow = await publish(stage(), (path) => loopOver(path, [sendNode(stage())], done));
		return await workflow.run(titled('Item', 40));
	};

	test.each([
		{ what: 'that failed in part', fail: failedInPart },
		{ what: 'in which a node in front failed', fail: failedInFront },
		{ what: 'that failed in a loop', fail: failedInLoop },
	])('$what', async ({ fail }) => {
		const failed = await fail();
		stage().simulator.setLatency(200);
		const retry = async () => await stage().client.retryExecution(failed.id, saved);
		const both = await Promise.all([retry(), retry()]);
		expect(both.map(({ status }) => status).sort()).toEqual(['error', 'success']);
		expect(both.filter((each) => notTheFirst.test(wordsOf(each)))).toHaveLength(1);
		expectSent(stage(), ...titlesOf('Item', 40));
	});
});

test('after n8n was killed, a Retry of what was sending then sends nothing, and only the newest Retry can be retried', async () => {
	const { client, simulator } = stage();
	for (const title of ['Item 1', 'Item 39']) simulator.addFault(refusal(title));
	const failed = await (await sendWorkflow(stage())).run(titled('Item', 40));
	const newest = await retryAsItSays(stage(), failed);
	const { id: workflowId, call } = await sendWorkflow(stage());
	simulator.setLatency(200);
	call(titled('Cut', 120)).catch(() => undefined);
	await untilRequests(stage(), 50);
	await stage().crash();
	simulator.setLatency(0);
	const [crashed] = await client.waitForExecutions({ workflowId });
	expect(crashed?.status).toBe('crashed');
	const cut = acceptedTitles(stage()).filter((title) => title.startsWith('Cut'));
	for (const id of [failed.id, crashed?.id ?? '']) {
		for (const loadWorkflow of [false, true]) {
			const refused = await client.retryExecution(id, { loadWorkflow });
			expect(wordsOf(refused)).toMatch(notTheFirst);
		}
	}
	await expectRetrySendsRest(stage(), newest, ...titlesOf('Item', 40), ...cut);
});

describe('in spite of a lost answer and a subscriber who is gone', () => {
	const behind = node('Behind', 'n8n-nodes-base.noOp');
	const toOne = { operation: 'sendToSubscriber', subscriberId: '={{ $json.to }}' };
	const people = titled('Item', 20).map((item, index) => ({
		...item,
		to: index === 9 ? '999' : String(5001 + index),
	}));
	const loop = async () => (path: string) => loopOver(path, [sendNode(stage(), toOne)], behind);
	const subWorkflows = async () => {
		const subId = await subWorkflow(stage(), [sendNode(stage(), { ...toOne, options: byTitle })]);
		return (path: string) => webhookWorkflow(path, [callNode(subId, 'each'), behind]);
	};

	test.each([
		{ what: 'a loop of one item at a time', prepare: loop },
		{ what: 'with IDs, a sub-workflow that is called for each item', prepare: subWorkflows },
	])('$what ends with one Retry, and what stands behind it runs', async ({ prepare }) => {
		stage().simulator.addFault(lostAnswer('Item 5'));
		const workflow = await publish(stage(), await prepare());
		const failed = await workflow.run(people);
		expect(wordsOf(failed)).toMatch(/^Do not send it again yet: /);
		const reached = titlesOf('Item', 20).filter((title) => title !== 'Item 10');
		const retried = await expectRetrySendsRest(stage(), failed, ...reached);
		expect(outputOf(retried, behind.name)).toHaveLength(20);
	});
});

test('Retry On Fail requests what is unknown once, and stays red; its Retry is green, and requests nothing', async () => {
	const { simulator } = stage();
	simulator.addFault(lostAnswer('Item 2'));
	const workflow = await sendWorkflow(stage(), { settings: { retryOnFail: true, maxTries: 3 } });
	const failed = await workflow.run(titled('Item', 3));
	expect(wordsOf(failed)).toMatch(/^Do not send it again yet: /);
	const retried = await expectRetrySendsRest(stage(), failed, ...titlesOf('Item', 3));
	expect(statusesOf(retried)).toEqual(['success', 'unknown', 'success']);
	expect(simulator.requestCount).toBe(3);
});

test('behind a pause that n8n saves, a second send goes out, and the Retry after it failed sends its rest alone', async () => {
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
	const second = sendNode(stage(), { title: '=Second, {{ $json.title }}' }, { name: 'Second' });
	const workflow = await publish(stage(), (path) =>
		webhookWorkflow(path, [sendNode(stage()), url, wait, list, rows, second]),
	);
	const running = workflow.run(titled('Item', 3));
	const [waiting] = await until(
		async () => await client.executions({ workflowId: workflow.id, status: ['waiting'] }),
		(all) => all.length > 0,
		{ within: 60_000, late: () => 'No execution waits' },
	);
	const paused = await client.execution(waiting?.id ?? '');
	await fetch(String(outputOf(paused, url.name)[0]?.json['url']));
	const sent = [...titlesOf('Item', 3), ...titlesOf('Second, Item', 3)];
	await expectRetrySendsRest(stage(), await running, ...sent);
});
