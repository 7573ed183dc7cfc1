import { DateTime } from 'luxon';
import type { INodeProperties, INodePropertyOptions } from 'n8n-workflow';

import type { Field, ItemParameters } from '../n8n/parameters';
import { isBlankText, quote, trimBlanks } from '../service/text';
import { InvalidInput } from '../service/thrown';
import type { Source } from '../texts/parts';
import { noValue } from '../texts/parts';

/** A text field of a panel. */
export const textProperty = (
	displayName: string,
	name: string,
	more: Omit<Partial<INodeProperties>, 'displayName' | 'name' | 'type'>,
): INodeProperties => ({ displayName, name, type: 'string', default: '', ...more });

/** A switch of a panel. */
export const switchProperty = (displayName: string, name: string, description: string) =>
	({ displayName, name, type: 'boolean', default: true, description }) as const;

type Named = Pick<INodeProperties, 'displayName' | 'name'>;

/**
 * The field of a property, and what it is in: a group, whose name it needs (`'From' in 'Quiet Hours'`), or a collection,
 * by its path.
 */
export function fieldOf({ displayName, name }: Named, within?: Field | string): Field {
	const label = `'${displayName}'`;
	if (typeof within !== 'object') return { label, path: within ? `${within}.${name}` : name };
	return { label: `${label} in ${within.label}`, path: `${within.path}.${name}` };
}

/** The group in a collection that has one alone: `hours` in Quiet Hours. */
export const groupIn = ({ label, path }: Field, name: string): Field => ({
	label,
	path: `${path}.${name}`,
});

/** A collection of one group of fields. It begins with their defaults: n8n's editor drops one that is empty. */
export const groupOf = (displayName: string, name: string, values: INodeProperties[]) => ({
	type: 'fixedCollection' as const,
	default: { [name]: Object.fromEntries(values.map((each) => [each.name, each.default])) },
	options: [{ displayName, name, values }],
});

export const invalid = ({ label }: Field, what: string, fix = `Correct ${label}.`) =>
	new InvalidInput(`${label} ${what}`, fix);

/** Whether a value is missing, or a text of which nothing is visible. */
export const isBlank = (value: unknown): boolean =>
	value === undefined || value === null || (typeof value === 'string' && isBlankText(value));

/** Where the text of a field comes from. */
export const sourceOf = (item: ItemParameters, field: Field): Source => ({
	label: field.label,
	expression: item.expression(field),
	parts: item.parts(field),
	input: item.isTrigger ? undefined : item.input,
});

/** A field that has to have a value, and has none. */
export function missing(item: ItemParameters, field: Field): InvalidInput {
	if (isBlank(item.expression(field))) {
		return invalid(field, 'is missing', `Fill in ${field.label}.`);
	}
	return noValue(sourceOf(item, field));
}

/** What a function gives; undefined if it throws. */
export function orUndefined<Value>(read: () => Value): Value | undefined {
	try {
		return read();
	} catch {
		return undefined;
	}
}

/**
 * All reasons why an item can't be read, in one.
 * @param readers of fields that do not depend on each other
 * @param thrown what reading the item has thrown: anything but InvalidInput stays as it is
 */
export function allReasons(readers: ReadonlyArray<() => unknown>, thrown: unknown): unknown {
	if (!(thrown instanceof InvalidInput)) return thrown;
	const reasons = new Map([[thrown.message, thrown]]);
	for (const read of readers) {
		try {
			read();
		} catch (error) {
			if (error instanceof InvalidInput) reasons.set(error.message, error);
		}
	}
	reasons.delete(thrown.message);
	return new InvalidInput(thrown.message, thrown.fix, [...reasons.values()]);
}

/** A text or a number as it was entered, valid or not; undefined if there is none, or it can't be read. */
export function asEntered(item: ItemParameters, field: Field): string | undefined {
	const value = orUndefined(() => item.get(field));
	const isGiven = typeof value === 'number' || (typeof value === 'string' && !isBlank(value));
	return isGiven ? trimBlanks(String(value)) : undefined;
}

/** Whether a field is in the panel, empty or not. */
export const isThere = (item: ItemParameters, field: Field): boolean =>
	item.written(field.path) !== undefined;

/** @throws InvalidInput if the field has no value */
export function readRequired(item: ItemParameters, field: Field): unknown {
	const value = item.get(field);
	if (isBlank(value)) throw missing(item, field);
	return value;
}

/** Undefined if the field is not in the panel. @throws InvalidInput if it is there and has no value */
export const readAdded = (item: ItemParameters, field: Field): unknown =>
	isThere(item, field) ? readRequired(item, field) : undefined;

/** Beyond 2^53 a number has lost digits before it came here. */
export function requireDigits(field: Field, number: number): void {
	if (!Number.isFinite(number) || Math.abs(number) <= Number.MAX_SAFE_INTEGER) return;
	const what = `is so large a number that its last digits are lost: ${number}`;
	throw invalid(field, what, `Enter ${field.label} as text.`);
}

/** Nothing, also in WordPress's words: a post without a picture has `false` or `[]` there. */
const isNothing = (value: unknown): boolean =>
	Array.isArray(value) ? value.length === 0 : (value ?? false) === false;

/** A value as text: a number or a date counts as its text, nothing as an empty one. */
export function toText(field: Field, value: unknown): string {
	if (typeof value === 'number') requireDigits(field, value);
	if (isNothing(value)) return '';
	if (typeof value === 'string') return value;
	if (typeof value === 'number' || DateTime.isDateTime(value)) return String(value);
	throw invalid(field, `is not text: ${quote(value)}`);
}

/** Reads a whole number that has to be there. Text of digits counts as one. */
export function readWholeNumber(
	item: ItemParameters,
	field: Field,
	from: number,
	to = Number.MAX_SAFE_INTEGER,
): number {
	const value = readRequired(item, field);
	const digits = typeof value === 'string' ? trimBlanks(value) : '';
	const number = /^\d+$/.test(digits) ? Number(digits) : value;
	const isWhole = typeof number === 'number' && Number.isSafeInteger(number);
	if (isWhole && number >= from && number <= to) return number;
	const range = to === Number.MAX_SAFE_INTEGER ? `from ${from}` : `from ${from} to ${to}`;
	throw invalid(field, `is not a whole number ${range}: ${quote(value)}`);
}

/** Reads a switch. One whose expression gives nothing is refused: a dry run would send. */
export function readSwitch(item: ItemParameters, field: Field, ifNotThere: boolean): boolean {
	const value = readAdded(item, field) ?? ifNotThere;
	if (typeof value === 'boolean') return value;
	const text = typeof value === 'string' ? trimBlanks(value).toLowerCase() : '';
	if (text === 'true' || text === 'false') return text === 'true';
	throw invalid(field, `is not true or false: ${quote(value)}`);
}

/** A switch of the options is on when it is added, and off as long as it is not there. */
export const isOn = (item: ItemParameters, property: Named): boolean =>
	readSwitch(item, fieldOf(property, 'options'), false);

/** What a property has that offers a list. */
export interface List<Choice> {
	readonly options: ReadonlyArray<INodePropertyOptions & { readonly value: Choice }>;
	readonly default: Choice;
}

/** Reads a choice from the list of a property; its default if the field is not in the panel. */
export function readChoice<Choice extends string>(
	item: ItemParameters,
	field: Field,
	list: List<Choice>,
): Choice {
	const value = readAdded(item, field) ?? list.default;
	const choices = list.options.map((option) => option.value);
	const choice = choices.find((each) => typeof value === 'string' && each === trimBlanks(value));
	if (choice !== undefined) return choice;
	throw invalid(field, `is none of ${choices.join(', ')}: ${quote(value)}`);
}

/** The entries of a list in a collection: `button 1 of 'Action Buttons'`. */
export function entriesOf(item: ItemParameters, list: Field, entryName: string): Field[] {
	const entries = item.written(list.path);
	const count = Array.isArray(entries) ? entries.length : 0;
	return Array.from({ length: count }, (_entry, index) => ({
		label: `${entryName} ${index + 1} of ${list.label}`,
		path: `${list.path}[${index}]`,
	}));
}
