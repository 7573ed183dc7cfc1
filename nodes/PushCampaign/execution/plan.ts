import { jsonStringify } from 'n8n-workflow';

import type { Connection } from '../n8n/connection';
import { connections, digest } from '../n8n/connection';
import { toRefusal } from '../n8n/errors';
import type { ItemParameters } from '../n8n/parameters';
import { isTool } from '../n8n/parameters';
import type { PreparedSend } from '../operations/operation';
import { readKey, testSubscriberField } from '../operations/options';
import { hasTestSubscriber, prepareSend, testOf } from '../operations/send';
import { lateness } from '../operations/timing';
import { asEntered } from '../operations/values';
import type { Send } from '../send/once';
import type { Problem } from '../service/problems';
import { unknownProblem } from '../service/problems';
import type { FailedItem, KnownItem, RunItem } from './runItem';
import type { Run } from './start';
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

/** Reads and checks the items of a run, one after another. */
export class Planner {
	private readonly connectionOf: (index: number) => Promise<Connection>;
	private readonly nodeId: string;
	/** The run of the node in this execution; an agent's tool has none: a call is known by its content. */
	private readonly runIndex: number | undefined;

	/** Why nothing new is sent: what the run does, a credential or a database that can't be had. It fails once. */
	private unavailable: Problem | undefined;

	constructor(private readonly run: Run) {
		this.unavailable = run.refusal;
		const { context } = run;
		const node = context.getNode();
		this.connectionOf = connections(context);
		this.nodeId = node.id;
		this.runIndex = isTool(node)
			? undefined
			: Number(context.evaluateExpression('{{ $runIndex }}', 0)) || 0;
	}

	/**
	 * What this execution has sent gives its first answer again, and is not read.
	 * @throws what is a defect of this node
	 */
	async plan(parameters: ItemParameters, index: number): Promise<RunItem> {
		const position = this.positionOf(parameters, index);
		const item = { index, parameters, position };
		const known = this.run.memory.ledger.recall(position);
		if (known.says === 'sent') return { ...item, how: 'before', row: known.row, isUnknown: false };
		if (known.says === 'unknown') return this.fail(item, known.problem);
		if (this.unavailable !== undefined) return this.fail(item, this.unavailable);
		try {
			return await this.read(item);
		} catch (error) {
			const problem = this.problemOf(error);
			const key = await this.keyOfRefused(item);
			return this.fail({ ...item, key }, this.unavailable ?? problem);
		}
	}

	/** Why an item is refused; if it is for what all items need, all that follow are. @throws what is a defect of this node */
	private problemOf(error: unknown): Problem {
		const { problem, isForAll } = toRefusal(error);
		if (isForAll) this.unavailable = problem;
		return problem;
	}

	/**
	 * The position of an item in the execution: the run of the node, the item's number, and what came in, whatever is edited
	 * in the node before a Retry. A dry run and a test ask nothing, and nothing remembers them.
	 */
	private positionOf({ input }: ItemParameters, index: number): string | undefined {
		if (this.run.kind !== 'send' || this.runIndex === undefined) return undefined;
		const content = jsonStringify(input, { replaceCircularRefs: true });
		return `${this.runIndex}.${index}.${digest(content)}`;
	}

	/**
	 * What an item is sent once under, if it has Send Only Once. A format: saved keys depend on it.
	 * @throws InvalidInput, UnusableCredential, Unavailable
	 */
	private async keyOf({ index, parameters }: KnownItem): Promise<Send['key']> {
		const id = readKey(parameters);
		if (id === undefined) return undefined;
		const { site } = await this.connectionOf(index);
		if (this.run.kind === 'send') await this.run.memory.requireKeys();
		return { id, name: `key:${digest(JSON.stringify([this.nodeId, site, 'entered', id]))}` };
	}

	/** @throws InvalidInput, UnusableCredential, Unavailable */
	private async read(item: KnownItem): Promise<RunItem> {
		const { index, parameters } = item;
		const { context, operation, kind } = this.run;
		const send = prepareSend(parameters, operation);
		const connection = await this.connectionOf(index);
		const key = await this.keyOf(item);
		const checked = { ...item, subscriberId: send.subscriberId, connection, key, send };
		const late = lateness(send.timing, Date.now());
		// A call of a tool is known by its content alone: its send asks the ledger first.
		const asksFirst = kind === 'send' && item.position === undefined;
		if (late !== undefined && !asksFirst) return this.fail(checked, late, send);
		if (kind === 'dryRun') {
			const wouldTest = isTriedOut(context) && hasTestSubscriber(parameters);
			const test = wouldTest ? testOf(parameters, send) : undefined;
			return { ...checked, how: 'shown', testSubscriberId: test?.subscriberId };
		}
		if (kind === 'test') {
			if (index > 0) return { ...checked, how: 'shown' };
			const test = testOf(parameters, send);
			const { subscriberId } = test;
			return { ...checked, how: 'ready', key: undefined, send: test, subscriberId };
		}
		if (saysUnknown(parameters.input)) return this.fail(checked, comesBackUnknown, send);
		return { ...checked, how: 'ready' };
	}

	/** Whether it was sent under its ID is asked before it is refused for good. */
	private async keyOfRefused(item: KnownItem): Promise<Send['key']> {
		if (this.unavailable !== undefined) return undefined;
		return await this.keyOf(item).catch((error: unknown) => {
			this.problemOf(error);
			return undefined;
		});
	}

	private fail(item: KnownItem, problem: Problem, send?: PreparedSend): FailedItem {
		const isTest = this.run.kind === 'test' && item.index === 0;
		const field = isTest ? testSubscriberField : this.run.operation.subscriber;
		const subscriberId = item.subscriberId ?? (field && asEntered(item.parameters, field));
		return { ...item, subscriberId, how: 'failed', problem, send };
	}
}
