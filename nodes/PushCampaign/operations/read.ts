import type { IDataObject, INodeProperties } from 'n8n-workflow';
import { z } from 'zod/v3';

import type { ServiceRequest } from '../service/client';
import type { OperationBase, ReadOperation } from './operation';
import { readOptions, readSchema } from './options';
import { check, readCollection, toggle } from './parameters';
import type { ItemParameters } from './parameters';

const simplified = {
	displayName: 'Simplify',
	name: 'simplify',
	type: 'boolean',
	default: true,
	description: 'Whether to return a simplified version of the response instead of the raw data',
} as const satisfies INodeProperties;

/** Parsed JSON that is an object, as n8n's items hold it. */
const jsonObject = z.record(
	z.union([
		z.string(),
		z.number(),
		z.boolean(),
		z.null(),
		z.array(z.unknown()),
		z.object({}).passthrough(),
	]),
);

/** The campaign that a read is about, as its item names it. */
const idOf = ({ requestedId }: Pick<ServiceRequest, 'requestedId'>): IDataObject =>
	requestedId?.of === 'campaign' ? { campaignId: requestedId.id } : {};

/** Makes an operation that reads: what it asks for, and how the answer becomes an item. */
export function readOperation<Value>(
	own: OperationBase & {
		/** @throws InvalidInput naming the parameter */
		readonly toRequest: (item: ItemParameters) => Omit<ServiceRequest, 'kind'> & {
			readonly schema: z.ZodType<Value, z.ZodTypeDef, unknown>;
		};
		readonly simplify: (value: Value) => IDataObject;
	},
): ReadOperation {
	return {
		...own,
		kind: 'read',
		properties: [...own.properties, simplified, readOptions],
		prepare(item) {
			const { schema, ...asked } = own.toRequest(item);
			const request = { ...asked, kind: 'read' } as const;
			const options = readCollection(item, readOptions, readSchema);
			const given = item.get(simplified) ?? simplified.default;
			const isSimplified = check(toggle, given, simplified.displayName);
			return {
				key: `${request.path} ${isSimplified}`,
				options,
				toFailedItem: ({ error }) => ({ ...idOf(asked), error }),
				async perform(client) {
					const result = await client.request(request, schema, options.timeout);
					if (result.kind === 'failed') return result;
					if (isSimplified) return { kind: 'done', value: own.simplify(result.value) };
					return { kind: 'done', value: jsonObject.safeParse(result.raw).data ?? {} };
				},
			};
		},
	};
}
