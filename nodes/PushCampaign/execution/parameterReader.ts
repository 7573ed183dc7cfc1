import type { IExecuteFunctions } from 'n8n-workflow';

import { expressionMarkOf } from '../operations/expressionMarks';
import type { ItemParameters } from '../operations/parameters';
import { invalid, isBlank } from '../operations/parameters';
import { messageOf } from '../service/invalidInput';
import type { ItemTemplate } from './itemTemplate';
import { alwaysAsksN8n, asksN8n, isObject, templateOf } from './itemTemplate';

/** The value of an expression that gave nothing. `undefined` is the value of a parameter that is missing. */
const gaveNothing = null;

/** What is known of a parameter once it was read for an item. */
interface Source {
	/** As the user wrote it. */
	readonly written: unknown;
	readonly valueFor: ItemTemplate;
}

/**
 * Reads the parameters of all items. n8n takes half a millisecond to evaluate an expression, far more than
 * everything else that an item needs before it is sent. So n8n evaluates a parameter without an expression for the
 * first item only. And text with fields of the input item is put together here, if that gives for the first item
 * what n8n gives.
 * @returns what reads the parameters of one item, each when it is asked for
 */
export function parametersOf(context: IExecuteFunctions): (itemIndex: number) => ItemParameters {
	const items = context.getInputData();
	const timezone = context.getTimezone();
	const sources = new Map<string, Source>();
	/** Parameters that n8n did not empty. */
	const accepted = new Set<string>();

	function evaluate(name: string, itemIndex: number): unknown {
		return context.getNodeParameter(name, itemIndex, null) ?? undefined;
	}

	const asWritten = (name: string): unknown =>
		context.getNodeParameter(name, 0, null, { rawExpressions: true });

	/** Chooses how to read a parameter, after n8n gave its value for one item. */
	function sourceOf(name: string, value: unknown, json: unknown): Source {
		const written = asWritten(name);
		if (!hasExpression(written)) return { written, valueFor: () => value };
		const template = templateOf(written);
		return { written, valueFor: isSame(template(json), value) ? template : alwaysAsksN8n };
	}

	function read(name: string, itemIndex: number): unknown {
		const json = items[itemIndex]?.json;
		const source = sources.get(name);
		if (source === undefined) {
			const value = evaluate(name, itemIndex);
			const learned = sourceOf(name, value, json);
			sources.set(name, learned);
			return withoutBlanks(learned.written, value);
		}
		const own = source.valueFor(json);
		return withoutBlanks(source.written, own === asksN8n ? evaluate(name, itemIndex) : own);
	}

	return (itemIndex) => ({
		timezone,
		input: items[itemIndex]?.json ?? {},
		get(parameter) {
			const value = tellUnreadable((name) => read(name, itemIndex))(parameter);
			if (!accepted.has(parameter.name)) refuseEmptied(parameter.name, value, asWritten);
			accepted.add(parameter.name);
			return value;
		},
	});
}

/** The value with `gaveNothing` for each expression that gave nothing, so that it differs from an empty field. */
function withoutBlanks(written: unknown, value: unknown): unknown {
	if (typeof written === 'string' && written.startsWith('=')) {
		return isBlank(value) ? gaveNothing : value;
	}
	if (!isObject(written) || !isObject(value)) return value;
	const parts = Object.entries(value).map(
		([name, part]) => [name, withoutBlanks(Reflect.get(written, name), part)] as const,
	);
	return Array.isArray(value) ? parts.map(([, part]) => part) : Object.fromEntries(parts);
}

function isSame(own: unknown, value: unknown): boolean {
	if (own === value) return true;
	return typeof own === 'object' && JSON.stringify(own) === JSON.stringify(value);
}

/** Whether a parameter as written, or anything inside of it, is an expression. */
export const hasExpression = (written: unknown) => JSON.stringify(written).includes('"=');

/**
 * Refuses a collection that n8n emptied.
 * @param read gives another parameter of the node
 * @throws InvalidInput for a collection that is written as one expression
 */
export function refuseEmptied(name: string, value: unknown, read: (name: string) => unknown): void {
	if (!isObject(value)) return;
	const paths = [name, ...Object.keys(value).map((part) => `${name}.${part}`)];
	for (const path of paths) {
		const displayName = read(expressionMarkOf(path));
		if (typeof displayName !== 'string') continue;
		throw invalid(
			displayName,
			'is written as one expression, which n8n does not pass on',
			`Fill in the fields of ${displayName} one by one. Each of them can be an expression.`,
		);
	}
}

/** Turns what n8n throws while it evaluates a parameter into words for the user. */
export function tellUnreadable(read: (name: string) => unknown): ItemParameters['get'] {
	return ({ name, displayName }) => {
		try {
			return read(name);
		} catch (error) {
			const what = `can't be evaluated: ${messageOf(error)}`;
			throw invalid(displayName, what, `Correct the expression in ${displayName}.`);
		}
	};
}
