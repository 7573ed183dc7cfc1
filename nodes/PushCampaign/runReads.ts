import type { IDataObject, IExecuteFunctions, INodeExecutionData } from 'n8n-workflow';

import type { Connection } from './connect';
import { deliverOptions } from './deliverOptions';
import type { Outcome, Shipment } from './delivery/deliver';
import { deliver } from './delivery/deliver';
import { catchInvalid, isFailed, stoppedError, toErrorJson, toNodeError } from './nodeErrors';
import { ParameterReader } from './operations/itemParameters';
import type { PreparedRead, ReadOperation, ReadValue } from './operations/operation';
import type { Client } from './service/client';
import type { InvalidInput } from './service/invalidInput';

/** Unlike a send, a read can be repeated without harm. */
const transientRetries = 2;

type Plan =
	| { readonly value: PreparedRead; readonly invalid?: undefined }
	| { readonly value?: undefined; readonly invalid: InvalidInput };

function toShipment({ value: read, invalid }: Plan, client: Client): Shipment<ReadValue> {
	if (read === undefined) return { known: { kind: 'invalid', invalid } };
	return {
		shareKey: read.key,
		rateLimitRetries: read.options.rateLimitRetries,
		transientRetries,
		async attempt() {
			const result = await read.perform(client);
			return result.ok
				? { kind: 'done', value: result.value }
				: { kind: 'failed', problem: result.problem };
		},
	};
}

function toJson(plan: Plan | undefined, outcome: Outcome<ReadValue>): IDataObject {
	if (isFailed(outcome)) return toErrorJson(outcome, 'read');
	if (outcome.kind !== 'done') return {};
	const { simplified, raw } = outcome.value;
	// Items that share an answer must not share its object: a later node may change one of them.
	return structuredClone(plan?.value?.simplify === false ? raw : simplified);
}

/**
 * Reads once for each item; items with the same parameters share one request.
 * @throws NodeOperationError, NodeApiError
 */
export async function runReads(
	context: IExecuteFunctions,
	operation: ReadOperation,
	{ client }: Connection,
): Promise<INodeExecutionData[]> {
	const parameters = new ParameterReader(context);
	const plans = context
		.getInputData()
		.map((_item, itemIndex) => catchInvalid(() => operation.prepare(parameters.item(itemIndex))));

	const maxParallel = plans.find(({ value }) => value)?.value?.options.maxParallel ?? 1;
	const outcomes = await deliver(
		plans.map((plan) => toShipment(plan, client)),
		deliverOptions(context, maxParallel),
	);
	if (context.getExecutionCancelSignal()?.aborted) throw stoppedError(context.getNode());
	if (!context.continueOnFail()) {
		outcomes.forEach((outcome, itemIndex) => {
			if (isFailed(outcome)) throw toNodeError(context.getNode(), outcome, itemIndex);
		});
	}

	return outcomes.map((outcome, itemIndex) => ({
		json: toJson(plans[itemIndex], outcome),
		pairedItem: { item: itemIndex },
	}));
}
