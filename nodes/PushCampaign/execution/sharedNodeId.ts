import type { IExecuteFunctions } from 'n8n-workflow';
import { z } from 'zod/v3';

import { InvalidInput } from '../service/invalidInput';

/**
 * The workflow's nodes as the context holds them. n8n offers no function that gives their IDs, so this is n8n's
 * own object (n8n-core 2.41.1 and 1.123: `node-execution-context.js`, `workflow`), and may be gone in another
 * version.
 */
const contextWithNodes = z.object({
	workflow: z.object({
		nodes: z.record(z.object({ id: z.string().optional(), name: z.string() })),
	}),
});

/** The name of another node of the workflow that has this node's ID, if there is one that can be seen. */
function findTwin(context: IExecuteFunctions): string | undefined {
	const { data } = contextWithNodes.safeParse(context);
	const { id, name } = context.getNode();
	const nodes = Object.values(data?.workflow.nodes ?? {});
	return nodes.find((other) => other.id === id && other.name !== name)?.name;
}

/**
 * Refuses idempotency keys in a node that shares its ID. n8n stores keys by the node's ID, so a key that one of the
 * two sent under would count as sent for the other. n8n 1 accepts such workflows from its API and from files.
 * @returns a function that throws InvalidInput for such a node; the workflow is searched once, when it is made
 */
export function idCheckOf(context: IExecuteFunctions): () => void {
	const twin = findTwin(context);
	return () => {
		if (twin === undefined) return;
		throw new InvalidInput(
			`Idempotency Key and Send Only Once can't be used here: "${twin}" has the same node ID, so both nodes would share their keys`,
			'Delete one of the two nodes and add it again from the list of nodes, so that it gets an ID of its own.',
		);
	};
}
