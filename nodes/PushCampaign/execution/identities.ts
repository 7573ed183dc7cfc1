import type { IExecuteFunctions } from 'n8n-workflow';

import type { PreparedSend } from '../operations/operation';
import { digest } from '../send/digest';
import type { SendIdentity } from '../send/ledger/sendIdentity';
import { isTool } from './itemJob';
import { hasExpression } from './parameterReader';

/**
 * The parameters as written, without the options: turning on Resend Unknown must not make every item
 * a new one. Missing if no expression is among them: then other content means other input.
 */
function writtenParameters(context: IExecuteFunctions): string | undefined {
	const parameters = { ...context.getNode().parameters, options: undefined };
	return hasExpression(parameters) ? JSON.stringify(parameters) : undefined;
}

/** What tells the sends of a run from others, in this execution and in those that n8n makes of it by Retry. */
export class Identities {
	/**
	 * An older agent hands its tool the arguments as an item, and evaluates its parameters by another one: there the
	 * content alone tells one send from another.
	 */
	private readonly isOfAgent: boolean;
	/** An agent's tool may run in a context that has none. */
	private readonly executionId: string;
	/** The first run if n8n tells none. */
	private readonly runIndex: number;
	/** The parameters as written, if they say that an item is the same though its content differs. */
	private readonly written: string | undefined;

	constructor(private readonly context: IExecuteFunctions) {
		this.isOfAgent = isTool(context.getNode());
		this.written = this.isOfAgent ? undefined : writtenParameters(context);
		this.executionId = String(context.getExecutionId());
		this.runIndex = this.isOfAgent
			? 0
			: Number(context.evaluateExpression('{{ $runIndex }}', 0)) || 0;
	}

	/**
	 * @param site what it goes to
	 * @param key its idempotency key, if it has one
	 */
	of(itemIndex: number, send: PreparedSend, site: string, key: string | undefined): SendIdentity {
		const input = this.context.getInputData()[itemIndex]?.json;
		return {
			kind: send.kind,
			position: this.positionOf(itemIndex),
			content: digest([site, ...send.content]),
			// A test and the real send are written alike.
			source: this.written && digest([site, this.written, input, send.testSubscriberId]),
			key: key === undefined ? undefined : digest(key),
			executionId: this.executionId,
		};
	}

	/** What tells an item of a test run from others. Calls of an agent have one position, and differ in their content. */
	testPosition(itemIndex: number, { content }: PreparedSend): string {
		const position = this.positionOf(itemIndex);
		return this.isOfAgent ? `${position}.${digest(content)}` : position;
	}

	private positionOf(itemIndex: number): string {
		return this.isOfAgent ? 't' : `${this.runIndex}.${itemIndex}`;
	}
}
