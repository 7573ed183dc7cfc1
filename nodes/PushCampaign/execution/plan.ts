import type { IExecuteFunctions } from 'n8n-workflow';
import { sleep } from 'n8n-workflow';

import type { Connection } from '../n8n/connection';
import { connections, digest, UnusableCredential } from '../n8n/connection';
import { toProblem } from '../n8n/errors';
import type { ItemParameters } from '../n8n/parameters';
import { isTool, itemParameters } from '../n8n/parameters';
import type { PreparedSend, SendOperation } from '../operations/operation';
import { isDryRun, readSendOptions } from '../operations/options';
import { performSend, prepareSend, testOf, toRow } from '../operations/send';
import type { UnknownOutcome } from '../send/keys';
import type { Send, SendOutcome, SendsOnce } from '../send/once';
import type { Problem } from '../service/problems';
import { checkLead } from '../service/schedule';
import { InvalidInput, Unavailable } from '../service/thrown';

/** What is to become of an item, decided before anything is sent. */
export type Plan = { readonly index: number; readonly item: ItemParameters } & (
	| {
			readonly action: 'send';
			/** As it goes out: in a test run, to the test subscriber alone. */
			readonly send: PreparedSend;
			/** As it goes out when the workflow runs by itself. */
			readonly meant: PreparedSend;
			readonly once: Send;
	  }
	/** Only checked, as its user chose. `test` is what the editor would send instead. */
	| {
			readonly action: 'preview';
			readonly send: PreparedSend;
			readonly test: PreparedSend | undefined;
			readonly connection: Connection;
			readonly key: string | undefined;
	  }
	/** An item of a test run that goes to nobody. */
	| { readonly action: 'nobody'; readonly send: PreparedSend; readonly connection: Connection }
	/** It can't be sent as it is. */
	| {
			readonly action: 'refuse';
			readonly problem: Problem;
			readonly isDryRun: boolean;
			readonly send?: PreparedSend;
	  }
	/** It ended in an earlier try of this execution. */
	| { readonly action: 'recall'; readonly outcome: SendOutcome }
);

/** After this many items the rest of n8n gets its turn: reading thousands of parameters takes seconds. */
const itemsAtOnce = 200;

/**
 * Whether a person runs the workflow in the editor. A Retry of such an execution has the mode `retry` and still the first
 * one's context (n8n 2.41.1 and 1.123: n8n-core, `execution-context.js`).
 */
function isManual(context: IExecuteFunctions): boolean {
	const mode = context.getMode();
	if (mode === 'manual') return true;
	return mode === 'retry' && context.getExecutionContext?.()?.source === 'manual';
}

/** Reads and checks the items of a run, and decides what is to become of each. */
export class Planner {
	private readonly itemAt: (index: number) => ItemParameters;
	private readonly connectionOf: (index: number) => Promise<Connection>;
	private readonly isManual: boolean;
	private readonly isTool: boolean;
	private readonly nodeId: string;
	private readonly runIndex: number;
	/** Why no further item can be sent: a credential or a database that can't be had fails once. */
	private unavailable: Problem | undefined;

	constructor(
		private readonly context: IExecuteFunctions,
		private readonly operation: SendOperation,
		private readonly once: SendsOnce,
		/** Throws if keys can't be used here. */
		private readonly requireKeys: () => Promise<void>,
	) {
		this.itemAt = itemParameters(context);
		this.connectionOf = connections(context);
		this.isManual = isManual(context);
		this.isTool = isTool(context.getNode());
		this.nodeId = context.getNode().id;
		this.runIndex = this.isTool ? 0 : Number(context.evaluateExpression('{{ $runIndex }}', 0)) || 0;
	}

	async planAll(): Promise<Plan[]> {
		const signal = this.context.getExecutionCancelSignal();
		const plans: Plan[] = [];
		for (const index of this.context.getInputData().keys()) {
			// Nothing is sent after a stop.
			if (signal?.aborted) break;
			plans.push(await this.plan(index));
			if (plans.length % itemsAtOnce === 0) await sleep(0);
		}
		return plans;
	}

	private async plan(index: number): Promise<Plan> {
		const item = this.itemAt(index);
		try {
			return await this.planItem(index, item);
		} catch (error) {
			return this.refuse(index, item, this.toRefusal(error));
		}
	}

	private refuse(index: number, item: ItemParameters, problem: Problem): Plan {
		return { index, item, action: 'refuse', problem, isDryRun: isDryRun(item) };
	}

	/** @throws what is a defect of this node */
	private toRefusal(error: unknown): Problem {
		if (error instanceof InvalidInput) return toProblem(error);
		const isUnavailable = error instanceof UnusableCredential || error instanceof Unavailable;
		if (!isUnavailable) throw error;
		this.unavailable = toProblem(error);
		return this.unavailable;
	}

	private async planItem(index: number, item: ItemParameters): Promise<Plan> {
		// What was sent gives its first answer again, and is not judged again.
		const recalled = this.isTool ? undefined : this.recall(index, item);
		if (recalled !== undefined) return { index, item, action: 'recall', outcome: recalled };
		if (this.unavailable !== undefined) return this.refuse(index, item, this.unavailable);

		const meant = prepareSend(item, this.operation);
		const connection = await this.connectionOf(index);
		const plan = { index, item };
		const test = this.isManual ? testOf(item, meant) : undefined;
		if (meant.options.dryRun) {
			refuseLate(meant);
			const key = keyOf(meant, connection, this.nodeId);
			return { ...plan, action: 'preview', send: meant, test, connection, key };
		}
		if (test !== undefined && index > 0) {
			return { ...plan, action: 'nobody', send: meant, connection };
		}
		const send = test ?? meant;
		const once = this.sendOnce(index, send, connection);
		if (once.key !== undefined) await this.requireKeys();
		// A key that was sent is not judged by its time any more.
		if (once.late !== undefined && (await this.once.isFree(once))) throw once.late;
		return { ...plan, action: 'send', send, meant, once };
	}

	private recall(index: number, item: ItemParameters): SendOutcome | undefined {
		const position = this.positionOf(index);
		if (!this.once.knows(position)) return undefined;
		const recalled = this.once.recall({ position, unknownOutcome: choiceOf(item) });
		if (recalled.says === 'sent') return { ended: 'sentBefore', row: recalled.row };
		if (recalled.says === 'unknown') return { ended: 'failed', problem: recalled.problem };
		return undefined;
	}

	private positionOf = (index: number) => `${this.runIndex}.${index}`;

	private sendOnce(index: number, send: PreparedSend, connection: Connection): Send {
		const { options, timing } = send;
		const checkTime = () => timing.effective && checkLead(timing.effective, Date.now());
		return {
			// All calls of an agent's tool have one position, so there it is the content.
			position: this.isTool
				? digest(JSON.stringify([connection.site, send.isTest, send.content]))
				: this.positionOf(index),
			key: keyOf(send, connection, this.nodeId),
			unknownOutcome: options.unknownOutcome,
			timeoutMs: options.timeoutMs,
			late: checkTime(),
			checkTime,
			request: async () => await performSend(connection.client, send),
			toRow: (receipt) => toRow(send, { status: 'success', ...receipt }),
		};
	}
}

/** What is chosen about an unknown outcome. What was sent, or may have been, is not judged again: throws nothing. */
function choiceOf(item: ItemParameters): UnknownOutcome {
	try {
		return readSendOptions(item).unknownOutcome;
	} catch {
		return 'report';
	}
}

/** What a send is sent once under: what its user entered, or everything that is sent. A test has no key. */
function keyOf(
	{ options, content }: PreparedSend,
	{ site }: Connection,
	nodeId: string,
): string | undefined {
	const { idempotencyKey } = options;
	if (idempotencyKey === undefined) return undefined;
	const id = idempotencyKey === '' ? ['made', content] : ['entered', idempotencyKey];
	return `key:${digest(JSON.stringify([nodeId, site, ...id]))}`;
}

/** @throws InvalidInput if it is too late for the time of a send */
function refuseLate({ timing }: PreparedSend): void {
	const late = timing.effective && checkLead(timing.effective, Date.now());
	if (late !== undefined) throw late;
}
