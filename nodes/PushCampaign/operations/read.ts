import type { IDataObject, INodeProperties } from 'n8n-workflow';

import type { PreparedRead, Read } from './operation';
import { readRequestOptions } from './options';
import { invalid } from './parameters';
import type { ItemParameters } from './parameters';

const simplifyParameter = {
	displayName: 'Simplify',
	name: 'simplify',
	type: 'boolean',
	default: true,
	description: 'Whether to return a simplified version of the response instead of the raw data',
} as const satisfies INodeProperties;

/** The switch between the simplified and the full answer. */
export function simplifyProperty(
	displayOptions: NonNullable<INodeProperties['displayOptions']>,
): INodeProperties {
	return { ...simplifyParameter, displayOptions };
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
	const wantsSimple = item.get(simplifyParameter) ?? simplifyParameter.default;
	if (typeof wantsSimple !== 'boolean') {
		throw invalid(simplifyParameter.displayName, 'is not true or false');
	}
	return {
		key: `${request.path} ${wantsSimple}`,
		options,
		async perform(client) {
			const result = await client.request(request, schema, options.timeout);
			if (result.kind === 'failed') return result;
			if (wantsSimple) return { kind: 'done', value: simplify(result.value) };
			return { kind: 'done', value: isJsonObject(result.raw) ? result.raw : {} };
		},
	};
}
