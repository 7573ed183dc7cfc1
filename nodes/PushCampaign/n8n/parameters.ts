import type { IDataObject, IExecuteFunctions, INode, IPollFunctions } from 'n8n-workflow';

import { quote } from '../service/text';
import { InvalidInput, messageOf } from '../service/thrown';
import type { Evaluated, Part } from './template';
import { joinText, valueAt } from './template';

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
	/** What each pair of braces gave, in a text that has more to it; none where n8n alone put the text together. */
	parts(field: Field): readonly Part[];
	/** The expression that a field is written as, without its equals sign; `undefined` if it is none. */
	expression(field: Field): string | undefined;
}

/** Whether the node runs as the tool of an AI agent. */
export const isTool = (node: INode): boolean => node.type.endsWith('Tool');

const notEvaluated = ({ label }: Field, error: unknown) =>
	new InvalidInput(
		`${label} can't be evaluated: ${messageOf(error)}`,
		`Correct the expression in ${label}.`,
	);

/** The editor does not show the sign by which n8n tells an expression, so people type one. */
const secondEqualsSign = ({ label }: Field, source: string) =>
	new InvalidInput(
		`${label} begins with an equals sign in front of its expression: ${quote(source)}`,
		'Delete the equals sign.',
	);

/** How n8n evaluates what is written in a panel. */
export interface Evaluation {
	/** The value of the parameter at a path. */
	readonly parameter: (path: string) => unknown;
	/** The value of an expression, which is written without its equals sign. */
	readonly expression: (expression: string) => unknown;
}

/** Reads the parameters of a node. Each is evaluated once, so that one that changes is the same wherever it is read. */
export function readerOf(
	parameters: object,
	timezone: string,
	input: IDataObject,
	evaluation: Evaluation,
): ItemParameters {
	const written = (path: string) => valueAt(parameters, path.split(/[.[\]]+/).filter(Boolean));
	const expression = ({ path }: Field) => {
		const text = written(path);
		return typeof text === 'string' && text.startsWith('=') ? text.slice(1) : undefined;
	};
	const evaluate = (field: Field): Evaluated => {
		const source = expression(field);
		if (source === undefined) return { value: written(field.path), parts: [] };
		if (source.startsWith('=')) throw secondEqualsSign(field, source);
		try {
			const joined = joinText(source, input, evaluation.expression);
			return joined ?? { value: evaluation.parameter(field.path) ?? null, parts: [] };
		} catch (error) {
			throw notEvaluated(field, error);
		}
	};
	const known = new Map<string, Evaluated>();
	const evaluated = (field: Field): Evaluated => {
		const result = known.get(field.path) ?? evaluate(field);
		known.set(field.path, result);
		return result;
	};
	return {
		timezone,
		input,
		written,
		expression,
		get: (field) => evaluated(field).value,
		parts: (field) => evaluated(field).parts,
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
		readerOf(parameters, timezone, inputOf(context, itemIndex), {
			parameter: (path) => context.getNodeParameter(path, itemIndex, null),
			expression: (expression) => context.evaluateExpression(expression, itemIndex),
		});
}

/** n8n evaluates expressions for polls as for runs (n8n-core 2.41.1: `node-execution-context.js`); its types do not say so. */
function evaluateIn(context: IPollFunctions, expression: string): unknown {
	const evaluate: unknown = Reflect.get(context, 'evaluateExpression');
	if (typeof evaluate !== 'function') return undefined;
	return Reflect.apply(evaluate, context, [expression]);
}

/** The parameters of a trigger, which has no input item. */
export const pollParameters = (context: IPollFunctions): ItemParameters => ({
	...readerOf(
		context.getNode().parameters,
		context.getTimezone(),
		{},
		{
			parameter: (path) => context.getNodeParameter(path, null),
			expression: (expression) => evaluateIn(context, expression),
		},
	),
	isTrigger: true,
});
