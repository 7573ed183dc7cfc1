import type { IDataObject, IExecuteFunctions } from 'n8n-workflow';

import { readRetries } from '../delivery/retry';
import type { ReadOperation } from '../operations/operation';
import { toError } from './errors';
import type { JobFactory } from './itemJob';
import { parametersOf } from './parameterReader';

/** Makes the jobs of reads: items with the same parameters and credential share one request. */
export function readJobs(
	context: IExecuteFunctions,
	operation: ReadOperation,
): JobFactory<IDataObject> {
	const parametersFor = parametersOf(context);
	return {
		async create(itemIndex, { client, settings }) {
			const read = operation.prepare(parametersFor(itemIndex));
			const { maxParallel, rateLimitRetries } = read.options;
			return {
				maxParallel,
				dedupeKey: JSON.stringify([settings, read.key]),
				rateLimitRetries,
				transientRetries: readRetries,
				attempt: async () => await read.perform(client),
				// Items that share an answer must not share its object: a later node may change one of them.
				toJson: (answer) => structuredClone(answer),
				toFailedJson: read.toFailedItem,
			};
		},
		createInvalid: (itemIndex, thrown) => ({
			known: { kind: 'invalid', invalid: toError(thrown) },
			toFailedJson: (failure) => operation.toInvalidItem(parametersFor(itemIndex), failure),
		}),
		review: (jobs) => jobs,
		close: async () => {},
		end: (outcomes) => ({ outcomes }),
	};
}
