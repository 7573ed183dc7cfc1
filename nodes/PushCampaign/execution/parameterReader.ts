import { DateTime } from 'luxon';
import type { IExecuteFunctions } from 'n8n-workflow';

import { refuseExpressions } from '../operations/asWritten';
import type { ItemParameters, Parameter } from '../operations/parameters';
import { invalid, isBlank } from '../operations/parameters';
import { messageOf } from '../service/invalidInput';
import { isObject, Template } from './template';

/** The value of an expression that gave nothing. `undefined` is the value of a parameter that is missing. */
const gaveNothing = null;

/** One item, while its parameters are read. */
interface Item {
	readonly index: number;
	readonly json: unknown;
	/** The parts of texts that gave nothing, by the path of the text. */
	readonly emptyParts: Map<string, string>;
}

/** Reads a value for an item: a parameter, or what stands in one. */
type ValueReader = (item: Item) => unknown;

/** Whether a parameter as written, or anything inside of it, is an expression. */
export const hasExpression = (raw: unknown) => JSON.stringify(raw).includes('"=');

/**
 * Reads the parameters of all items: each expression in them by a template of its own, everything else as it is
 * written.
 * @returns what reads the parameters of one item, each when it is asked for
 */
export function parametersOf(context: IExecuteFunctions): (itemIndex: number) => ItemParameters {
	const items = context.getInputData();
	const timezone = context.getTimezone();
	const readers = new Map<string, ValueReader>();
	/** The expressions as they are written, by their path: `actionButtons.button[0].title`. */
	const expressions = new Map<string, string>();

	function expressionReader(path: string, raw: string): ValueReader {
		expressions.set(path, raw);
		const template = new Template(raw.slice(1), {
			value: (itemIndex) => context.getNodeParameter(path, itemIndex, null) ?? undefined,
			evaluate: (expression, itemIndex) => context.evaluateExpression(expression, itemIndex),
		});
		return ({ index, json, emptyParts }) => {
			const { value, emptyPart } = template.read(index, json);
			if (emptyPart !== undefined) emptyParts.set(path, emptyPart);
			return isBlank(value) ? gaveNothing : value;
		};
	}

	function readerOf(path: string, raw: unknown): ValueReader {
		if (typeof raw === 'string' && raw.startsWith('=')) {
			return expressionReader(path, raw);
		}
		if (!isObject(raw)) return () => raw;
		if (Array.isArray(raw)) {
			const entries = raw.map((part, index) => insideReader(`${path}[${index}]`, part));
			return (item) => entries.map((read) => read(item));
		}
		const fields = Object.entries(raw).map(
			([name, part]) => [name, insideReader(`${path}.${name}`, part)] as const,
		);
		return (item) => Object.fromEntries(fields.map(([name, read]) => [name, read(item)]));
	}

	function insideReader(path: string, raw: unknown): ValueReader {
		const read = readerOf(path, raw);
		// n8n makes text of a date inside of a collection.
		return (item) => {
			const value = read(item);
			return DateTime.isDateTime(value) ? value.toString() : value;
		};
	}

	/** A collection: of its fields those that the panel knows, and an expression that fails by its field's name. */
	function collectionReader(
		{ name, displayName, options = [] }: Parameter,
		raw: object,
	): ValueReader {
		const fields = Object.entries(raw).flatMap(([field, part]) => {
			const option = options.find((each) => each.name === field);
			if (option === undefined) return [];
			const read = insideReader(`${name}.${field}`, part);
			const shown = 'displayName' in option ? option.displayName : displayName;
			return [[field, (item: Item) => withEvaluationError(shown, () => read(item))] as const];
		});
		return (item) => Object.fromEntries(fields.map(([field, read]) => [field, read(item)]));
	}

	function parameterReader(parameter: Parameter): ValueReader {
		const { name, displayName, type } = parameter;
		const raw: unknown = context.getNodeParameter(name, 0, null, { rawExpressions: true });
		refuseExpressions(parameter, raw);
		if (type === 'collection' && isObject(raw)) return collectionReader(parameter, raw);
		const read = readerOf(name, raw ?? undefined);
		return (item) => withEvaluationError(displayName, () => read(item));
	}

	return (index) => {
		const json = items[index]?.json;
		const item: Item = { index, json, emptyParts: new Map() };
		return {
			timezone,
			input: json ?? {},
			get(parameter) {
				const read = readers.get(parameter.name) ?? parameterReader(parameter);
				readers.set(parameter.name, read);
				return read(item);
			},
			originOf: (path) => ({
				expression: expressions.get(path),
				emptyPart: item.emptyParts.get(path),
			}),
		};
	};
}

/**
 * Turns what n8n throws while it evaluates a parameter into words for the user.
 * @throws InvalidInput naming the parameter
 */
export function withEvaluationError(displayName: string, read: () => unknown): unknown {
	try {
		return read();
	} catch (error) {
		const what = `can't be evaluated: ${messageOf(error)}`;
		throw invalid(displayName, what, `Correct the expression in ${displayName}.`);
	}
}
