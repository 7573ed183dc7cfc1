import { performance } from 'node:perf_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import type { INodeParameters } from 'n8n-workflow';
import type { Fault } from '../../simulator';
import {
	content,
	credentialsFor,
	failureOf,
	inputOf,
	outputOf,
	push,
	sendsAt,
	titled,
	titlesAt,
	useSimulator,
} from './support/pushCampaign';
import { runWorkflow, startWorkflow } from './support/run';
import { chain, type NodeSketch } from './support/workflow';

const simulator = useSimulator();
const surroundings = () => ({ credentials: credentialsFor(simulator()) });
const failure: Fault['action'] = { kind: 'failure', description: 'No luck', status: 500 };
const refusal: Fault['action'] = {
	kind: 'failure',
	type: 'rate_limit',
	description: 'Too many requests',
	status: 429,
};
const names = (count: number) => Array.from({ length: count }, (_, index) => `No ${index}`);
const perItem = { title: '={{ $json.title }}' };
const send = (options: INodeParameters, more: Partial<NodeSketch> = {}) =>
	chain([push({ ...perItem, options }, more)]);

async function until(isReached: () => boolean): Promise<void> {
	for (let tries = 0; tries < 2000 && !isReached(); tries += 1) await sleep(5);
	if (!isReached()) throw new Error('What was waited for did not happen');
}

/** The most requests that were under way at once, as the simulator saw them. */
function mostAtOnce(): number {
	const moments = simulator().requests.flatMap(({ at, answered }) => [
		{ at, change: 1 },
		...(answered === null ? [] : [{ at: answered.at, change: -1 }]),
	]);
	moments.sort((one, other) => one.at - other.at || one.change - other.change);
	let underWay = 0;
	return Math.max(...moments.map(({ change }) => (underWay += change)));
}

describe('stopping after a failure', () => {
	test('a dry run is not counted as sent', async () => {
		const run = await runWorkflow(send({ dryRun: true }), {
			...surroundings(),
			input: titled('Good', ''),
		});
		expect(failureOf(run).description).toMatch(
			/Sent: 0, not sent: 2, unknown: 0\. First to fail: item 1\.$/,
		);
	});

	test('nothing new starts, and all are counted', async () => {
		simulator().addFault({ match: { bodyIncludes: '"No 2"' }, action: failure });
		const run = await runWorkflow(send({ maxParallel: 1 }), {
			...surroundings(),
			input: titled(...names(6)),
		});
		expect(failureOf(run)).toMatchObject({ itemIndex: 2, httpCode: '500' });
		expect(failureOf(run).description).toMatch(
			/Sent: 2, not sent: 4, unknown: 0\. First to fail: item 2\.$/,
		);
		expect(titlesAt(simulator())).toEqual(['No 0', 'No 1', 'No 2']);
	});

	test('those under way finish and are counted: sent, not sent, unknown', async () => {
		const answers: Array<[string, Fault['action']]> = [
			['No 0', { kind: 'delay', ms: 400 }],
			['No 4', { kind: 'delay', ms: 400 }],
			['No 1', failure],
			['No 2', { kind: 'reset-after' }],
			['No 3', { kind: 'respond', status: 502, body: '<html>', process: true }],
		];
		for (const [title, action] of answers) {
			simulator().addFault({ match: { bodyIncludes: `"${title}"` }, action });
		}
		const run = await runWorkflow(send({ maxParallel: 5 }), {
			...surroundings(),
			input: titled(...names(20)),
		});
		expect(failureOf(run)).toMatchObject({ itemIndex: 1 });
		expect(failureOf(run).description).toMatch(
			/Sent: 2, not sent: 16, unknown: 2\. First to fail: item 1\.$/,
		);
		expect(sendsAt(simulator())).toHaveLength(5);
	});

	test('with Continue all others are sent', async () => {
		simulator().addFault({ match: { bodyIncludes: '"No 2"' }, action: failure });
		const run = await runWorkflow(send({}, { onError: 'continueRegularOutput' }), {
			...surroundings(),
			input: titled(...names(6)),
		});
		expect(sendsAt(simulator())).toHaveLength(6);
		expect(outputOf(run).map((json) => 'error' in json)).toEqual([0, 0, 1, 0, 0, 0].map(Boolean));
	});
});

describe('how many at once', () => {
	test('1 sends strictly in order', async () => {
		simulator().addFault({ times: 3, action: { kind: 'delay', ms: 40 } });
		await runWorkflow(send({ maxParallel: 1 }), { ...surroundings(), input: titled(...names(8)) });
		expect(titlesAt(simulator())).toEqual(names(8));
		const { requests } = simulator();
		requests.slice(1).forEach(({ at }, index) => {
			expect(at).toBeGreaterThanOrEqual(requests[index]?.answered?.at ?? Infinity);
		});
	});

	test('1 keeps the order also where items are refused and retried', async () => {
		simulator().addFault({ skip: 1, times: 2, action: refusal });
		await runWorkflow(send({ maxParallel: 1 }), { ...surroundings(), input: titled(...names(4)) });
		expect(titlesAt(simulator())).toEqual(['No 0', 'No 1', 'No 1', 'No 1', 'No 2', 'No 3']);
	});

	test.each([3, 7])('%i is never exceeded, and is reached', async (maxParallel) => {
		simulator().setLatency(30);
		await runWorkflow(send({ maxParallel }), { ...surroundings(), input: titled(...names(30)) });
		expect(mostAtOnce()).toBeLessThanOrEqual(maxParallel);
		expect(mostAtOnce()).toBeGreaterThan(1);
		expect(sendsAt(simulator())).toHaveLength(30);
	});
});

describe('the user stops the execution', () => {
	test.each<[string, Fault, INodeParameters]>([
		[
			'during a wait that the service asked for',
			{
				times: 0,
				action: { ...refusal, headers: { 'retry-after': '120' } },
			},
			{},
		],
		['while a request is under way', { times: 0, action: { kind: 'hang', process: false } }, {}],
	])('%s: it ends, and nothing more is sent', async (_name, fault, options) => {
		simulator().addFault(fault);
		const { finished, cancel } = await startWorkflow(send(options), {
			...surroundings(),
			input: titled(...names(3)),
		});
		await until(() => simulator().requests.length > 0);
		await sleep(50);
		const stopped = performance.now();
		cancel();
		const run = await finished;
		// Otherwise it would be two minutes, and thirty seconds.
		expect(performance.now() - stopped).toBeLessThan(10_000);
		expect(run.status).toBe('canceled');
		const { length } = simulator().requests;
		simulator().clearFaults();
		await sleep(300);
		expect(simulator().requests).toHaveLength(length);
	});

	test('while many wait for their turn', async () => {
		simulator().setLatency(50);
		const { finished, cancel } = await startWorkflow(send({ maxParallel: 2 }), {
			...surroundings(),
			input: titled(...names(200)),
		});
		await until(() => simulator().requests.length >= 4);
		cancel();
		expect((await finished).status).toBe('canceled');
		await sleep(200);
		expect(simulator().requests.length).toBeLessThan(20);
	});

	test('during the pause before a read is asked again', async () => {
		simulator().addFault({ times: 0, action: failure });
		const { finished, cancel } = await startWorkflow(
			chain([push({ resource: 'site', operation: 'getSubscriberCount' })]),
			surroundings(),
		);
		await until(() => simulator().requests.length > 0);
		cancel();
		expect((await finished).status).toBe('canceled');
		await sleep(700);
		expect(simulator().requests).toHaveLength(1);
	});
});

describe('rate limits', () => {
	test('a refusal is retried', async () => {
		simulator().addFault({ action: refusal });
		const run = await runWorkflow(send({}), { ...surroundings(), input: titled('a', 'b') });
		expect(run.status).toBe('success');
		expect(sendsAt(simulator())).toHaveLength(3);
		expect(simulator().campaigns.size).toBe(2);
	});

	test.each([
		['seconds', () => '1'],
		['a date', () => new Date(Math.ceil(Date.now() / 1000) * 1000 + 1000).toUTCString()],
	])('Retry-After as %s is waited for', async (_name, retryAfter) => {
		const header = retryAfter();
		const earliest = header === '1' ? 1000 : Date.parse(header);
		simulator().addFault({ action: { ...refusal, headers: { 'retry-after': header } } });
		await runWorkflow(send({}), { ...surroundings(), input: titled('a') });
		const [first, second] = simulator().requests;
		const from = header === '1' ? (first?.at ?? 0) : 0;
		expect((second?.at ?? 0) - from).toBeGreaterThanOrEqual(earliest);
	});

	test('one refusal slows all items down', async () => {
		simulator().setLatency(20);
		simulator().addFault({ skip: 2, action: { ...refusal, headers: { 'retry-after': '1' } } });
		const run = await runWorkflow(send({ maxParallel: 2 }), {
			...surroundings(),
			input: titled(...names(12)),
		});
		expect(run.status).toBe('success');
		const refused = simulator().requests.find(({ answered }) => answered?.type === 'rate_limit');
		const refusedAt = refused?.answered?.at ?? 0;
		const within = simulator().requests.filter(({ at }) => at > refusedAt && at < refusedAt + 900);
		// At most what was on its way to the service already.
		expect(within.length).toBeLessThanOrEqual(1);
		expect(simulator().campaigns.size).toBe(12);
	});

	test.each(['seconds', undefined] as const)(
		'a service with a limit takes all items once, Retry-After: %s',
		async (retryAfter) => {
			// Slower than any machine sends, so that there is something to wait for.
			simulator().setRateLimit({ perSecond: 8, burst: 4, ...(retryAfter && { retryAfter }) });
			const run = await runWorkflow(send({ rateLimitRetries: 20 }), {
				...surroundings(),
				input: titled(...names(12)),
			});
			expect(run.status).toBe('success');
			expect(simulator().campaigns.size).toBe(12);
			expect(sendsAt(simulator()).length).toBeGreaterThan(12);
		},
	);

	test.each([0, 2])('after %i retries an item is not sent, with 429', async (rateLimitRetries) => {
		simulator().addFault({ times: 0, action: { ...refusal, status: 200 } });
		const run = await runWorkflow(send({ rateLimitRetries }), {
			...surroundings(),
			input: titled('a'),
		});
		expect(failureOf(run)).toMatchObject({
			name: 'NodeApiError',
			httpCode: '429',
			cause: 'rate-limited',
			itemIndex: 0,
		});
		expect(failureOf(run).description).not.toContain('Sent: ');
		expect(sendsAt(simulator())).toHaveLength(1 + rateLimitRetries);
	});

	test('with Continue it is an item', async () => {
		simulator().addFault({ times: 0, action: refusal });
		const run = await runWorkflow(
			send({ rateLimitRetries: 0 }, { onError: 'continueRegularOutput' }),
			{ ...surroundings(), input: titled('a') },
		);
		expect(outputOf(run)).toMatchObject([
			{ error: { type: 'rate_limit', httpCode: '429', outcome: 'notSent' } },
		]);
	});

	test('a wait beyond patience is told to the user instead', async () => {
		const headers = { 'retry-after': '86400' };
		simulator().addFault({ times: 0, action: { ...refusal, headers } });
		const run = await runWorkflow(send({}), { ...surroundings(), input: titled('a') });
		expect(failureOf(run)).toMatchObject({ httpCode: '429', cause: 'rate-limited' });
		expect(sendsAt(simulator())).toHaveLength(1);
	});
});

describe('reads', () => {
	const status = (more: INodeParameters = {}) =>
		push({ operation: 'getStatus', campaignId: '={{ $json.id }}', ...more });
	const count = () => push({ resource: 'site', operation: 'getSubscriberCount' });

	test.each<[string, Fault['action']]>([
		['an unspecified failure', failure],
		['a gateway’s page', { kind: 'respond', status: 502, body: '<html>' }],
		['a lost connection', { kind: 'reset-before' }],
		['a truncated answer', { kind: 'truncate' }],
	])('ask again twice after %s', async (_name, action) => {
		simulator().addFault({ times: 2, action });
		const run = await runWorkflow(chain([count()]), surroundings());
		expect(run.status).toBe('success');
		expect(simulator().requests).toHaveLength(3);
	});

	test('give up after the third time', async () => {
		simulator().addFault({ times: 0, action: failure });
		const run = await runWorkflow(chain([count()]), surroundings());
		expect(failureOf(run)).toMatchObject({ httpCode: '500' });
		expect(simulator().requests).toHaveLength(3);
	});

	test('do not ask again what the service refused', async () => {
		const run = await runWorkflow(chain([status({ campaignId: '404' })]), surroundings());
		expect(failureOf(run)).toMatchObject({ httpCode: '404' });
		expect(simulator().requests).toHaveLength(1);
	});

	test('with the same parameters share one request', async () => {
		const [one, two] = [simulator().addCampaign(), simulator().addCampaign()];
		const run = await runWorkflow(chain([status()]), {
			...surroundings(),
			input: inputOf({ id: one }, { id: two }, { id: one }, { id: Number(one) }, { id: two }),
		});
		expect(outputOf(run).map(({ campaignId }) => campaignId)).toEqual([one, two, one, one, two]);
		expect(simulator().requests).toHaveLength(2);
	});

	test('that share an answer do not share its object', async () => {
		const id = simulator().addCampaign();
		const workflow = chain([status({ simplify: false })]);
		const run = await runWorkflow(workflow, { ...surroundings(), input: inputOf({ id }, { id }) });
		const [first, second] = outputOf(run);
		expect(first).toStrictEqual(second);
		expect(first?.['count']).not.toBe(second?.['count']);
	});

	test('share a failure, each item with its own', async () => {
		const id = simulator().addCampaign();
		const workflow = chain([{ ...status(), onError: 'continueRegularOutput' }]);
		const run = await runWorkflow(workflow, {
			...surroundings(),
			input: inputOf({ id: '7' }, { id }, { id: '7' }),
		});
		expect(outputOf(run)).toMatchObject([
			{ error: { httpCode: '404', type: 'invalid_value' } },
			{ campaignId: id },
			{ error: { httpCode: '404', type: 'invalid_value' } },
		]);
		expect(simulator().requests).toHaveLength(2);
	});

	test('of another run ask anew', async () => {
		for (let runs = 0; runs < 2; runs += 1) await runWorkflow(chain([count()]), surroundings());
		expect(simulator().requests).toHaveLength(2);
	});
});

test('no item, no request', async () => {
	const run = await runWorkflow(chain([push(content)]), { ...surroundings(), input: [] });
	expect(outputOf(run)).toEqual([]);
	expect(simulator().requests).toHaveLength(0);
});
