import { z } from 'zod/v3';

import { InvalidInput } from '../service/invalidInput';

/** The parameters of one item, as the user's expressions gave them: of any type. */
export interface ItemParameters {
	/**
	 * The parameter's value; `null` where it is missing.
	 * @throws InvalidInput when its expression can't be worked out
	 */
	get(name: string, displayName: string): unknown;
	/** IANA name of the workflow's timezone. */
	readonly timezone: string;
}

/** Display names by the service's field, for messages. */
export const fieldNames = {
	title: 'Title',
	message: 'Message',
	target_url: 'Target URL',
	name: 'Campaign Name',
	icon: 'Icon URL',
	image: 'Image URL',
	expire_push: 'Expire After',
	auto_hide: 'Auto Hide',
	send_at: 'Send At',
	action_buttons: 'Action Buttons',
	attribute: 'Attributes',
	segment: 'Segment IDs',
	sid: 'Subscriber ID',
} as const;

const displayNames = new Map<string, string>(Object.entries(fieldNames));

/** The display name of a body's field; the additional fields' own where it is not known. */
export const nameOfField = (field: string) => displayNames.get(field) ?? 'Additional Fields';

/** Makes the error for one field. */
export function invalid(displayName: string, what: string, advice?: string): InvalidInput {
	return new InvalidInput(
		displayName,
		`${displayName} ${what}`,
		advice ?? `Change ${displayName} and run the workflow again.`,
	);
}

/** Whether a user left a field empty. */
export function isBlank(value: unknown): boolean {
	return (
		value === null || value === undefined || (typeof value === 'string' && value.trim() === '')
	);
}

/** Gives a value that must be there. */
export function required(value: unknown, displayName: string): unknown {
	if (isBlank(value)) throw invalid(displayName, 'is missing', `Fill in ${displayName}.`);
	return value;
}

/** Checks a value that must be there; its first issue becomes the error that names the field. */
export function check<Value>(
	schema: z.ZodType<Value, z.ZodTypeDef, unknown>,
	value: unknown,
	displayName: string,
): Value {
	const result = schema.safeParse(required(value, displayName));
	if (result.success) return result.data;
	throw invalid(displayName, result.error.issues[0]?.message ?? 'is not valid');
}

const record = z.record(z.string(), z.unknown());

/** Reads a collection; one that was left out is empty. */
export function toRecord(value: unknown, displayName: string): Record<string, unknown> {
	if (isBlank(value)) return {};
	const result = record.safeParse(value);
	if (!result.success || Array.isArray(value)) throw invalid(displayName, 'is not a set of fields');
	return result.data;
}

/** Reads a boolean of a collection; `fallback` where it was left out. */
export function toBoolean<Fallback>(
	fields: Record<string, unknown>,
	name: string,
	fallback: Fallback,
	displayName: string,
): boolean | Fallback {
	if (!(name in fields)) return fallback;
	const value = fields[name];
	// An expression that came to nothing must not pass for false: a dry run would send.
	if (typeof value !== 'boolean') throw invalid(displayName, 'is not true or false');
	return value;
}
