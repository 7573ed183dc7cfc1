import type { INode } from 'n8n-workflow';
import { NodeApiError, NodeOperationError } from 'n8n-workflow';
import { UnusableCredential } from '../../../nodes/PushCampaign/n8n/connection';
import { toN8nError, toProblem } from '../../../nodes/PushCampaign/n8n/errors';
import { failureProblem } from '../../../nodes/PushCampaign/service/problems';
import { InvalidInput, Unavailable } from '../../../nodes/PushCampaign/service/thrown';

const node: INode = {
	...{ id: '1', name: 'Push Campaign', type: 'pushCampaign', typeVersion: 1 },
	...{ position: [0, 0], parameters: {} },
};
const text = { message: "'Title' is missing", description: "Fill in 'Title'." };
const invalid = new InvalidInput("'Title' is missing", "Fill in 'Title'.");
const limited = failureProblem(
	{ type: 'rate_limit', description: 'Slow down' },
	{ statusCode: 200, retryAfterMs: 2_000 },
	{ isSend: true },
);

test('what was entered is an error of the node, without a number of one item', () => {
	const error = toN8nError(node, toProblem(invalid), text);
	const { message, description } = text;
	expect(error).toMatchObject({ name: 'NodeOperationError', message, description });
	// n8n would write it behind a message that names items.
	expect(error.context['itemIndex']).toBeUndefined();
	expect(error.failure).toEqual({ cause: 'configuration-invalid' });
});

test('what the service did is an error of the API, with its code, its cause and the pause it asks for', () => {
	const error = toN8nError(node, limited, text);
	expect(error).toMatchObject({ name: 'NodeApiError', httpCode: '429', message: text.message });
	expect(error.failure).toEqual({ cause: 'rate-limited', retryAfterMs: 2_000 });
});

test('a credential that can’t be had has its reason', () => {
	const down = new Unavailable('The vault is sealed', 'Open it.');
	expect(toProblem(down)).toMatchObject({ outcome: 'notSent', cause: 'temporarily-unavailable' });
	expect(toProblem(new UnusableCredential(down))).toEqual(toProblem(down));
	expect(toProblem(new UnusableCredential(invalid))).toEqual({
		...toProblem(invalid),
		isForAll: true,
	});
});

test('anything else that is thrown is a bug of this node, after which nobody knows what was sent', () => {
	const problem = toProblem(new TypeError('x is undefined'));
	expect(problem).toMatchObject({ outcome: 'unknown', cause: 'node-defect' });
	expect(problem.message).toBe('This is a bug in the Push Campaign node: x is undefined');
	expect(toProblem('just a text').message).toMatch(/: just a text$/);
	expect(toN8nError(node, problem, text).name).toBe('NodeOperationError');
});

describe('a message that quotes a word that n8n acts on reads as it was written', () => {
	const shownBy = (error: Error) => error.message.replaceAll('\u2060', '');

	// n8n takes the execution for canceled.
	test('if the word is "canceled"', () => {
		const message = `'Title' is not valid: "canceled, canceled"`;
		for (const problem of [toProblem(invalid), limited]) {
			const error = toN8nError(node, problem, { ...text, message });
			expect(error.message).not.toContain('canceled');
			expect(shownBy(error)).toBe(message);
		}
	});

	// n8n shows words of its own instead.
	test.each([
		...['ECONNREFUSED', 'ECONNRESET', 'ENOTFOUND', 'ETIMEDOUT', 'ERRADDRINUSE', 'EADDRNOTAVAIL'],
		...['ECONNABORTED', 'EHOSTUNREACH', 'EAI_AGAIN', 'ENOENT', 'EISDIR', 'ENOTDIR', 'EACCES'],
		...['EPERM', 'getaddrinfo', 'preexisting'],
	])('if the word is "%s"', (word) => {
		const message = `'Title' is not valid: "${word}"`;
		expect(new NodeApiError(node, {}, { message }).message).not.toBe(message);
		expect(new NodeOperationError(node, message).message).not.toBe(message);
		for (const problem of [toProblem(invalid), limited]) {
			expect(shownBy(toN8nError(node, problem, { ...text, message }))).toBe(message);
		}
	});
});
