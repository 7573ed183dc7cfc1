import type { IDataObject, IExecuteFunctions, INode, INodeExecutionData } from 'n8n-workflow';
import { sleep } from 'n8n-workflow';

import type { Connection } from './connect';
import { deliverOptions } from './deliverOptions';
import type { Outcome, Shipment } from './delivery/deliver';
import { deliver } from './delivery/deliver';
import type { Identity } from './delivery/ledger';
import { digest, Ledger } from './delivery/ledger';
import { executionHints } from './executionHints';
import {
	catchInvalid,
	isFailed,
	stoppedError,
	tally,
	toErrorJson,
	toNodeError,
} from './nodeErrors';
import { hasExpression, ParameterReader } from './operations/itemParameters';
import type { SendOperation } from './operations/operation';
import type { PreparedSend } from './operations/send';
import { dryRunItem, performSend, prepareSend, sentItem } from './operations/send';
import type { SendReceipt } from './service/answers';
import type { Client } from './service/client';
import { interruptedProblem } from './service/failures';
import type { InvalidInput } from './service/invalidInput';
import { checkLead } from './service/schedule';

/** What is to become of an item, known before anything leaves. */
type Plan =
	| { readonly kind: 'invalid'; readonly invalid: InvalidInput }
	| { readonly kind: 'dryRun'; readonly send: PreparedSend }
	/** Settled by an earlier try of this execution. */
	| { readonly kind: 'known'; readonly send: PreparedSend; readonly outcome: Outcome<SendReceipt> }
	| { readonly kind: 'ready'; readonly send: PreparedSend; readonly identity: Identity };

function tooLate({ schedule }: PreparedSend): InvalidInput | undefined {
	return schedule === undefined
		? undefined
		: catchInvalid(() => checkLead(schedule, Date.now())).invalid;
}

/**
 * The parameters as written, without the options: turning on Resend Unknown must not make every item
 * a new one. Missing where no expression is among them: then other content means other input.
 */
function writtenParameters(context: IExecuteFunctions): string | undefined {
	const { options: _options, ...parameters } = context.getNode().parameters;
	return hasExpression(parameters) ? JSON.stringify(parameters) : undefined;
}

/**
 * What stands for the run of the node. As the tool of an AI agent each try of one call has a run index
 * of its own, so there a call that repeats what was sent already gives the first answer.
 */
function runKey(context: IExecuteFunctions): string {
	const [item] = context.getInputData();
	const isTool = context.getNode().type.endsWith('Tool') && item?.json['toolCallId'] === undefined;
	if (isTool) return 'tool';
	const runIndex: unknown = context.evaluateExpression('{{ $runIndex }}', 0);
	return typeof runIndex === 'number' ? String(runIndex) : '0';
}

/** After so many items the rest of n8n gets its turn: reading thousands of parameters takes seconds. */
const itemsAtOnce = 200;

/** Plans all items: reads, checks, and looks up what this execution has sent already. */
async function planItems(
	context: IExecuteFunctions,
	operation: SendOperation,
	items: readonly INodeExecutionData[],
	ledger: Ledger,
): Promise<Plan[]> {
	const parameters = new ParameterReader(context);
	const written = writtenParameters(context);

	const plan = (item: INodeExecutionData, itemIndex: number): Plan => {
		const { value: send, invalid } = catchInvalid(() =>
			prepareSend(operation, parameters.item(itemIndex)),
		);
		if (send === undefined) return { kind: 'invalid', invalid };
		const identity = {
			content: digest([operation.audience, send.body]),
			source: written === undefined ? undefined : digest([written, item.json]),
		};
		const entry = send.options.dryRun ? undefined : ledger.find(itemIndex, identity);
		if (entry?.outcome === 'sent') {
			return { kind: 'known', send, outcome: { kind: 'done', value: entry.receipt } };
		}
		if (entry?.outcome === 'unknown' && !send.options.resendUnknown) {
			return { kind: 'known', send, outcome: { kind: 'failed', problem: entry.problem } };
		}
		const late = tooLate(send);
		if (late !== undefined) return { kind: 'invalid', invalid: late };
		return send.options.dryRun ? { kind: 'dryRun', send } : { kind: 'ready', send, identity };
	};

	const plans: Plan[] = [];
	for (const [itemIndex, item] of items.entries()) {
		if (itemIndex > 0 && itemIndex % itemsAtOnce === 0) await sleep(0);
		plans.push(plan(item, itemIndex));
	}
	return plans;
}

/** Makes a send once, and remembers in the ledger what is known of it at every moment. */
async function attempt(
	{ send, identity }: Extract<Plan, { kind: 'ready' }>,
	itemIndex: number,
	client: Client,
	ledger: Ledger,
): Promise<Outcome<SendReceipt>> {
	// Written before the request leaves: an execution that ends here must not send it again.
	ledger.record(itemIndex, identity, { outcome: 'unknown', problem: interruptedProblem });
	const result = await performSend(send, client);
	if (result.ok) {
		ledger.record(itemIndex, identity, { outcome: 'sent', receipt: result.value });
		return { kind: 'done', value: result.value };
	}
	const { problem } = result;
	if (problem.outcome === 'unknown') {
		ledger.record(itemIndex, identity, { outcome: 'unknown', problem });
	} else {
		ledger.forget(itemIndex, identity);
	}
	return { kind: 'failed', problem };
}

function toShipment(
	plan: Plan,
	itemIndex: number,
	client: Client,
	ledger: Ledger,
): Shipment<SendReceipt> {
	if (plan.kind === 'invalid') return { known: plan };
	if (plan.kind === 'dryRun') return { known: { kind: 'done', value: { description: '' } } };
	if (plan.kind === 'known') return { known: plan.outcome };
	return {
		rateLimitRetries: plan.send.options.rateLimitRetries,
		transientRetries: 0,
		refuse: () => tooLate(plan.send),
		attempt: async () => await attempt(plan, itemIndex, client, ledger),
	};
}

function toJson(
	plan: Plan | undefined,
	outcome: Outcome<SendReceipt>,
	baseUrl: string,
): IDataObject {
	if (isFailed(outcome)) return toErrorJson(outcome, 'send');
	if (plan?.kind === 'dryRun') return dryRunItem(plan.send, baseUrl);
	if (plan === undefined || plan.kind === 'invalid' || outcome.kind !== 'done') return {};
	return sentItem(plan.send, outcome.value);
}

/** The sends that the service took, or that were a dry run. */
const acceptedSends = (plans: readonly Plan[], outcomes: ReadonlyArray<Outcome<SendReceipt>>) =>
	plans.flatMap((plan, itemIndex) =>
		plan.kind !== 'invalid' && outcomes[itemIndex]?.kind === 'done' ? [plan.send] : [],
	);

/** Throws n8n's error for the first item that failed, if any, with how all ended. */
function throwFirstFailure(
	node: INode,
	plans: readonly Plan[],
	outcomes: ReadonlyArray<Outcome<SendReceipt>>,
): void {
	// A dry run sends nothing, whatever its outcome.
	const counts = tally(
		outcomes.map((outcome, itemIndex): Outcome<SendReceipt> =>
			plans[itemIndex]?.kind === 'dryRun' ? { kind: 'notStarted' } : outcome,
		),
	);
	const first = outcomes[counts.firstFailed];
	if (first === undefined || !isFailed(first)) return;
	throw toNodeError(node, first, counts.firstFailed, counts);
}

/**
 * Sends one campaign for each item. Unless the node continues on fail, all items are checked before the
 * first is sent, and a first failure keeps the rest from starting.
 * @throws NodeOperationError, NodeApiError
 */
export async function runSends(
	context: IExecuteFunctions,
	operation: SendOperation,
	{ client, settings }: Connection,
): Promise<INodeExecutionData[]> {
	const items = context.getInputData();
	const ledger = new Ledger(context.getContext('node'), runKey(context));
	const plans = await planItems(context, operation, items, ledger);

	const maxParallel = plans.find((plan) => plan.kind === 'ready')?.send.options.maxParallel ?? 1;
	const outcomes = await deliver(
		plans.map((plan, itemIndex) => toShipment(plan, itemIndex, client, ledger)),
		deliverOptions(context, maxParallel),
	);
	if (context.getExecutionCancelSignal()?.aborted) throw stoppedError(context.getNode());
	if (!context.continueOnFail()) throwFirstFailure(context.getNode(), plans, outcomes);

	// Not every context that n8n makes can show hints.
	context.addExecutionHints?.(...executionHints(acceptedSends(plans, outcomes)));

	return outcomes.map((outcome, itemIndex) => ({
		json: toJson(plans[itemIndex], outcome, settings.baseUrl),
		pairedItem: { item: itemIndex },
	}));
}
