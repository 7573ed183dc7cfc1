import type { IExecuteFunctions } from 'n8n-workflow';

import { connections } from '../n8n/connection';
import { isTool, itemParameters } from '../n8n/parameters';
import type { SendOperation } from '../operations/operation';
import { requireTimezone } from '../operations/timing';
import { openMemory } from '../send/open';
import { decide, nameExecution } from './start';

/**
 * One run of the node that sends: what it does with all of its items, and what it needs for that.
 * @throws InvalidInput if the workflow's timezone is none
 */
export function openRun(context: IExecuteFunctions, operation: SendOperation) {
	requireTimezone(context.getTimezone());
	const itemAt = itemParameters(context);
	const parameters = context.getInputData().map((_input, index) => itemAt(index));
	const { kind, refusal } = decide(context, parameters);
	return {
		context,
		operation,
		/** Of each item. */
		parameters,
		kind,
		/** Why nothing new is sent. */
		refusal,
		memory: openMemory(context, nameExecution(context), kind === 'send'),
		connectionOf: connections(context),
		/** The run of the node in this execution; an agent's tool has none. */
		runIndex: isTool(context.getNode())
			? undefined
			: Number(context.evaluateExpression('{{ $runIndex }}', 0)) || 0,
	};
}

export type Run = ReturnType<typeof openRun>;
