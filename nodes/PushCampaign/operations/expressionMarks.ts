import type { INodeProperties } from 'n8n-workflow';

// n8n empties a collection that is written as one expression before a node sees it, and what is in it is lost
// without a word: a dry run, a time. n8n-workflow 2.41.0: node-helpers.ts, getNodeParameters reads the fields of a
// collection from its value, which is a text then. test/engine/parameters.test.ts shows it.

/**
 * The hidden parameter that is there only if the collection at this path is written as one expression. It holds
 * the name by which users know the collection.
 */
export const expressionMarkOf = (path: string) => `${path.replace('.', '_')}IsExpression`;

/** n8n compares texts here: what begins with `=`. An object is `[object Object]` to it. */
const isExpression = { _cnd: { between: { from: '=', to: '>' } } };

const isCollection = ({ type }: INodeProperties) =>
	type === 'collection' || type === 'fixedCollection';

/** A collection's own fields that are collections. */
const nestedIn = ({ type, options = [] }: INodeProperties): INodeProperties[] =>
	type === 'collection'
		? options.flatMap((option) => ('type' in option && isCollection(option) ? [option] : []))
		: [];

function mark({ displayName }: INodeProperties, path: string): INodeProperties {
	return {
		displayName: `${displayName} Is Expression`,
		name: expressionMarkOf(path),
		type: 'hidden',
		default: displayName,
		displayOptions: { show: { [path.includes('.') ? `/${path}` : path]: [isExpression] } },
	};
}

/**
 * A parameter of a panel, and with a collection what tells that it is written as one expression. n8n decides what
 * is displayed by the values of simple parameters. So a hidden one of the collection's name, in front of it, holds
 * the collection as it is written, and is replaced by the collection afterwards.
 */
export function withExpressionMarks(property: INodeProperties): INodeProperties[] {
	if (!isCollection(property)) return [property];
	const { displayName, name, default: initial, displayOptions } = property;
	const asWritten: INodeProperties = { displayName, name, type: 'hidden', default: initial };
	const nested = nestedIn(property).map((each) => mark(each, `${name}.${each.name}`));
	return [asWritten, property, mark(property, name), ...nested].map((each) => ({
		...each,
		...(each === property || displayOptions === undefined
			? {}
			: {
					displayOptions: {
						...displayOptions,
						show: { ...displayOptions.show, ...each.displayOptions?.show },
					},
				}),
	}));
}
