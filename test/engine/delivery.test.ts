import { performance } from 'node:perf_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import type { INodeParameters } from 'n8n-workflow';
import type { Fault } from '../../simulator';
import { runPoll } from './support/poll';
import {
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
const later = (seconds: number): Fault['action'] => ({
	...refusal,
	headers: { 'retry-after': String(seconds) },
});
const names = (count: number) => Array.from({ length: count }, (_, index) => `No ${index}`);
const perItem = { title: '={{ $json.title }}' };
const send = (options: INodeParameters, more: Partial<NodeSketch> = {}) =>
	chain([push({ ...perItem, options }, more)]);

async function until(isReached: () => boolean): Promise<void> {
	for (let tries = 0; tries < 2000 && !isReached(); tries += 1) await sleep(5);
	if (!isReached()) throw new Error('What was waited for did not happen');
}

describe('stopping after a failure', () => {
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
			/^2 of 20 were sent\. Sent: 2, not sent: 16, unknown: 2\. First to fail: item 1\. /,
		);
		expect(sendsAt(simulator())).toHaveLength(5);
	});
});

describe('how many at once', () => {
	test('1 sends strictly in order, also where items are refused and retried', async () => {
		simulator().addFault({ skip: 1, times: 2, action: later(0.01) });
		simulator().addFault({ times: 3, action: { kind: 'delay', ms: 40 } });
		await runWorkflow(send({ maxParallel: 1 }), { ...surroundings(), input: titled(...names(4)) });
		expect(titlesAt(simulator())).toEqual(['No 0', 'No 1', 'No 1', 'No 1', 'No 2', 'No 3']);
	});
});

describe('the user stops the execution', () => {
	test.each<[string, Fault['action']]>([
		['during a wait that the service asked for', later(120)],
		['while a request is under way', { kind: 'hang', process: false }],
	])('%s: it ends, and nothing more is sent', async (_name, action) => {
		simulator().addFault({ times: 0, action });
		const { finished, cancel } = await startWorkflow(send({}), {
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
		await sleep(100);
		expect(simulator().requests).toHaveLength(length);
	});
});

describe('reads', () => {
	const status = (more: INodeParameters = {}) =>
		push({ operation: 'getStatus', campaignId: '={{ $json.id }}', ...more });

	test('with the same parameters share one request, asked again where it was lost, and a failure', async () => {
		const [one, two] = [simulator().addCampaign(), simulator().addCampaign()];
		simulator().addFault({ match: { path: `/id/${one}` }, action: { kind: 'reset-before' } });
		const node = { ...status({ simplify: false }), onError: 'continueRegularOutput' } as const;
		const run = await runWorkflow(chain([node]), {
			...surroundings(),
			input: inputOf({ id: one }, { id: '7' }, { id: two }, { id: Number(one) }, { id: '7' }),
		});
		const unknown = { error: { httpCode: '404', type: 'invalid_value' } };
		const [first, , , second] = outputOf(run);
		expect(outputOf(run)).toMatchObject([
			{ notification_id: one },
			unknown,
			{ notification_id: two },
			{ notification_id: one },
			unknown,
		]);
		expect(first?.['count']).not.toBe(second?.['count']);
		expect(simulator().requests).toHaveLength(4);
	});

	const unavailable = (seconds: number): Fault['action'] => ({
		kind: 'failure',
		description: 'Under maintenance',
		status: 503,
		headers: { 'retry-after': String(seconds) },
	});
	const askedAt = () => simulator().requests.map(({ at }) => at);

	test('wait as long as a failure asks that may pass', async () => {
		simulator().addFault({ times: 2, action: unavailable(2) });
		const input = inputOf({ id: simulator().addCampaign() });
		const run = await runWorkflow(chain([status()]), { ...surroundings(), input });
		expect(run.status).toBe('success');
		const [first = 0, second = 0, third = 0] = askedAt();
		// The service counts from its answer, n8n from when it has it.
		expect(second - first).toBeGreaterThanOrEqual(1900);
		expect(third - second).toBeGreaterThanOrEqual(1900);
	});

	test('do not wait for longer than ten minutes', async () => {
		simulator().addFault({ times: 0, action: unavailable(601) });
		const input = inputOf({ id: simulator().addCampaign() });
		const run = await runWorkflow(chain([status()]), { ...surroundings(), input });
		expect(failureOf(run)).toMatchObject({ httpCode: '500' });
		expect(askedAt()).toHaveLength(1);
	});

	test('of a poll end within its budget, with what was read', async () => {
		const [good, bad] = [
			simulator().addCampaign({ counters: { clicked: 3 } }),
			simulator().addCampaign(),
		];
		simulator().addFault({ match: { path: `/id/${bad}` }, times: 0, action: unavailable(60) });
		const poll = await runPoll(
			{ campaignIds: `${good}, ${bad}` },
			{ ...surroundings(), budgetMs: 2000, activation: 'init' },
		);
		expect(poll.items).toMatchObject([{ json: { campaignId: good } }]);
		expect(askedAt()).toHaveLength(2);
	});
});
