import { join } from 'node:path';
import type { INodeParameters, IRun } from 'n8n-workflow';
import type { Fault } from '../../simulator';
import {
	credentialsFor,
	failureOf,
	inputOf,
	NODE,
	outputOf,
	push,
	sendsAt,
	titled,
	titlesAt,
	useSimulator,
} from './support/pushCampaign';
import { errorOf, itemsOf, runWorkflow, savedAndLoaded } from './support/run';
import { chain, connect, nodeFrom, readWorkflow, type NodeSketch } from './support/workflow';

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

	test('never sends again what may have been sent', async () => {
		faultAt('b', { kind: 'reset-after' });
		const run = await runWorkflow(workflowOf({}, retryOnFail), {
			...surroundings(),
			input: titled('a', 'b', 'c'),
		});
		expect(titlesAt(simulator())).toEqual(['a', 'b']);
		expect(failureOf(run)).toMatchObject({ itemIndex: 1 });
		expect(failureOf(run).description).toContain('Sent: 1, not sent: 1, unknown: 1.');
	});

	test('sends what is unknown again where Resend Unknown is on', async () => {
		faultAt('b', { kind: 'reset-after' });
		const run = await runWorkflow(
			workflowOf({ options: { maxParallel: 1, resendUnknown: true } }, retryOnFail),
			{ ...surroundings(), input: titled('a', 'b', 'c') },
		);
		expect(run.status).toBe('success');
		expect(titlesAt(simulator())).toEqual(['a', 'b', 'b', 'c']);
	});

	test.each(['continueRegularOutput', 'continueErrorOutput'] as const)(
		'with %s, where n8n runs the node again though it did not throw',
		async (onError) => {
			faultAt('a', failure, 2);
			faultAt('b', { kind: 'reset-after' });
			const workflow = workflowOf({}, { ...retryOnFail, onError });
			workflow.nodes.push(nodeFrom({ name: 'Failed', type: 'n8n-nodes-base.noOp' }));
			connect(workflow, NODE, 'Failed', 1);
			const run = await runWorkflow(workflow, {
				...surroundings(),
				input: titled('a', 'b', 'c'),
			});
			const count = (wanted: string) =>
				titlesAt(simulator()).filter((title) => title === wanted).length;
			expect([count('a'), count('b'), count('c')]).toEqual([3, 1, 1]);
			const unknown = { error: { outcome: 'unknown', type: 'network' } };
			if (onError === 'continueRegularOutput') {
				expect(outputOf(run)).toMatchObject([
					{ status: 'success' },
					unknown,
					{ status: 'success' },
				]);
			} else {
				expect(outputOf(run)).toMatchObject([{ status: 'success' }, { status: 'success' }]);
				expect(itemsOf(run, 'Failed').map(({ json }) => json)).toMatchObject([
					{ ...unknown, title: 'b' },
				]);
			}
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
	test('sends only what was not sent', async () => {
		faultAt('b', failure);
		const failed = await runWorkflow(workflowOf(), {
			...surroundings(),
			input: titled('a', 'b', 'c'),
		});
		const run = await retry(failed);
		expect(run.status).toBe('success');
		expect(titlesAt(simulator())).toEqual(['a', 'b', 'b', 'c']);
		expect(outputOf(run).map(({ campaignId }) => campaignId)).toEqual(['1001', '1002', '1003']);
	});

	test('sends only what was not sent, retry after retry', async () => {
		faultAt('b', failure, 2);
		faultAt('c', failure, 1);
		let run = await runWorkflow(workflowOf(), { ...surroundings(), input: titled('a', 'b', 'c') });
		for (let tries = 0; tries < 3; tries += 1) run = await retry(run);
		expect(run.status).toBe('success');
		expect(titlesAt(simulator())).toEqual(['a', 'b', 'b', 'b', 'c', 'c']);
		expect(simulator().campaigns.size).toBe(3);
	});

	test('sends an item whose content was changed in between as a new one', async () => {
		const plain = { title: 'fixed' };
		faultAt('fixed', { kind: 'reset-after' });
		const failed = await runWorkflow(workflowOf(plain), surroundings());
		const run = await retry(failed, { title: 'mended' });
		expect(run.status).toBe('success');
		expect(titlesAt(simulator())).toEqual(['fixed', 'mended']);
	});

	test('sends an item whose expression was changed in between as a new one', async () => {
		faultAt('a', { kind: 'reset-after' });
		const failed = await runWorkflow(workflowOf(), { ...surroundings(), input: titled('a') });
		const run = await retry(failed, { title: '={{ $json.title + "!" }}' });
		expect(run.status).toBe('success');
		expect(titlesAt(simulator())).toEqual(['a', 'a!']);
	});

	test.each<[string, INodeParameters]>([
		['the time', { message: '={{ $now.toISO() }} {{ Math.random() }}' }],
		['the execution’s ID', { message: '=Run {{ $execution.id }}' }],
		['a send time', { additionalFields: { sendAt: '={{ $now.plus(10, "minutes") }}' } }],
	])('knows an item again whose content holds %s', async (_name, volatile) => {
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
		const sent = simulator().campaign('1001')?.body['send_at'];
		expect(first?.['sendAt']).toBe(sent);
	});

	test('fails with the same words while an outcome is unknown', async () => {
		faultAt('b', { kind: 'respond', status: 502, body: '<html>', process: true });
		const first = await runWorkflow(workflowOf(), { ...surroundings(), input: titled('a', 'b') });
		const second = await retry(first);
		const third = await retry(second);
		expect(failureOf(first)).toMatchObject({ httpCode: '502', itemIndex: 1 });
		expect(failureOf(second)).toStrictEqual(failureOf(first));
		expect(failureOf(third)).toStrictEqual(failureOf(first));
		expect(titlesAt(simulator())).toEqual(['a', 'b']);
	});

	test.each([
		['with expressions', perItem.title],
		['without', 'fixed'],
	])(
		'sends what is unknown when Resend Unknown was turned on in between, %s',
		async (_n, title) => {
			const input = titled('a');
			simulator().addFault({ action: { kind: 'hang', process: true } });
			const first = await runWorkflow(workflowOf({ title, options: { timeout: 100 } }), {
				...surroundings(),
				input,
			});
			expect(failureOf(first).message).toContain('did not answer within 0.1 seconds');
			const second = await retry(first, { title, options: { timeout: 5000 } });
			expect(failureOf(second).message).toBe(failureOf(first).message);
			expect(sendsAt(simulator())).toHaveLength(1);
			const third = await retry(second, { title, options: { resendUnknown: true } });
			expect(third.status).toBe('success');
			expect(sendsAt(simulator())).toHaveLength(2);
		},
	);

	test('does not judge again an item that was sent: its time may have come close', async () => {
		const scheduled = {
			additionalFields: { sendAt: '={{ $json.at }}' },
		};
		const at = new Date(Date.now() + 7 * 60_000).toISOString();
		const later = new Date(Date.now() + 60 * 60_000).toISOString();
		const input = inputOf({ title: 'a', at }, { title: 'b', at: later });
		faultAt('b', failure);
		const failed = await runWorkflow(workflowOf(scheduled), { ...surroundings(), input });
		expect(titlesAt(simulator())).toEqual(['a', 'b']);
		const now = Date.now;
		const clock = jest.spyOn(Date, 'now').mockImplementation(() => now() + 6 * 60_000);
		try {
			const run = await retry(failed, scheduled);
			expect(run.status).toBe('success');
			expect(titlesAt(simulator())).toEqual(['a', 'b', 'b']);
		} finally {
			clock.mockRestore();
		}
	});

	test('refuses an item that was not sent and whose time has come close', async () => {
		const scheduled = { additionalFields: { sendAt: '={{ $json.at }}' } };
		const at = new Date(Date.now() + 7 * 60_000).toISOString();
		faultAt('a', failure);
		const failed = await runWorkflow(workflowOf(scheduled), {
			...surroundings(),
			input: inputOf({ title: 'a', at }),
		});
		const now = Date.now;
		const clock = jest.spyOn(Date, 'now').mockImplementation(() => now() + 6 * 60_000);
		try {
			const failure = failureOf(await retry(failed, scheduled));
			expect(failure).toMatchObject({ name: 'NodeOperationError', itemIndex: 0 });
			expect(failure.message).toMatch(/^Send At is .*, which is less than 5 minutes ahead$/);
			expect(sendsAt(simulator())).toHaveLength(1);
		} finally {
			clock.mockRestore();
		}
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

	test('a loop sends the same content each round', async () => {
		const run = await runWorkflow(join(__dirname, 'workflows', 'loop.json'), surroundings());
		expect(run.status).toBe('success');
		expect(sendsAt(simulator())).toHaveLength(3);
		const ids = [0, 1, 2].map((round) => outputOf(run, 0, round)[0]?.['campaignId']);
		expect(ids).toEqual(['1001', '1002', '1003']);
	});

	test('a loop with Retry On Fail sends each round once', async () => {
		const workflow = readWorkflow(join(__dirname, 'workflows', 'loop.json'));
		const node = workflow.nodes.find(({ name }) => name === NODE);
		Object.assign(node ?? {}, retryOnFail);
		simulator().addFault({ skip: 1, action: failure });
		const run = await runWorkflow(workflow, surroundings());
		expect(run.status).toBe('success');
		expect(sendsAt(simulator())).toHaveLength(4);
		expect(simulator().campaigns.size).toBe(3);
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

	test('a dry run is remembered by nothing', async () => {
		const dry = { options: { dryRun: true } };
		const workflow = chain([push({ ...perItem, ...dry }), { name: 'Later', type: 'test.stumble' }]);
		await runWorkflow(workflow, { ...surroundings(), input: titled('a') });
		expect(sendsAt(simulator())).toHaveLength(0);
	});
});

test('each of many items is remembered in less than 120 bytes', async () => {
	const titles = Array.from({ length: 300 }, (_, index) => `No ${index}`);
	faultAt('No 299', failure);
	const failed = await runWorkflow(workflowOf({ options: { maxParallel: 100 } }), {
		...surroundings(),
		input: titled(...titles),
	});
	expect(failureOf(failed).description).toContain('Sent: 299, not sent: 1, unknown: 0.');
	const saved = await savedAndLoaded(failed);
	const context = saved.executionData?.contextData[`node:${NODE}`];
	const bytes = Buffer.byteLength(JSON.stringify(context));
	expect(bytes / titles.length).toBeLessThan(120);
	const run = await retry(failed);
	expect(run.status).toBe('success');
	expect(sendsAt(simulator())).toHaveLength(301);
	expect(errorOf(run)).toBeUndefined();
	expect(simulator().campaigns.size).toBe(300);
}, 60_000);
