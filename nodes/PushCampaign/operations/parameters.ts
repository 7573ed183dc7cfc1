import type { INodeProperties } from 'n8n-workflow';
import { z } from 'zod/v3';

import { InvalidInput } from '../service/invalidInput';
import { firstIssue } from '../service/schemas';

/** What names a parameter: to n8n, and to users. */
export type Parameter = Pick<INodeProperties, 'name' | 'displayName'>;

/** Parameters as the user's expressions gave them: of any type. */
export interface ParameterValues {
	/**
	 * The parameter's value; `undefined` where it is missing, `null` where its expression gave nothing, also
	 * within a collection.
	 * @throws InvalidInput when its expression can't be worked out
	 */
	get(parameter: Parameter): unknown;
}

/** The parameters of one item. */
export interface ItemParameters extends ParameterValues {
	/** IANA name of the workflow's timezone. */
	readonly timezone: string;
}

/** A text in a panel: what is said of each of them, and what they have in common. */
export const textProperty = (
	property: Pick<INodeProperties, 'displayName' | 'name' | 'description' | 'placeholder'> &
		Partial<INodeProperties>,
): INodeProperties => ({ type: 'string', default: '', ...property });

/** What a panel says of a text that must not be longer. */
export const atMost = (characters: number) => ({ hint: `At most ${characters} characters` });

/** Makes the error for one parameter. */
export function invalid(displayName: string, what: string, advice?: string): InvalidInput {
	return new InvalidInput(
		`${displayName} ${what}`,
		advice ?? `Change ${displayName} and run the workflow again.`,
	);
}

/** Whether a user left a parameter empty. */
export function isBlank(value: unknown): boolean {
	return (
		value === null || value === undefined || (typeof value === 'string' && value.trim() === '')
	);
}

/** A text without the blanks around it; another value as it is. */
export function trimmed(value: unknown): unknown {
	return typeof value === 'string' ? value.trim() : value;
}

/** Gives a value that must be there. */
export function required(value: unknown, displayName: string): unknown {
	if (value === null) {
		throw invalid(
			displayName,
			'is empty for this item: its expression gave nothing',
			`Check the expression in ${displayName}, and the item that it reads from.`,
		);
	}
	if (isBlank(value)) throw invalid(displayName, 'is missing', `Fill in ${displayName}.`);
	return value;
}

/** Checks a value that must be there; its first issue becomes the error that names the parameter. */
export function check<Value>(
	schema: z.ZodType<Value, z.ZodTypeDef, unknown>,
	value: unknown,
	displayName: string,
): Value {
	const result = schema.safeParse(required(value, displayName));
	if (result.success) return result.data;
	const { message, advice } = firstIssue(result.error);
	throw invalid(displayName, message, advice);
}

/** The fields of a collection that were filled in, by name. */
export type Fields = Record<string, unknown>;

const record = z.record(z.string(), z.unknown());

/** Reads a collection; one that was left out is empty. */
export function toFields(value: unknown, displayName: string): Fields {
	if (isBlank(value)) return {};
	const result = record.safeParse(value);
	if (!result.success || Array.isArray(value)) throw invalid(displayName, 'is not a set of fields');
	return result.data;
}

/** Reads a switch. An expression that came to nothing must not pass for false: a dry run would send. */
export function readBoolean(value: unknown, displayName: string): boolean {
	if (typeof value === 'boolean') return value;
	throw invalid(displayName, 'is not true or false');
}
