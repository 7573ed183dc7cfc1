import type { INodeProperties } from 'n8n-workflow';

import { invalid } from './parameters';

// If a collection, or a group in one, is written as one expression, n8n replaces it by an empty value. A dry run or a
// time in it would be lost without a word. n8n 2.41.1: n8n-workflow/src/node-helpers.ts, getNodeParameters reads the
// fields of a collection from its value, which is a text then. It does so several times for one execution, so what the
// node has to see must survive each time. test/engine/parameters.test.ts and test/host/notMeant.test.ts show it.

/** n8n compares texts here: what begins with `=`. An object is `[object Object]` to it. */
const isExpression = { _cnd: { between: { from: '=', to: '>' } } };

const isCollection = ({ type }: INodeProperties) =>
	type === 'collection' || type === 'fixedCollection';

/** The paths in a parameter that hold fields: the collection itself, its groups, and the collections among its fields. */
function pathsIn({ name, type, options = [] }: INodeProperties): string[] {
	const inside = options.flatMap((option) => {
		if ('type' in option) return isCollection(option) ? pathsIn(option) : [];
		return type === 'fixedCollection' ? [option.name] : [];
	});
	return [name, ...inside.map((path) => `${name}.${path}`)];
}

/**
 * A parameter of a panel. Beside a collection stand hidden parameters of the same name, which keep the text that the
 * user wrote if the collection, or a group in it, is an expression: so the node can refuse it. n8n decides by the values
 * of simple parameters what is displayed, so the first one holds the collection for that. Those behind the collection
 * replace what n8n made of it.
 */
export function keptAsWritten(property: INodeProperties): INodeProperties[] {
	if (!isCollection(property)) return [property];
	const { displayName, name, default: initial, displayOptions } = property;
	const hidden: INodeProperties = {
		displayName,
		name,
		type: 'hidden',
		default: initial,
		...(displayOptions && { displayOptions }),
	};
	const kept = pathsIn(property).map((path) => ({
		...hidden,
		displayOptions: {
			...displayOptions,
			show: { ...displayOptions?.show, [`/${path}`]: [isExpression] },
		},
	}));
	return [hidden, property, ...kept];
}

const refuse = (displayName: string) =>
	invalid(
		displayName,
		'is written as one expression, which n8n does not pass on',
		`Fill in the fields of ${displayName} one by one. Each of them can be an expression.`,
	);

const isExpressionText = (raw: unknown) => typeof raw === 'string' && raw.startsWith('=');

const partOf = (raw: unknown, name: string): unknown =>
	typeof raw === 'object' && raw !== null ? Reflect.get(raw, name) : undefined;

/**
 * Refuses a collection, a group of fields or an entry of a list in it that is written as one expression.
 * @param raw the parameter as the user wrote it
 * @throws InvalidInput naming the collection
 */
export function refuseExpressions(property: Partial<INodeProperties>, raw: unknown): void {
	const { type, displayName = '', options = [] } = property;
	if (type !== 'collection' && type !== 'fixedCollection') return;
	if (isExpressionText(raw)) throw refuse(displayName);
	for (const option of options) {
		const part = partOf(raw, option.name);
		if ('type' in option) {
			refuseExpressions(option, part);
			continue;
		}
		const entries = Array.isArray(part) ? part : [part];
		if (type === 'fixedCollection' && entries.some(isExpressionText)) throw refuse(displayName);
	}
}
