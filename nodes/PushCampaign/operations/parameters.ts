import type { INodeProperties } from 'n8n-workflow';
import { z } from 'zod/v3';

import { InvalidInput } from '../service/invalidInput';
import { parseJson } from '../service/json';
import { firstIssue } from '../service/schemas';
import { issueWith, withMessage } from '../service/textSchemas';

/** The names of a parameter, for n8n and for users, and what is in it if it is a collection. */
export type Parameter = Pick<INodeProperties, 'name' | 'displayName'> &
	Partial<Pick<INodeProperties, 'type' | 'options'>>;

/** Checks what users entered. */
type Schema<Value> = z.ZodType<Value, z.ZodTypeDef, unknown>;

/** Where a text comes from. */
export interface Origin {
	/** The expression that gave it, as it is written; missing if it was entered as it is. */
	readonly expression?: string | undefined;
	/** The first part of it that gave nothing, such as `{{ $json.name }}`; missing if there is none, or that is not known. */
	readonly emptyPart?: string | undefined;
}

/** The parameters of one item as the user's expressions gave them: of any type. */
export interface ItemParameters {
	/** IANA name of the workflow's timezone. */
	readonly timezone: string;
	/**
	 * The parameter's value; `undefined` if it is missing, `null` if its expression returned nothing, also
	 * within a collection.
	 * @throws InvalidInput when its expression can't be evaluated, or a collection is written as one
	 */
	get(parameter: Parameter): unknown;
	/** Where a text of a parameter that was read comes from, by its path: `actionButtons.button[0].title`. */
	originOf(path: string): Origin;
	/** The fields of the input item. */
	readonly input: Readonly<Record<string, unknown>>;
}

/** A text property as a panel defines it. */
export type TextProperty = Parameter & Partial<INodeProperties>;

/** Adds what all texts of a panel have in common. */
export const textProperty = (property: TextProperty): INodeProperties => ({
	type: 'string',
	default: '',
	...property,
});

/** The hint below a text that has a limit. */
export const atMost = (characters: number) => ({ hint: `At most ${characters} characters` });

/** Makes the error for one parameter. */
export function invalid(displayName: string, what: string, advice?: string): InvalidInput {
	return new InvalidInput(
		`${displayName} ${what}`,
		advice ?? `Change ${displayName} and run the workflow again.`,
	);
}

/** What to do about an expression that gave nothing. */
export const checkExpression = 'Check the expression, and the item that it reads from.';

/** Whether a user left a parameter empty. */
export function isBlank(value: unknown): boolean {
	const given = value ?? '';
	return typeof given === 'string' && given.trim() === '';
}

/** Returns what `read` returns, or nothing if it throws. */
export function ifReadable<Value>(read: () => Value): Value | undefined {
	try {
		return read();
	} catch {
		return undefined;
	}
}

/** A text or a number as it was entered, valid or not; nothing if it can't be read. */
export function asEntered(read: () => unknown): string | undefined {
	const value = ifReadable(read);
	const isGiven = typeof value === 'number' || (typeof value === 'string' && !isBlank(value));
	return isGiven ? String(value) : undefined;
}

/** Returns a value that must be there. */
export function required(value: unknown, displayName: string): unknown {
	if (value === null) {
		throw invalid(
			displayName,
			'is empty for this item: its expression returned nothing',
			`Check the expression in ${displayName}, and the item that it reads from.`,
		);
	}
	if (isBlank(value)) throw invalid(displayName, 'is missing', `Fill in ${displayName}.`);
	return value;
}

/**
 * Checks a value that must be there; its first issue becomes the error that names the parameter.
 * @param nameOf the name of the part of the value at a path, as users see it, if it has parts
 */
export function check<Value>(
	schema: Schema<Value>,
	value: unknown,
	displayName: string,
	nameOf?: (path: ReadonlyArray<string | number>) => string | undefined,
): Value {
	const result = schema.safeParse(required(value, displayName));
	if (result.success) return result.data;
	const { path, message, advice } = firstIssue(result.error);
	throw invalid(nameOf?.(path) ?? displayName, message, advice);
}

/** A field that may be blank, as if it had not been added. */
export const blankAsMissing = <Value>(schema: Schema<Value>): Schema<Value | undefined> =>
	z.preprocess((given) => (isBlank(given) ? undefined : given), schema.optional());

/** A field that must not be blank if it was added. */
export const nonBlank = <Value>(schema: Schema<Value>): Schema<Value> =>
	z
		.unknown()
		.refine(
			(given) => !isBlank(given),
			(given) =>
				given === null
					? issueWith('is empty for this item: its expression returned nothing', checkExpression)
					: { message: 'is empty' },
		)
		.pipe(schema);

/** A switch. An empty expression must not count as false: a dry run would send. */
export const toggle = nonBlank(z.boolean(withMessage('is not true or false')));

/** The fields of a collection, by name: null for a field that is there without a value. */
export type Fields = Record<string, unknown>;

const record = z.record(
	z.string(),
	z.unknown().transform((value) => value ?? null),
	withMessage('is not a set of fields'),
);

/** Reads a collection; one that was left out is empty. */
export function toFields(value: unknown, displayName: string): Fields {
	return isBlank(value) ? {} : check(record, value, displayName);
}

/**
 * The one group of fields of a collection that a user added to another one. One that is empty is refused: it was
 * added for something.
 */
export const groupOf = <Value>(
	displayName: string,
	group: string,
	schema: Schema<Value>,
): Schema<Value> =>
	z
		.preprocess((given) => (isBlank(given) ? {} : given), record)
		.transform((groups) => groups[group])
		.refine(
			(fields) => !isBlank(fields),
			issueWith(
				'was added and is empty',
				`Fill in ${displayName}, or remove it from the additional fields.`,
			),
		)
		.pipe(record)
		.pipe(schema);

/** Reads the entries of a collection that holds a list of them under a name. */
export function toEntries(value: unknown, name: string, displayName: string): Fields[] {
	const entries = z.array(record).safeParse(toFields(value, displayName)[name] ?? []);
	if (!entries.success) throw invalid(displayName, 'is not a list of fields');
	return entries.data;
}

/** The name for users of the field at a path in a collection: `Auto Hide`, or `From in Quiet Hours`. */
function nameInside({ options = [] }: Parameter, [name, inner]: ReadonlyArray<string | number>) {
	const field = options.find((option) => option.name === name);
	if (field === undefined || !('displayName' in field)) return undefined;
	const groups = 'options' in field ? (field.options ?? []) : [];
	const parts = groups.flatMap((group) => ('values' in group ? group.values : []));
	const part = parts.find((each) => each.name === inner);
	return part === undefined ? field.displayName : `${part.displayName} in ${field.displayName}`;
}

/**
 * Reads a collection whose fields a schema knows; others are left out.
 * @throws InvalidInput naming the field
 */
export function readCollection<Value>(
	parameters: Pick<ItemParameters, 'get'>,
	collection: Parameter,
	schema: Schema<Value>,
): Value {
	const { displayName } = collection;
	const fields = toFields(parameters.get(collection), displayName);
	return check(schema, fields, displayName, (path) => nameInside(collection, path));
}

/**
 * Reads a list of IDs. Text is split at its commas, semicolons and line breaks, and an ID that is written
 * twice in it counts once; an array, also one that is written as JSON, is taken as it is; a number is one
 * ID.
 * @returns an array, or the value as it is if it is no list of IDs
 */
export function toIdList(value: unknown): unknown {
	if (typeof value === 'number') return [value];
	if (typeof value !== 'string') return value;
	const parsed = /^\s*\[/.test(value) ? parseJson(value) : undefined;
	if (Array.isArray(parsed)) return parsed;
	const ids = value.split(/[,;\r\n]/).map((id) => id.trim());
	return [...new Set(ids.filter((id) => id !== ''))];
}
