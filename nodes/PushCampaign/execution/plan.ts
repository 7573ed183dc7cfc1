import type { IExecuteFunctions } from 'n8n-workflow';
import { jsonStringify } from 'n8n-workflow';

import type { Connection } from '../n8n/connection';
import { connections, digest } from '../n8n/connection';
import { toRefusal } from '../n8n/errors';
import type { ItemParameters } from '../n8n/parameters';
import { isTool, itemParameters } from '../n8n/parameters';
import type { PreparedSend, SendOperation } from '../operations/operation';
import { isDryRun, isDryRunFixed, readKey, testSubscriberField } from '../operations/options';
import { hasTestSubscriber, prepareSend, testOf } from '../operations/send';
import { lateness } from '../operations/timing';
import { asEntered } from '../operations/values';
import type { Send } from '../send/once';
import type { OpenMemory } from '../send/open';
import type { Problem } from '../service/problems';
import { validationProblem } from '../service/problems';
import type { InvalidInput } from '../service/thrown';
import { comesBackUnknown, dryRunRefusal, isTrial, saysUnknown, testRefusal } from './refusals';
import { planEach } from './results';
import type { ItemThat, KnownItem, RunItem } from './runItem';
import { isRetry, startOf } from './start';

/**
 * Reads and checks the items of a run; fewer if the execution is stopped. What this execution has sent gives its first
 * answer again, and is not read.
 */
export async function planSends(
	context: IExecuteFunctions,
	operation: SendOperation,
	memory: OpenMemory,
): Promise<RunItem[]> {
	const planner = new Planner(context, operation, memory);
	return await planEach(context, async (index) => await planner.plan(index));
}

/**
 * Gives the position of an item in the execution: the run of the node, the item's number, and what came in, whatever is
 * edited in the node before a Retry. An agent's tool has none: a call is known by its content.
 */
function positions(context: IExecuteFunctions) {
	if (isTool(context.getNode())) return () => undefined;
	const run = Number(context.evaluateExpression('{{ $runIndex }}', 0)) || 0;
	return (index: number, { input }: ItemParameters): string =>
		`${run}.${index}.${digest(jsonStringify(input, { replaceCircularRefs: true }))}`;
}

/**
 * Reads what an item is sent once under, if it has Send Only Once. A format: saved keys depend on it. What it gives throws
 * InvalidInput and UnusableCredential.
 */
function keysOf(context: IExecuteFunctions, connectionOf: (index: number) => Promise<Connection>) {
	const nodeId = context.getNode().id;
	return async (index: number, parameters: ItemParameters): Promise<Send['key']> => {
		const id = readKey(parameters);
		if (id === undefined) return undefined;
		const { site } = await connectionOf(index);
		return { id, name: `key:${digest(JSON.stringify([nodeId, site, 'entered', id]))}` };
	};
}

class Planner {
	private readonly itemAt: (index: number) => ItemParameters;
	private readonly connectionOf: (index: number) => Promise<Connection>;
	private readonly positionOf;
	private readonly readKey;
	private readonly start;
	private readonly isInRetry;
	/** Why no further item can be sent, if none can: a credential or a database that can't be had fails once. */
	private unavailable: Problem | undefined;

	constructor(
		context: IExecuteFunctions,
		private readonly operation: SendOperation,
		private readonly memory: OpenMemory,
	) {
		this.itemAt = itemParameters(context);
		this.connectionOf = connections(context);
		this.start = startOf(context);
		this.isInRetry = isRetry(context);
		this.positionOf = positions(context);
		this.readKey = keysOf(context, this.connectionOf);
	}

	/** @throws what is a defect of this node */
	async plan(index: number): Promise<RunItem> {
		const item = this.begin(index);
		const known = this.memory.ledger.recall(item.position);
		if (known.says === 'sent') return { ...item, how: 'before', row: known.row, isUnknown: false };
		if (known.says === 'unknown') return this.fail(item, known.problem);
		const refusal = this.refusalOf(item);
		if (refusal !== undefined) {
			return this.fail({ ...item, isDryRun: false, isTest: false }, validationProblem(refusal));
		}
		if (this.unavailable !== undefined) return this.fail(item, this.unavailable);
		try {
			return await this.read(item);
		} catch (error) {
			return await this.refuse(item, this.problemOf(error));
		}
	}

	private begin(index: number): KnownItem {
		const parameters = this.itemAt(index);
		const isShown = isDryRun(parameters);
		const isTest = isTrial(this.start) && hasTestSubscriber(parameters) && !isShown;
		// A dry run and a test ask nothing; in a Retry both are refused, and what was sent is still known.
		const isAsked = this.isInRetry || !(isShown || isTest);
		const position = isAsked ? this.positionOf(index, parameters) : undefined;
		return { index, parameters, position, isDryRun: isShown, isTest };
	}

	/** Why an item is refused by what its execution is, if it is. */
	private refusalOf({ parameters, isDryRun }: KnownItem): InvalidInput | undefined {
		if (isDryRun) return dryRunRefusal(this.start, this.isInRetry, isDryRunFixed(parameters));
		return hasTestSubscriber(parameters) ? testRefusal(this.start, this.isInRetry) : undefined;
	}

	/** Why an item is refused; if it is for what all items need, all that follow are. @throws what is a defect of this node */
	private problemOf(error: unknown): Problem {
		const { problem, isForAll } = toRefusal(error);
		if (isForAll) this.unavailable = problem;
		return problem;
	}

	/** @throws InvalidInput, UnusableCredential, Unavailable */
	private async keyOf({ index, parameters, isDryRun, isTest }: KnownItem): Promise<Send['key']> {
		const key = await this.readKey(index, parameters);
		if (key !== undefined && !isDryRun && !isTest) await this.memory.requireKeys();
		return key;
	}

	/** @throws InvalidInput, UnusableCredential, Unavailable */
	private async read(item: KnownItem): Promise<RunItem> {
		const { index, parameters, isDryRun, isTest } = item;
		const send = prepareSend(parameters, this.operation);
		const connection = await this.connectionOf(index);
		const key = await this.keyOf(item);
		const checked = { ...item, subscriberId: send.subscriberId, connection, key, send };
		const late = lateness(send.timing, Date.now());
		// A call of a tool is known by its content alone: its send asks the ledger first.
		const isRefused = late !== undefined && (isDryRun || isTest || item.position !== undefined);
		if (isRefused) return this.fail(checked, late, send);
		if (isDryRun) {
			const hasTest = isTrial(this.start) && hasTestSubscriber(parameters);
			const test = hasTest ? testOf(parameters, send) : undefined;
			return { ...checked, how: 'shown', testSubscriberId: test?.subscriberId };
		}
		if (isTest && index > 0) return { ...checked, how: 'shown' };
		if (isTest) {
			const test = testOf(parameters, send);
			return { ...checked, how: 'ready', send: test, subscriberId: test.subscriberId };
		}
		if (saysUnknown(parameters.input)) return this.fail(checked, comesBackUnknown, send);
		return { ...checked, how: 'ready' };
	}

	/** Whether it was sent under its ID is asked before it is refused for good: so its key is read. */
	private async refuse(item: KnownItem, problem: Problem): Promise<RunItem> {
		if (this.unavailable !== undefined) return this.fail(item, this.unavailable);
		try {
			return this.fail({ ...item, key: await this.keyOf(item) }, problem);
		} catch (error) {
			this.problemOf(error);
			return this.fail(item, this.unavailable ?? problem);
		}
	}

	private fail(
		item: KnownItem,
		problem: Problem,
		send?: PreparedSend,
	): ItemThat<'failed' | 'unsendable'> {
		const { parameters, index, isTest } = item;
		const { subscriber } = this.operation;
		const field = isTest && index === 0 ? testSubscriberField : subscriber;
		const subscriberId = item.subscriberId ?? (field && asEntered(parameters, field));
		return { ...item, subscriberId, how: item.isDryRun ? 'unsendable' : 'failed', problem, send };
	}
}
