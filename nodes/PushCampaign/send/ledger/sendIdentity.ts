import type { SendKind } from '../../service/kinds';

/**
 * What tells one send of an execution from another: its position, and digests of the content that is sent and of
 * where it comes from (the node's parameters as written and the input item). Either digest is enough to know an
 * item again: an expression such as `{{ $now }}` or `{{ $execution.id }}` gives other content for the same item
 * when n8n runs the node again, and that must not send it twice. Both include the site that it is sent to.
 */
export interface SendIdentity {
	readonly kind: SendKind;
	/** The run of the node and its item, as `0.17`; the same for all calls of an agent's tool, where only content counts. */
	readonly position: string;
	readonly content: string;
	/** Missing if the parameters hold no expression: then other content is another send. */
	readonly source?: string | undefined;
	/** A digest of its idempotency key, if it has one. */
	readonly key?: string | undefined;
	/** The execution that asks. n8n's 'Retry' has the same ledger and another execution ID. */
	readonly executionId: string;
}
