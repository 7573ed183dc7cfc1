import type { INode, NodeError } from 'n8n-workflow';
import { NodeApiError, NodeOperationError } from 'n8n-workflow';

import type { Problem } from '../service/problems';
import { validationProblem } from '../service/problems';
import { InvalidInput, messageOf, Unavailable } from '../service/thrown';
import { UnusableCredential } from './connection';

/** Why something failed that was thrown, in words. What is not known here is a defect of this node. */
export function toProblem(thrown: unknown): Problem {
	if (thrown instanceof UnusableCredential) {
		return { ...validationProblem(thrown.reason), isForAll: true };
	}
	if (thrown instanceof InvalidInput || thrown instanceof Unavailable) {
		return validationProblem(thrown);
	}
	return {
		type: 'unspecified',
		// Whatever threw it may have asked the service before.
		outcome: 'unknown',
		message: `This is a bug in the Push Campaign node: ${messageOf(thrown)}`,
		fix: 'Report it to the maintainers of this node, with the workflow and its data.',
		cause: 'node-defect',
	};
}

/** Why an item is refused. @throws what is a defect of this node */
export function toRefusal(thrown: unknown): Problem {
	const problem = toProblem(thrown);
	if (problem.cause === 'node-defect') throw thrown;
	return problem;
}

/** What n8n shows of an error. */
interface ErrorText {
	readonly message: string;
	readonly description: string;
}

/**
 * Words in an error's message that n8n acts on. An execution with the first one counts as canceled (n8n-core 2.41.1:
 * `workflow-execute.js`, `processSuccessExecution`): no error workflow starts, and in queue mode its Retry never ends. A
 * message with one of the others is replaced by words of n8n's own (n8n-workflow 2.41.0: `node.error.js`,
 * `COMMON_ERRORS`), so the host or the title that it names is lost.
 */
const n8nWords =
	/canceled|econnrefused|econnreset|enotfound|etimedout|erraddrinuse|eaddrnotavail|econnaborted|ehostunreach|eai_again|enoent|eisdir|enotdir|eacces|eexist|eperm|getaddrinfo/gi;

/** A message may quote such a word, so a character that nobody sees stands in it. */
const withoutN8nWords = (message: string) =>
	message.replace(n8nWords, (word) => `${word.slice(0, 1)}\u2060${word.slice(1)}`);

/** Makes n8n's error: of the node for what was entered, of the API for what the service or the network did. */
export function toN8nError(
	node: INode,
	{ type, httpCode, cause, retryAfterMs }: Problem,
	{ message, description }: ErrorText,
): NodeError {
	const options = {
		description,
		failure: retryAfterMs === undefined ? { cause } : { cause, retryAfterMs },
	};
	const shown = withoutN8nWords(message);
	if (type === 'validation' || cause === 'node-defect') {
		return new NodeOperationError(node, shown, options);
	}
	const code = httpCode === undefined ? {} : { httpCode };
	return new NodeApiError(node, {}, { message: shown, ...options, ...code });
}
