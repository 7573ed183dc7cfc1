import type { IExecuteFunctions } from 'n8n-workflow';

import type { Connection } from '../n8n/connection';
import { connections } from '../n8n/connection';
import type { ItemParameters } from '../n8n/parameters';
import { isTool, itemParameters } from '../n8n/parameters';
import type { SendOperation } from '../operations/operation';
import { requireTimezone } from '../operations/timing';
import type { SendMemory } from '../send/open';
import { openMemory } from '../send/open';
import type { Problem } from '../service/problems';
import type { Decision } from './start';
import { decide, nameExecution } from './start';

/** One run of the node that sends: what it does with all of its items, and what it needs for that. */
export class Run {
	readonly kind: Decision['kind'];
	/** Why nothing new is sent. */
	readonly refusal: Problem | undefined;
	/** Of each item. */
	readonly parameters: readonly ItemParameters[];
	readonly memory: SendMemory;
	/** Opens the credential for an item. @throws InvalidInput, UnusableCredential */
	readonly connectionOf: (index: number) => Promise<Connection>;
	/** The run of the node in this execution; an agent's tool has none. */
	readonly runIndex: number | undefined;

	/** @throws InvalidInput if the workflow's timezone is none */
	constructor(
		readonly context: IExecuteFunctions,
		readonly operation: SendOperation,
	) {
		requireTimezone(context.getTimezone());
		const itemAt = itemParameters(context);
		this.parameters = context.getInputData().map((_input, index) => itemAt(index));
		const { kind, refusal } = decide(context, this.parameters);
		this.kind = kind;
		this.refusal = refusal;
		this.memory = openMemory(context, nameExecution(context), kind === 'send');
		this.connectionOf = connections(context);
		this.runIndex = isTool(context.getNode())
			? undefined
			: Number(context.evaluateExpression('{{ $runIndex }}', 0)) || 0;
	}
}
