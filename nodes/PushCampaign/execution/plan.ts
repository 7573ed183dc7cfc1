import type { IExecuteFunctions, WorkflowExecuteMode } from 'n8n-workflow';
import { jsonStringify } from 'n8n-workflow';

import type { Connection } from '../n8n/connection';
import { connections, digest } from '../n8n/connection';
import { toRefusal } from '../n8n/errors';
import type { ItemParameters } from '../n8n/parameters';
import { isTool, itemParameters } from '../n8n/parameters';
import type { PreparedSend, SendOperation } from '../operations/operation';
import { isDryRun, isSentOnlyOnce, readSendOptions } from '../operations/options';
import { performSend, prepareSend, testOf, toRow } from '../operations/send';
import { testSubscriberField } from '../operations/subscriber';
import { lateness } from '../operations/timing';
import { asEntered, isThere, readable } from '../operations/values';
import type { Send, SendsOnce } from '../send/once';
import type { Problem } from '../service/problems';
import { InvalidInput } from '../service/thrown';
import type { RunItem } from './runItem';

/**
 * How the execution was started. A Retry has the mode `retry`, and still the first one's context (n8n 2.41.1 and 1.123:
 * n8n-core, `execution-context.js`).
 */
export function startOf(context: IExecuteFunctions): WorkflowExecuteMode {
	const mode = context.getMode();
	return mode === 'retry' ? (context.getExecutionContext?.()?.source ?? mode) : mode;
}

/** A person tries the workflow: in the editor, or by an evaluation. */
const trials: readonly WorkflowExecuteMode[] = ['manual', 'evaluation'];

/** Where n8n does not tell whether a person tries it. */
const trialsUnknownIn = { integrated: 'a sub-workflow', internal: "n8n's own Agents" } as const;

type Start = Pick<RunItem, 'index' | 'parameters' | 'hasKey'>;

/** Reads and checks the items of a run, and decides what is to become of each. */
export class Planner {
	private readonly itemAt: (index: number) => ItemParameters;
	private readonly connectionOf: (index: number) => Promise<Connection>;
	private readonly start: WorkflowExecuteMode;
	private readonly isTool: boolean;
	private readonly nodeId: string;
	private readonly runIndex: number;
	/** Why no further item can be sent, if none can. */
	private unavailable: Problem | undefined;

	constructor(
		context: IExecuteFunctions,
		private readonly operation: SendOperation,
		private readonly once: SendsOnce,
		/** Throws if keys can't be used here. */
		private readonly requireKeys: () => Promise<void>,
	) {
		this.itemAt = itemParameters(context);
		this.connectionOf = connections(context);
		this.start = startOf(context);
		this.isTool = isTool(context.getNode());
		this.nodeId = context.getNode().id;
		this.runIndex = this.isTool ? 0 : Number(context.evaluateExpression('{{ $runIndex }}', 0)) || 0;
	}

	/**
	 * Reads and checks one item.
	 * @throws what is a defect of this node
	 */
	async plan(index: number): Promise<RunItem> {
		const parameters = this.itemAt(index);
		const start = { index, parameters, hasKey: isSentOnlyOnce(parameters) };
		try {
			// What was sent gives its first answer again, and is not judged again.
			return this.recall(start) ?? (await this.planNew(start));
		} catch (error) {
			const { problem, isForAll } = toRefusal(error);
			if (isForAll) this.unavailable = problem;
			return this.refuse(start, problem);
		}
	}

	private refuse(start: Start, problem: Problem): RunItem {
		const { parameters } = start;
		const { subscriber } = this.operation;
		const subscriberId = subscriber && asEntered(parameters, subscriber);
		const how = isDryRun(parameters) ? 'unsendable' : 'failed';
		return { ...start, how, subscriberId, problem };
	}

	/** What an earlier try of this execution has sent, or may have. An agent's tool knows it by its content, later. */
	private recall(start: Start): RunItem | undefined {
		if (this.once.isFirstTry) return undefined;
		const { index, parameters } = start;
		const position = this.positionOf(index, parameters);
		const recalled = this.once.recall({ position, unknownOutcome: choiceOf(parameters) });
		if (recalled.says === 'unknown') {
			const { problem, hasKey } = recalled;
			return { ...this.refuse(start, problem), hasKey };
		}
		if (recalled.says !== 'sent') return undefined;
		return { ...start, how: 'sentEarlier', hasKey: recalled.hasKey, row: recalled.row };
	}

	private async planNew(start: Start): Promise<RunItem> {
		const { index, parameters, hasKey } = start;
		if (this.unavailable !== undefined) return this.refuse(start, this.unavailable);

		const meant = prepareSend(parameters, this.operation);
		const connection = await this.connectionOf(index);
		const { dryRun, unknownOutcome } = meant.options;
		if (unknownOutcome !== 'report' && !hasKey && this.once.isFirstTry) throw nothingUnknown;
		const { start: begun } = this;
		const isTrialUnknown = begun === 'integrated' || begun === 'internal';
		if (isTrialUnknown && !dryRun && isThere(parameters, testSubscriberField)) {
			throw noTrialKnown(begun);
		}
		const item = { ...start, meant, connection, subscriberId: meant.body.sid };
		const test = trials.includes(this.start) ? testOf(parameters, meant) : undefined;
		const key = keyOf(meant, connection, this.nodeId);
		if (dryRun) {
			const late = lateness(meant.timing, Date.now());
			if (late !== undefined) return this.refuse(start, late);
			return { ...item, how: 'previewed', send: meant, test, key };
		}
		if (test !== undefined && index > 0) return { ...item, how: 'toNobody', send: meant };
		const once = this.sendOnce(start, test ?? meant, connection);
		if (once.key !== undefined) await this.requireKeys();
		const late = once.checkTime();
		// A key that was sent is not judged by its time any more.
		if (late !== undefined && (await this.once.isFree(once))) return this.refuse(start, late);
		return { ...item, how: 'ready', send: test ?? meant, key: once.key, once };
	}

	/** The run of the node, the item's number, and what came in: whatever is edited in the node before a Retry. */
	private positionOf(index: number, { input }: ItemParameters): string {
		const item = digest(jsonStringify(input, { replaceCircularRefs: true }));
		return `${this.runIndex}.${index}.${item}`;
	}

	private sendOnce({ index, parameters }: Start, send: PreparedSend, connection: Connection): Send {
		const { options } = send;
		return {
			// All calls of an agent's tool have one position, so there it is the content.
			position: this.isTool
				? digest(JSON.stringify([connection.site, send.content]))
				: this.positionOf(index, parameters),
			key: keyOf(send, connection, this.nodeId),
			repeats: repeatsOf(send),
			unknownOutcome: options.unknownOutcome,
			timeoutMs: options.timeoutMs,
			checkTime: () => lateness(send.timing, Date.now()),
			request: async () => await performSend(connection.client, send),
			toRow: (receipt) => toRow(send, { status: 'success', ...receipt }),
			countedRow: toRow(send, {
				status: 'alreadySent',
				description: 'It counts as sent, as chosen under Unknown Outcome; nothing was sent now',
			}),
		};
	}
}

/** When running the workflow again would send it again. */
function repeatsOf({ isTest, options }: PreparedSend): Send['repeats'] {
	// A test reaches its user alone.
	if (isTest) return 'never';
	if (options.idempotencyKey === undefined) return 'always';
	return options.idempotencyKey === '' ? 'ifChanged' : 'never';
}

const nothingUnknown = new InvalidInput(
	"'Unknown Outcome' works only in a Retry of the execution that left something unknown",
	"Use 'Retry with currently saved workflow' on the execution that left it unknown, or take the option out to send anew.",
	true,
);

const noTrialKnown = (start: 'integrated' | 'internal') =>
	new InvalidInput(
		`'Test Subscriber ID' does not work in ${trialsUnknownIn[start]}: n8n does not tell the node there whether somebody is trying it`,
		start === 'integrated'
			? "Take it out of the options. To try the workflow, add 'Dry Run', or run the sub-workflow by itself."
			: "Take it out of the options. To try the tool, add 'Dry Run'.",
		start === 'internal',
	);

/** What is chosen about an unknown outcome. What was sent, or may have been, is not judged again: throws nothing. */
const choiceOf = (parameters: ItemParameters) =>
	readable(() => readSendOptions(parameters).unknownOutcome) ?? 'report';

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
