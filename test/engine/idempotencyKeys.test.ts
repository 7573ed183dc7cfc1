import type { INodeParameters, IRun } from 'n8n-workflow';
import type { Fault } from '../../simulator';
import { forgetProcessed } from './support/deduplication';
import {
	content,
	credentialsFor,
	failureOf,
	outputOf,
	push,
	sendsAt,
	titled,
	titlesAt,
	useSimulator,
} from './support/pushCampaign';
import { runWorkflow } from './support/run';
import { chain } from './support/workflow';

const simulator = useSimulator();
const failure: Fault['action'] = { kind: 'failure', description: 'No luck', status: 500 };
const faultAt = (title: string, action: Fault['action'], times = 1) =>
	simulator().addFault({ match: { bodyIncludes: `"${title}"` }, times, action });

beforeEach(forgetProcessed);

const workflowOf = (options: INodeParameters = {}, more: object = {}) =>
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
	await runWorkflow(workflowOf(options, more), {
		credentials: credentialsFor(simulator()),
		input: titled(...titles),
	});
const retry = async (retryOf: IRun, options: INodeParameters = {}) =>
	await runWorkflow(workflowOf(options), { credentials: credentialsFor(simulator()), retryOf });
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

test('of items with the same key the first is sent', async () => {
	const execution = await run(['a1', 'a2', 'b', 'a3']);
	expect(statuses(execution)).toEqual(['success', 'alreadySent', 'success', 'alreadySent']);
	expect(titlesAt(simulator())).toEqual(['a1', 'b']);
});

test('of items with the same key the others fail as the first did', async () => {
	faultAt('a1', failure);
	const execution = await run(['a1', 'a2', 'b'], {}, { onError: 'continueRegularOutput' });
	expect(outputOf(execution)).toMatchObject([
		{ error: { outcome: 'notSent', httpCode: '500' } },
		{ error: { outcome: 'notSent', httpCode: '500' } },
		{ status: 'success' },
	]);
	expect(titlesAt(simulator())).toEqual(['a1', 'b']);
});

test('what was not sent is sent by the next execution', async () => {
	faultAt('b', failure);
	expect((await run(['a', 'b', 'c'])).status).toBe('error');
	expect(statuses(await run(['a', 'b', 'c']))).toEqual(['alreadySent', 'success', 'success']);
	expect(titlesAt(simulator())).toEqual(['a', 'b', 'b', 'c']);
});

test('what is unknown stays unknown in a later execution, unless it is to be sent again', async () => {
	faultAt('a', { kind: 'reset-after' });
	await run(['a']);
	const later = await run(['a']);
	expect(failureOf(later).message).toMatch(/^It is unknown whether this was sent: an earlier/);
	expect(titlesAt(simulator())).toEqual(['a']);
	expect(statuses(await run(['a'], { resendUnknown: true }))).toEqual(['success']);
	expect(statuses(await run(['a']))).toEqual(['alreadySent']);
	expect(titlesAt(simulator())).toEqual(['a', 'a']);
});

test('inside an execution a retry gives the first answer again', async () => {
	faultAt('b', failure);
	const failed = await run(['a', 'b']);
	const retried = await retry(failed);
	expect(outputOf(retried)).toMatchObject([
		{ status: 'success', campaignId: '1001' },
		{ status: 'success' },
	]);
	expect(titlesAt(simulator())).toEqual(['a', 'b', 'b']);
});

test('a dry run neither claims nor asks', async () => {
	const dry = { dryRun: true };
	expect(outputOf(await run(['a'], dry))).toMatchObject([{ dryRun: true }]);
	expect(statuses(await run(['a']))).toEqual(['success']);
	expect(outputOf(await run(['a'], dry))).toMatchObject([{ dryRun: true }]);
});

test('executions at the same moment send once', async () => {
	simulator().setLatency(50);
	const executions = await Promise.all([run(['a', 'b']), run(['a', 'b']), run(['a', 'b'])]);
	expect(executions.flatMap(statuses).sort()).toEqual([
		...Array.from({ length: 4 }, () => 'alreadySent'),
		'success',
		'success',
	]);
	expect(titlesAt(simulator()).sort()).toEqual(['a', 'b']);
});

test('a refusal for too many requests does not use the key up', async () => {
	faultAt('a', { kind: 'failure', type: 'rate_limit', description: 'Too many requests' }, 2);
	expect(statuses(await run(['a']))).toEqual(['success']);
	expect(statuses(await run(['a']))).toEqual(['alreadySent']);
	expect(titlesAt(simulator())).toEqual(['a', 'a', 'a']);
});
