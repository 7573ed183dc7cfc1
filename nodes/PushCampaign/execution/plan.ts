import type { IExecuteFunctions } from 'n8n-workflow';
import { jsonStringify } from 'n8n-workflow';

import type { Connection } from '../n8n/connection';
import { connections, digest } from '../n8n/connection';
import { toRefusal } from '../n8n/errors';
import type { ItemParameters } from '../n8n/parameters';
import { isTool, itemParameters } from '../n8n/parameters';
import type { PreparedSend, SendOperation } from '../operations/operation';
import { readKey, testSubscriberField } from '../operations/options';
import { prepareSend, testOf } from '../operations/send';
import { lateness } from '../operations/timing';
import { asEntered } from '../operations/values';
import type { Send } from '../send/once';
import type { SendMemory } from '../send/open';
import type { Problem } from '../service/problems';
import { validationProblem } from '../service/problems';
import { InvalidInput } from '../service/thrown';
import type { RunKind } from './refusals';
import { comesBackUnknown, kindOfRun, saysUnknown, wouldTest } from './refusals';
import { planEach } from './results';
import type { FailedItem, KnownItem, RunItem } from './runItem';
import { isRetry, startOf } from './start';

/** The items of a run, and what it does with all of them. */
export interface Plan {
	readonly kind: RunKind;
	readonly items: RunItem[];
}

/**
 * Reads and checks the items of a run; fewer if the execution is stopped. What this execution has sent gives its first
 * answer again, and is not read.
 */
export async function planSends(
	context: IExecuteFunctions,
	operation: SendOperation,
	memory: SendMemory,
): Promise<Plan> {
	const itemAt = itemParameters(context);
	const parameters = context.getInputData().map((_input, index) => itemAt(index));
	const decided = kindOfRun(parameters, startOf(context), isRetry(context));
	const kind = decided instanceof InvalidInput ? 'send' : decided;
	const planner = new Planner(context, operation, memory, kind);
	if (decided instanceof InvalidInput) planner.unavailable = validationProblem(decided);
	const items = await planEach(
		context,
		parameters,
		async (item, index) => await planner.plan(item, index),
	);
	return { kind, items };
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
	private readonly connectionOf: (index: number) => Promise<Connection>;
	private readonly positionOf;
	private readonly readKey;
	private readonly start;
	/** Why no item is sent any more: what the run does, a credential or a database that can't be had. It fails once. */
	unavailable: Problem | undefined;

	constructor(
		context: IExecuteFunctions,
		private readonly operation: SendOperation,
		private readonly memory: SendMemory,
		private readonly kind: RunKind,
	) {
		this.connectionOf = connections(context);
		this.start = startOf(context);
		this.positionOf = positions(context);
		this.readKey = keysOf(context, this.connectionOf);
	}

	/** @throws what is a defect of this node */
	async plan(parameters: ItemParameters, index: number): Promise<RunItem> {
		// A dry run and a test ask nothing, and nothing remembers them.
		const position = this.kind === 'send' ? this.positionOf(index, parameters) : undefined;
		const item = { index, parameters, position };
		const known = this.memory.ledger.recall(position);
		if (known.says === 'sent') return { ...item, how: 'before', row: known.row, isUnknown: false };
		if (known.says === 'unknown') return this.fail(item, known.problem);
		if (this.unavailable !== undefined) return this.fail(item, this.unavailable);
		try {
			return await this.read(item);
		} catch (error) {
			return await this.refuse(item, this.problemOf(error));
		}
	}

	/** Why an item is refused; if it is for what all items need, all that follow are. @throws what is a defect of this node */
	private problemOf(error: unknown): Problem {
		const { problem, isForAll } = toRefusal(error);
		if (isForAll) this.unavailable = problem;
		return problem;
	}

	/** @throws InvalidInput, UnusableCredential, Unavailable */
	private async keyOf({ index, parameters }: KnownItem): Promise<Send['key']> {
		const key = await this.readKey(index, parameters);
		if (key !== undefined && this.kind === 'send') await this.memory.requireKeys();
		return key;
	}

	/** @throws InvalidInput, UnusableCredential, Unavailable */
	private async read(item: KnownItem): Promise<RunItem> {
		const { index, parameters } = item;
		const send = prepareSend(parameters, this.operation);
		const connection = await this.connectionOf(index);
		const key = await this.keyOf(item);
		const checked = { ...item, subscriberId: send.subscriberId, connection, key, send };
		const late = lateness(send.timing, Date.now());
		// A call of a tool is known by its content alone: its send asks the ledger first.
		const isTool = this.kind === 'send' && item.position === undefined;
		if (late !== undefined && !isTool) return this.fail(checked, late, send);
		if (this.kind === 'dryRun') {
			const test = wouldTest(parameters, this.start) ? testOf(parameters, send) : undefined;
			return { ...checked, how: 'shown', testSubscriberId: test?.subscriberId };
		}
		if (this.kind === 'test') {
			if (index > 0) return { ...checked, how: 'shown' };
			const test = testOf(parameters, send);
			return {
				...checked,
				how: 'ready',
				key: undefined,
				send: test,
				subscriberId: test.subscriberId,
			};
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

	private fail(item: KnownItem, problem: Problem, send?: PreparedSend): FailedItem {
		const isTest = this.kind === 'test' && item.index === 0;
		const field = isTest ? testSubscriberField : this.operation.subscriber;
		const subscriberId = item.subscriberId ?? (field && asEntered(item.parameters, field));
		return { ...item, subscriberId, how: 'failed', problem, send };
	}
}
