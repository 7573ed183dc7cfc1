import { join } from 'node:path';
import type { INodeParameters, IRun } from 'n8n-workflow';
import type { Fault } from '../../simulator';
import { forgetProcessed } from './support/deduplication';
import {
	content,
	credentialsFor,
	failureOf,
	NODE,
	outputOf,
	push,
	sendsAt,
	titled,
	titlesAt,
	useSimulator,
} from './support/pushCampaign';
import { runWorkflow, savedAndLoaded } from './support/run';
import { chain, readWorkflow, type NodeSketch } from './support/workflow';

const simulator = useSimulator();
const surroundings = () => ({ credentials: credentialsFor(simulator()) });
const failure: Fault['action'] = { kind: 'failure', description: 'No luck', status: 500 };
const faultAt = (title: string, action: Fault['action'], times = 1) =>
	simulator().addFault({ match: { bodyIncludes: `"${title}"` }, times, action });

const perItem = { title: '={{ $json.title }}', options: { maxParallel: 1 } };
const workflowOf = (parameters: INodeParameters = {}, more: Partial<NodeSketch> = {}) =>
	chain([push({ ...perItem, ...parameters }, more)]);
const retryOnFail = { retryOnFail: true, maxTries: 3, waitBetweenTries: 1 };

/** Runs again what failed, as 'Retry' in the list of executions does, perhaps with changed parameters. */
const retry = async (failed: IRun, parameters: INodeParameters = {}) =>
	await runWorkflow(workflowOf(parameters), { ...surroundings(), retryOf: failed });

describe('Retry On Fail', () => {
	test('sends only what was not sent, and gives the first answers again', async () => {
		faultAt('b', failure, 2);
		const run = await runWorkflow(join(__dirname, 'workflows', 'retry-on-fail.json'), {
			...surroundings(),
			input: titled('a', 'b', 'c'),
		});
		expect(run.status).toBe('success');
		expect(titlesAt(simulator()).filter((title) => title === 'a')).toHaveLength(1);
		expect(titlesAt(simulator()).filter((title) => title === 'b')).toHaveLength(3);
		expect(titlesAt(simulator()).filter((title) => title === 'c')).toHaveLength(1);
		const idOf = (wanted: string) =>
			[...simulator().campaigns.values()].find(({ body }) => body['title'] === wanted)?.id;
		expect(outputOf(run)).toStrictEqual(
			['a', 'b', 'c'].map((title) => ({
				campaignId: idOf(title),
				audience: 'all',
				status: 'success',
				description: 'Campaign created successfully',
				title,
			})),
		);
	});

	test('gives up after the last try, with the counts over all tries', async () => {
		faultAt('b', failure, 0);
		const run = await runWorkflow(workflowOf({}, retryOnFail), {
			...surroundings(),
			input: titled('a', 'b', 'c'),
		});
		expect(titlesAt(simulator())).toEqual(['a', 'b', 'b', 'b']);
		expect(failureOf(run).description).toContain(
			'Sent: 1, not sent: 2, unknown: 0. First to fail: item 1.',
		);
	});

	test.each([
		[false, ['a', 'b', 'c']],
		[true, ['a', 'b', 'b', 'c']],
	])(
		'sends the rest, and again what may have been sent: Resend Unknown %p',
		async (resendUnknown, titles) => {
			faultAt('b', { kind: 'reset-after' });
			const run = await runWorkflow(
				workflowOf({ options: { maxParallel: 1, resendUnknown } }, retryOnFail),
				{ ...surroundings(), input: titled('a', 'b', 'c') },
			);
			expect(titlesAt(simulator())).toEqual(titles);
			expect(run.status).toBe(resendUnknown ? 'success' : 'error');
			if (resendUnknown) return;
			expect(failureOf(run)).toMatchObject({ itemIndex: 1 });
			expect(failureOf(run).description).toContain('Sent: 2, not sent: 0, unknown: 1.');
		},
	);

	test('sends two items of the same content once each', async () => {
		simulator().addFault({ skip: 1, action: failure });
		const run = await runWorkflow(workflowOf({}, retryOnFail), {
			...surroundings(),
			input: titled('same', 'same'),
		});
		expect(run.status).toBe('success');
		expect(sendsAt(simulator())).toHaveLength(3);
		expect(simulator().campaigns.size).toBe(2);
		expect(outputOf(run).map(({ campaignId }) => campaignId)).toEqual(['1001', '1002']);
	});
});

describe('Retry of a failed execution', () => {
	test('sends only what was not sent, retry after retry', async () => {
		faultAt('b', failure, 2);
		faultAt('c', failure, 1);
		let run = await runWorkflow(workflowOf(), { ...surroundings(), input: titled('a', 'b', 'c') });
		for (let tries = 0; tries < 3; tries += 1) run = await retry(run);
		expect(run.status).toBe('success');
		expect(titlesAt(simulator())).toEqual(['a', 'b', 'b', 'b', 'c', 'c']);
		expect(outputOf(run).map(({ campaignId }) => campaignId)).toEqual(['1001', '1002', '1003']);
	});

	test('knows an item again whose content holds the time and the execution’s ID', async () => {
		const volatile = {
			message: '={{ $now.toISO() }} {{ $execution.id }} {{ Math.random() }}',
			additionalFields: { sendAt: '={{ $now.plus(10, "minutes") }}' },
		};
		faultAt('b', failure);
		const failed = await runWorkflow(workflowOf(volatile), {
			...surroundings(),
			input: titled('a', 'b'),
		});
		expect(failed.status).toBe('error');
		const run = await retry(failed, volatile);
		expect(run.status).toBe('success');
		expect(titlesAt(simulator())).toEqual(['a', 'b', 'b']);
		// The first answer of the first item, as it was.
		const [first] = outputOf(run);
		expect(first?.['sendAt']).toBe(simulator().campaign('1001')?.body['send_at']);
	});

	test('keeps apart two nodes of one workflow that send the same', async () => {
		const second = push(perItem, { name: 'Second' });
		second.parameters = { ...second.parameters, title: '={{ $("Start").item.json.title }}' };
		simulator().addFault({ skip: 1, action: failure });
		const workflow = chain([push(perItem), second]);
		const failed = await runWorkflow(workflow, { ...surroundings(), input: titled('a') });
		expect(failed.status).toBe('error');
		const run = await runWorkflow(workflow, { ...surroundings(), retryOf: failed });
		expect(run.status).toBe('success');
		expect(titlesAt(simulator())).toEqual(['a', 'a', 'a']);
		expect(simulator().campaigns.size).toBe(2);
	});

	test('does not send again when a later node failed', async () => {
		const stumble = (fail: boolean) => ({
			name: 'Later',
			type: 'test.stumble',
			parameters: { fail },
		});
		const failed = await runWorkflow(chain([push(perItem), stumble(true)]), {
			...surroundings(),
			input: titled('a'),
		});
		const run = await runWorkflow(chain([push(perItem), stumble(false)]), {
			...surroundings(),
			retryOf: failed,
		});
		expect(run.status).toBe('success');
		expect(titlesAt(simulator())).toEqual(['a']);
	});
});

describe('sending anew', () => {
	test('a new execution sends again', async () => {
		for (let runs = 0; runs < 2; runs += 1) {
			await runWorkflow(workflowOf(), { ...surroundings(), input: titled('a') });
		}
		expect(titlesAt(simulator())).toEqual(['a', 'a']);
	});

	test('a loop with Retry On Fail sends each round once', async () => {
		const workflow = readWorkflow(join(__dirname, 'workflows', 'loop.json'));
		const node = workflow.nodes.find(({ name }) => name === NODE);
		Object.assign(node ?? {}, retryOnFail);
		simulator().addFault({ skip: 1, action: failure });
		const run = await runWorkflow(workflow, surroundings());
		expect(run.status).toBe('success');
		expect(sendsAt(simulator())).toHaveLength(4);
		const ids = [0, 1, 2].map((round) => outputOf(run, 0, round)[0]?.['campaignId']);
		expect(ids).toEqual(['1001', '1002', '1003']);
	});

	test('a retry of a loop that failed in its second round goes on there', async () => {
		const file = join(__dirname, 'workflows', 'loop.json');
		simulator().addFault({ skip: 1, action: failure });
		const failed = await runWorkflow(file, surroundings());
		expect(failed.status).toBe('error');
		const run = await runWorkflow(file, { ...surroundings(), retryOf: failed });
		expect(run.status).toBe('success');
		expect(simulator().campaigns.size).toBe(3);
		expect(sendsAt(simulator())).toHaveLength(4);
	});
});

test('each of many items is remembered in less than 120 bytes', async () => {
	const titles = Array.from({ length: 100 }, (_, index) => `No ${index}`);
	faultAt('No 99', failure);
	const failed = await runWorkflow(workflowOf({ options: { maxParallel: 100 } }), {
		...surroundings(),
		input: titled(...titles),
	});
	expect(failureOf(failed).description).toContain('Sent: 99, not sent: 1, unknown: 0.');
	const saved = await savedAndLoaded(failed);
	const context = saved.executionData?.contextData[`node:${NODE}`];
	const bytes = Buffer.byteLength(JSON.stringify(context));
	expect(bytes / titles.length).toBeLessThan(120);
	const run = await retry(failed);
	expect(run.status).toBe('success');
	expect(sendsAt(simulator())).toHaveLength(101);
	expect(simulator().campaigns.size).toBe(100);
}, 60_000);

describe('under an idempotency key', () => {
	beforeEach(forgetProcessed);

	const keyed = (options: INodeParameters = {}, more: object = {}) =>
		chain([
			push(
				{
					title: '={{ $json.title }}',
					options: { idempotencyKey: '={{ $json.title.slice(0, 1) }}', maxParallel: 1, ...options },
				},
				more,
			),
		]);

	/** An execution of its own. */
	const run = async (titles: string[], options: INodeParameters = {}, more: object = {}) =>
		await runWorkflow(keyed(options, more), {
			...surroundings(),
			input: titled(...titles),
		});
	const statuses = (execution: IRun) => outputOf(execution).map(({ status }) => status);

	test('what was sent under a key is not sent in a later execution', async () => {
		const first = await run(['a', 'b']);
		expect(outputOf(first)).toMatchObject([{ idempotencyKey: 'a' }, { idempotencyKey: 'b' }]);
		// The service is told nothing of it.
		expect(sendsAt(simulator())[0]?.json).toStrictEqual({
			title: 'a',
			message: content.message,
			target_url: content.targetUrl,
		});
		const later = await run(['a', 'b', 'c']);
		expect(statuses(later)).toEqual(['alreadySent', 'alreadySent', 'success']);
		expect(outputOf(later)[0]).toStrictEqual({
			audience: 'all',
			status: 'alreadySent',
			description: 'Sent earlier under this idempotency key; nothing was sent now',
			title: 'a',
			idempotencyKey: 'a',
		});
		expect(titlesAt(simulator())).toEqual(['a', 'b', 'c']);
	});

	test('inside an execution a retry gives the first answer again', async () => {
		faultAt('b', failure);
		const failed = await run(['a', 'b']);
		const retried = await runWorkflow(keyed(), { ...surroundings(), retryOf: failed });
		expect(outputOf(retried)).toMatchObject([
			{ status: 'success', campaignId: '1001' },
			{ status: 'success' },
		]);
		expect(titlesAt(simulator())).toEqual(['a', 'b', 'b']);
	});
});
