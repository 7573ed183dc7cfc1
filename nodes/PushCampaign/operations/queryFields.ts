import type { IDataObject, INodeProperties } from 'n8n-workflow';

import type { ItemParameters } from '../n8n/parameters';
import type { Schema, ServiceRequest } from '../service/client';
import type { PreparedQuery } from './operation';
import { queryOptions, readTimeout } from './options';
import { fieldOf, readSwitch } from './values';

const simplify = {
	displayName: 'Simplify',
	name: 'simplify',
	type: 'boolean',
	default: true,
	description: 'Whether to return a simplified version of the response instead of the raw data',
} satisfies INodeProperties;

/** What the panels of all queries have at their end. */
export const queryProperties: INodeProperties[] = [simplify, queryOptions];

/**
 * @param toItem makes the item of the answer, if it is to be simplified
 * @throws InvalidInput naming the field
 */
export function prepareQuery<Value>(
	item: ItemParameters,
	request: Omit<ServiceRequest, 'isSend'>,
	schema: Schema<Value>,
	toItem: (value: Value) => IDataObject,
): PreparedQuery {
	const isSimplified = readSwitch(item, fieldOf(simplify), simplify.default);
	const timeoutMs = readTimeout(item);
	return {
		key: JSON.stringify([request.path, isSimplified, timeoutMs]),
		async perform(client) {
			const result = await client.request({ ...request, isSend: false }, schema, timeoutMs);
			if (!result.answered) return result;
			const { value, raw } = result;
			const whole = typeof raw === 'object' ? { ...raw } : {};
			return { answered: true, value: isSimplified ? toItem(value) : whole, raw };
		},
	};
}
