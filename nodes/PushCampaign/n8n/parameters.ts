import type { IDataObject, IExecuteFunctions, INode, IPollFunctions } from 'n8n-workflow';

import { InvalidInput, messageOf } from '../service/thrown';
import { joinText } from './template';

/** A field of a panel: its name as messages have it (`'Title'`), and its path: `title`, `actionButtons.button[0].url`. */
export interface Field {
	readonly label: string;
	readonly path: string;
}

/** The parameters of a node for one item. */
export interface ItemParameters {
	/** IANA name of the workflow's timezone. */
	readonly timezone: string;
	/** The fields of the input item; a trigger has none. */
	readonly input: Readonly<IDataObject>;
	/** Whether there is no item to speak of. */
	readonly isTrigger?: boolean;
	/** A parameter as it is written in the panel; `undefined` if it is not there. */
	written(path: string): unknown;
	/**
	 * The value of a field for this item: `undefined` if the field is not there, `null` if its expression gave nothing.
	 * @throws InvalidInput naming the field, if its expression can't be evaluated
	 */
	get(field: Field): unknown;
	/** The expression that a field is written as, without its equals sign; `undefined` if it is none. */
	expression(field: Field): string | undefined;
}

/** Whether the node runs as the tool of an AI agent. */
export const isTool = (node: INode): boolean => node.type.endsWith('Tool');

function valueAt(parameters: object, path: string): unknown {
	let value: unknown = parameters;
	for (const step of path.split(/[.[\]]+/).filter(Boolean)) {
		if (typeof value !== 'object' || value === null || !Object.hasOwn(value, step))
			return undefined;
		value = Reflect.get(value, step);
	}
	return value;
}

const notEvaluated = ({ label }: Field, error: unknown) =>
	new InvalidInput(
		`${label} can't be evaluated: ${messageOf(error)}`,
		`Correct the expression in ${label}.`,
	);

/** Reads the parameters of a node. `evaluate` asks n8n for the value at a path. */
export function readerOf(
	parameters: object,
	timezone: string,
	input: IDataObject,
	evaluate: (path: string) => unknown,
): ItemParameters {
	const written = (path: string) => valueAt(parameters, path);
	const expression = ({ path }: Field) => {
		const text = written(path);
		return typeof text === 'string' && text.startsWith('=') ? text.slice(1) : undefined;
	};
	return {
		timezone,
		input,
		written,
		expression,
		get(field) {
			const source = expression(field);
			if (source === undefined) return written(field.path);
			const text = joinText(source, input);
			if (text !== undefined) return text;
			try {
				return evaluate(field.path) ?? null;
			} catch (error) {
				throw notEvaluated(field, error);
			}
		},
	};
}

/**
 * The input item as the node's expressions see it. Those of an agent's tool read what the agent hands over, which is not
 * always the node's input.
 */
function inputOf(context: IExecuteFunctions, itemIndex: number): IDataObject {
	if (!isTool(context.getNode())) return context.getInputData()[itemIndex]?.json ?? {};
	const json: unknown = context.evaluateExpression('{{ $json }}', itemIndex);
	return typeof json === 'object' && json !== null ? { ...json } : {};
}

/** The parameters of an action node, item by item. */
export function itemParameters(context: IExecuteFunctions): (itemIndex: number) => ItemParameters {
	const { parameters } = context.getNode();
	const timezone = context.getTimezone();
	return (itemIndex) =>
		readerOf(parameters, timezone, inputOf(context, itemIndex), (path) =>
			context.getNodeParameter(path, itemIndex, null),
		);
}

/** The parameters of a trigger, which has no input item. */
export const pollParameters = (context: IPollFunctions): ItemParameters => ({
	...readerOf(context.getNode().parameters, context.getTimezone(), {}, (path) =>
		context.getNodeParameter(path, null),
	),
	isTrigger: true,
});
