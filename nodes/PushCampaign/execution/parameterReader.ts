import type { IExecuteFunctions } from 'n8n-workflow';

import type { ItemParameters } from '../operations/parameters';
import { invalid, isBlank } from '../operations/parameters';
import { messageOf } from '../service/invalidInput';
import type { ItemTemplate } from './itemTemplate';
import { isObject, takesN8n, templateOf } from './itemTemplate';

/**
 * Reads the parameters of all items through n8n, which takes half a millisecond to evaluate an
 * expression: far more than everything else that an item needs before it is sent. So what holds no
 * expression is evaluated for the first item alone. And a parameter of text and fields of the input item
 * alone is put together here, if n8n gives the very same for the first item.
 * @returns what gives the parameters of one item; each is worked out when it is asked for
 */
export function parametersOf(context: IExecuteFunctions): (itemIndex: number) => ItemParameters {
	const items = context.getInputData();
	const timezone = context.getTimezone();
	/** By the parameter's name: how it is written, and where its values come from after the first. */
	const sources = new Map<string, { written: unknown; valueFor: ItemTemplate }>();

	/** Looks at how a parameter is written. */
	function learn(name: string, value: unknown, json: unknown) {
		const written = context.getNodeParameter(name, 0, null, { rawExpressions: true });
		const template = hasExpression(written) ? templateOf(written) : () => value;
		const valueFor = isSame(template(json), value) ? template : takesN8n;
		const source = { written, valueFor };
		sources.set(name, source);
		return source;
	}

	function read(name: string, itemIndex: number): unknown {
		const json = items[itemIndex]?.json;
		const known = sources.get(name);
		const value =
			known?.valueFor(json) ?? context.getNodeParameter(name, itemIndex, null) ?? undefined;
		const { written } = known ?? learn(name, value, json);
		return tellNothing(written, value);
	}

	return (itemIndex) => ({ timezone, get: tellUnreadable((name) => read(name, itemIndex)) });
}

/** Null for each expression that gave nothing, so that it can be told from what was left empty. */
function tellNothing(written: unknown, value: unknown): unknown {
	if (typeof written === 'string' && written.startsWith('=')) return isBlank(value) ? null : value;
	if (!isObject(written) || !isObject(value)) return value;
	const parts = Object.entries(value).map(
		([name, part]) => [name, tellNothing(Reflect.get(written, name), part)] as const,
	);
	return Array.isArray(value) ? parts.map(([, part]) => part) : Object.fromEntries(parts);
}

const isSame = (own: unknown, value: unknown) =>
	own === value || (typeof own === 'object' && JSON.stringify(own) === JSON.stringify(value));

/** Whether a parameter as written, or anything inside of it, is an expression. */
export const hasExpression = (written: unknown) => JSON.stringify(written).includes('"=');

/** What n8n throws while it works out a parameter's expression is told in words for the user. */
export function tellUnreadable(read: (name: string) => unknown): ItemParameters['get'] {
	return ({ name, displayName }) => {
		try {
			return read(name);
		} catch (error) {
			const what = `can't be worked out: ${messageOf(error)}`;
			throw invalid(displayName, what, `Correct the expression in ${displayName}.`);
		}
	};
}
