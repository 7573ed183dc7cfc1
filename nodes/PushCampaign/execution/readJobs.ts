import type { IExecuteFunctions } from 'n8n-workflow';

import type { ReadOperation, ReadValue } from '../operations/operation';
import type { Client } from '../service/client';
import { catchInvalid } from './errors';
import type { JobFactory } from './itemJob';
import { ParameterReader } from './parameterReader';

/** Unlike a send, a read can be repeated without harm. */
const transientRetries = 2;

/** Plans reads: items with the same parameters share one request. */
export function readJobs(
	context: IExecuteFunctions,
	operation: ReadOperation,
): JobFactory<ReadValue> {
	const parameters = new ParameterReader(context);
	const clients: Client[] = [];
	return {
		plan(itemIndex, { client }) {
			if (!clients.includes(client)) clients.push(client);
			const { value: read, invalid } = catchInvalid(() =>
				operation.prepare(parameters.item(itemIndex)),
			);
			if (read === undefined) return { invalid };
			const { maxParallel, rateLimitRetries } = read.options;
			return {
				value: {
					maxParallel,
					job: {
						shareKey: `${clients.indexOf(client)} ${read.key}`,
						rateLimitRetries,
						transientRetries,
						async attempt() {
							const result = await read.perform(client);
							return result.ok
								? { kind: 'done', value: result.value }
								: { kind: 'failed', problem: result.problem };
						},
					},
					// Items that share an answer must not share its object: a later node may change one of them.
					toJson: ({ simplified, raw }) => structuredClone(read.simplify ? simplified : raw),
				},
			};
		},
	};
}
