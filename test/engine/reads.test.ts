import {
	continuing,
	credentialsFor,
	failureOf,
	hintsOf,
	inputOf,
	NODE,
	outputOf,
	runsAt,
	sentHeaders,
	toErrorOutput,
	useSimulator,
	workflowOf,
} from './support/pushCampaign';
import { itemsOf, startWorkflow } from './support/run';
import { declaredTypes, typesIn } from './support/schemas';

// One whole workflow for each read: the parameters as the editor saves them, the request, and the item.

const simulator = useSimulator();

const run = runsAt(simulator);

const counters = { total_attempts: 50, successfully_sent: 40, failed_to_send: 10, delivered: 30 };
const addCampaign = () =>
	simulator().addCampaign({ status: 'Sent', counters: { ...counters, clicked: 11 } });
const getCount = { resource: 'site', operation: 'getSubscriberCount' };

test('a read of a status asks for the campaign that comes in, and gives its numbers', async () => {
	const id = addCampaign();
	const done = await run({ operation: 'getStatus', simplify: true }, inputOf({ campaignId: id }));
	const json = {
		campaignId: id,
		status: 'Sent',
		totalAttempts: 50,
		successfullySent: 40,
		failedToSend: 10,
		delivered: 30,
		clicked: 11,
		closed: 0,
		deliveryRate: 0.75,
		clickRate: 0.3667,
	};
	expect(itemsOf(done, NODE)).toStrictEqual([{ json, pairedItem: { item: 0 } }]);
	expect(Object.keys(outputOf(done)[0] ?? {})).toEqual(Object.keys(json));
	const [request] = simulator().requests;
	const path = `/v1/notification/status/id/${id}`;
	expect(request).toMatchObject({ method: 'GET', path, body: '', headers: sentHeaders });
});

test('a read of the subscriber count gives both numbers', async () => {
	const done = await run(getCount);
	const json = { totalLifetimeSubscribers: 12_500, activeSubscribers: 10_000 };
	expect(itemsOf(done, NODE)).toStrictEqual([{ json, pairedItem: { item: 0 } }]);
	expect(simulator().requests).toMatchObject([
		{ method: 'GET', path: '/v1/site/subscriber_count', body: '', headers: sentHeaders },
	]);
});

test('a read gives null for what the service does not give, as its output schema says', async () => {
	const id = addCampaign();
	const full = outputOf(await run({ operation: 'getStatus', campaignId: id }));
	const none = { notification_id: id, count: {} };
	simulator().addFault({ action: { kind: 'respond', body: JSON.stringify(none) } });
	const empty = outputOf(await run({ operation: 'getStatus', campaignId: id }));
	expect(empty).toMatchObject([{ status: null, totalAttempts: null, clickRate: null }]);
	expect(typesIn(...full, ...empty)).toEqual(declaredTypes('campaign/getStatus'));

	const counts = [];
	for (const given of ['total_life_time_subscribers', 'active_subscribers']) {
		const body = JSON.stringify({ [given]: '7' });
		simulator().addFault({ action: { kind: 'respond', body } });
		counts.push(...outputOf(await run(getCount)));
	}
	expect(typesIn(...counts)).toEqual(declaredTypes('site/getSubscriberCount'));
});

test('a read with the same parameters as another item asks the service once, and no other one does', async () => {
	const [first, second] = [addCampaign(), addCampaign()];
	const parameters = { operation: 'getStatus', simplify: '={{ $json.simplify ?? true }}' };
	const input = inputOf(...[first, second, first].map((campaignId) => ({ campaignId })), {
		campaignId: first,
		simplify: false,
	});
	const items = itemsOf(await run(parameters, input), NODE);
	expect(items.slice(0, 3).map(({ json }) => json['campaignId'])).toEqual([first, second, first]);
	expect(items[3]?.json).toMatchObject({ notification_id: first, count: { clicked: '11' } });
	// A later node may change one of them.
	expect(items[0]?.json).not.toBe(items[2]?.json);
	expect(simulator().requests).toHaveLength(3);
});

test('of reads that are not valid each is named, with its reason, and none is asked for', async () => {
	const input = inputOf({ campaignId: '1, 2' }, { campaignId: '' }, { campaignId: '3' });
	const { message, description } = failureOf(await run({ operation: 'getStatus' }, input));
	expect(message).toMatch(
		/^2 of 3 items are not valid\. Item 0, counted from 0: .*"1, 2"; item 1: 'Campaign ID': /,
	);
	expect(description).toMatch(/^Use one item for each ID\. Check /);
	expect(simulator().requests).toEqual([]);
});

test('a read that is not valid comes out in its place with Continue, named as it was entered', async () => {
	const input = inputOf({ campaignId: addCampaign() }, { campaignId: '1, 2' });
	const [read, invalid] = outputOf(await run({ operation: 'getStatus' }, input, continuing));
	expect(read).toMatchObject({ clicked: 11 });
	const message = `'Campaign ID' holds what is not one ID: "1, 2"`;
	const error = { message, description: 'Use one item for each ID.', type: 'validation' };
	expect(invalid).toStrictEqual({ campaignId: '1, 2', error });
});

describe('a read that has to wait', () => {
	const said = 'The service asks for a pause of 11 minutes.';
	beforeEach(() => {
		const headers = { 'retry-after': '601' };
		const action = { kind: 'failure', type: 'rate_limit', description: '', headers } as const;
		simulator().addFault({ times: 0, action });
	});
	test('says for how long, and offers no Retry: a new run reads the same', async () => {
		expect(failureOf(await run(getCount)).description).toBe(said);
	});

	test('is counted with Continue', async () => {
		const done = await run(getCount, inputOf({}, {}), continuing);
		expect(outputOf(done)[1]).toMatchObject({ error: { description: said } });
		expect(hintsOf(done)).toEqual(['2 of 2 items failed: see the error column.']);
		const [alone] = hintsOf(await run(getCount, inputOf({}), toErrorOutput));
		expect(alone).toBe('1 of 1 item failed: see the Error output.');
	});
});

test('reads that the user stops ask for nothing further', async () => {
	simulator().addFault({ times: 0, action: { kind: 'hang', process: false } });
	const json = workflowOf({ operation: 'getStatus' });
	const input = inputOf(...Array.from({ length: 30 }, (_, id) => ({ campaignId: id })));
	const started = startWorkflow(json, { credentials: credentialsFor(simulator()), input });
	while (simulator().requests.length < 20) await new Promise(setImmediate);
	started.cancel();
	const done = await started.finished;
	expect(done.status).toBe('canceled');
	expect(failureOf(done).message).toBe('The execution was canceled');
	expect(simulator().requests).toHaveLength(20);
});

test('a read that fails names its item, has no outcome, and keeps its campaign ID with Continue', async () => {
	const error = {
		message: 'The push service has no campaign 999',
		description: `The service says: "Invalid notification ID". Correct 'Campaign ID'.`,
		type: 'invalid_value',
		httpCode: '404',
	};
	const input = inputOf({ campaignId: addCampaign() }, { campaignId: '999' });
	const stopped = failureOf(await run({ operation: 'getStatus' }, input));
	expect(stopped).toMatchObject({ message: error.message, itemIndex: undefined });
	const parameters = { operation: 'getStatus', campaignId: '999' };
	const done = await run(parameters, inputOf({}), continuing);
	expect(outputOf(done)).toStrictEqual([{ campaignId: '999', error }]);
	const routed = await run(parameters, inputOf({ order: 7 }), toErrorOutput);
	expect(itemsOf(routed, NODE, 1)).toMatchObject([{ json: { order: 7, error } }]);
});
