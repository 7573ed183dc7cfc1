import type { IDataObject, INodeProperties } from 'n8n-workflow';

import type { PreparedRead, Read } from './operation';
import { readRequestOptions } from './options';
import { invalid } from './parameters';
import type { ItemParameters } from './parameters';

/** The switch between the simplified and the full answer. */
export function simplifyProperty(
	displayOptions: NonNullable<INodeProperties['displayOptions']>,
): INodeProperties {
	return {
		displayName: 'Simplify',
		name: 'simplify',
		type: 'boolean',
		default: true,
		displayOptions,
		description: 'Whether to return a simplified version of the response instead of the raw data',
	};
}

/** Parsed JSON that is an object holds nothing but what n8n's items hold. */
const isJsonObject = (value: unknown): value is IDataObject =>
	typeof value === 'object' && value !== null;

/**
 * Makes one item's read out of what it asks for.
 * @throws InvalidInput naming the parameter
 */
export function prepareRead<Value>(
	item: ItemParameters,
	{ request, schema, simplify }: Read<Value>,
): PreparedRead {
	const options = readRequestOptions(item);
	const wantsSimple = item.get('simplify', 'Simplify') ?? true;
	if (typeof wantsSimple !== 'boolean') throw invalid('Simplify', 'is not true or false');
	return {
		key: request.path,
		simplify: wantsSimple,
		options,
		async perform(client) {
			const result = await client.request(request, schema, options.timeout);
			if (!result.ok) return result;
			const simplified = simplify(result.value);
			const raw = isJsonObject(result.raw) ? result.raw : simplified;
			return { ok: true, value: { simplified, raw }, raw };
		},
	};
}
