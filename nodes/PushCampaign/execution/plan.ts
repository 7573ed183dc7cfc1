import { jsonStringify } from 'n8n-workflow';

import { digest } from '../n8n/connection';
import { toRefusal } from '../n8n/errors';
import type { ItemParameters } from '../n8n/parameters';
import type { Ending } from '../operations/operation';
import { readKey, testSubscriberField } from '../operations/options';
import { hasTestSubscriber, prepareSend, testOf, toRowAsEntered } from '../operations/send';
import { lateness } from '../operations/timing';
import { asEntered } from '../operations/values';
import type { Key } from '../send/once';
import { askKey } from '../send/once';
import type { Problem } from '../service/problems';
import { unknownProblem } from '../service/problems';
import { forEachItem } from './eachItem';
import type { Run } from './run';
import type { FailedItem, KnownItem, RunItem } from './runItem';
import { isTriedOut } from './start';

/** An item that an error output hands on, as one that is wired back into the node does. */
const comesBackUnknown = unknownProblem('what came in is marked as unknown by another send', {
	isSend: true,
});

/** Whether an item comes from a send whose outcome is unknown. */
function saysUnknown({ error }: Readonly<Record<string, unknown>>): boolean {
	return (
		typeof error === 'object' && error !== null && 'outcome' in error && error.outcome === 'unknown'
	);
}

/** Reads and checks the items of a run, one after another. @throws what is a defect of this node */
export async function planAll(run: Run): Promise<RunItem[]> {
	let unavailable = run.refusal;
	return await forEachItem(run.context, run.parameters, async (parameters, index) => {
		const item = await plan(run, parameters, index, unavailable);
		// A credential or a database that can't be had fails once, not once for each item.
		if (item.state === 'failed' && item.problem.isForAll) unavailable = item.problem;
		return item;
	});
}

/**
 * Asks in this order: what this execution knows of the item, its key if it is refused, whether it is valid, the clock.
 * @param unavailable why nothing new is sent
 */
async function plan(
	run: Run,
	parameters: ItemParameters,
	index: number,
	unavailable: Problem | undefined,
): Promise<RunItem> {
	const position = positionOf(run, parameters, index);
	const item = { index, parameters, position, subscriberId: subscriberOf(run, parameters, index) };
	const known = run.memory.ledger.recall(position);
	if (known.state !== 'new' && known.state !== 'inFlight') return { ...item, ...known };
	if (unavailable !== undefined) return fail(run, item, unavailable);
	try {
		return await read(run, item);
	} catch (error) {
		return await refuse(run, item, toRefusal(error));
	}
}

/**
 * The position of an item in the execution: the run of the node, the item's number, and what came in, whatever is edited
 * in the node before a Retry. An agent's tool has no run: a call is known by its content.
 */
function positionOf({ runIndex }: Run, { input }: ItemParameters, index: number) {
	if (runIndex === undefined) return undefined;
	const content = jsonStringify(input, { replaceCircularRefs: true });
	return `${runIndex}.${index}.${digest(content)}`;
}

/**
 * What an item is sent once under, if it has Send Only Once. A format: saved keys depend on it.
 * @throws InvalidInput, UnusableCredential, Unavailable
 */
async function keyOf(run: Run, { index, parameters }: KnownItem): Promise<Key | undefined> {
	const id = readKey(parameters);
	if (id === undefined) return undefined;
	const { site } = await run.connectionOf(index);
	if (run.kind === 'send') await run.memory.requireKeys();
	const nodeId = run.context.getNode().id;
	return { id, name: `key:${digest(JSON.stringify([nodeId, site, 'entered', id]))}` };
}

/** @throws InvalidInput, UnusableCredential, Unavailable */
async function read(run: Run, item: KnownItem): Promise<RunItem> {
	const { index, parameters } = item;
	const send = prepareSend(parameters, run.operation);
	const connection = await run.connectionOf(index);
	const key = await keyOf(run, item);
	const subscriberId = send.subscriberId ?? item.subscriberId;
	const checked = { ...item, subscriberId, connection, key, send };
	const late = lateness(send.timing, Date.now());
	if (late !== undefined) return await refuse(run, checked, late);
	if (run.kind === 'send') {
		const isUnknown = saysUnknown(parameters.input);
		return isUnknown
			? await refuse(run, checked, comesBackUnknown)
			: { ...checked, state: 'ready' };
	}
	const isTested =
		run.kind === 'test' || (isTriedOut(run.context) && hasTestSubscriber(parameters));
	const test = isTested && index === 0 ? testOf(parameters, send) : undefined;
	if (run.kind === 'dryRun' || test === undefined) return { ...checked, test, state: 'shown' };
	return { ...checked, test, subscriberId: test.subscriberId, state: 'ready' };
}

/** Refuses an item, unless it was sent under its ID, or may have been: then it is not judged. */
export async function refuse(run: Run, item: KnownItem, problem: Problem): Promise<RunItem> {
	if (run.kind !== 'send' || problem.isForAll) return fail(run, item, problem);
	const { position, parameters } = item;
	const toRow = (ending: Ending) => toRowAsEntered(parameters, run.operation, ending);
	try {
		const key = await keyOf(run, item);
		const known = key && (await askKey(run.memory, key, { position, toRow }));
		return known ? { ...item, key, ...known } : fail(run, item, problem);
	} catch (error) {
		const refusal = toRefusal(error);
		return fail(run, item, refusal.isForAll ? refusal : problem);
	}
}

function fail(run: Run, item: KnownItem, problem: Problem): FailedItem {
	const outcome = { state: 'failed', problem } as const;
	// In a Retry, what is unknown was reported.
	if (problem.outcome === 'unknown') run.memory.ledger.keep(item.position, outcome);
	return { ...item, ...outcome };
}

/** Whom an item is for, if it is for one; as entered if it is not valid. */
function subscriberOf({ kind, operation }: Run, parameters: ItemParameters, index: number) {
	const isTest = kind === 'test' && index === 0;
	const field = isTest ? testSubscriberField : operation.subscriber;
	return field && asEntered(parameters, field);
}
