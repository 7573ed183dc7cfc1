import { failures, ownFailures, type Failure } from './failures';
import { fieldRules, type FieldContext, type FieldName } from './fields';
import type { JsonObject } from './json';

export const audiences = ['all', 'attribute', 'segment', 'sid'] as const;

/** Whom a campaign is for, named as the operation that sends it. */
export type Audience = (typeof audiences)[number];

/** A send operation: what it takes beside the common fields, and how it reads them. */
export interface SendOperation {
	readonly required: readonly FieldName[];
	readonly optional: readonly FieldName[];
	/** The value of `auto_hide` with which a notification closes by itself. */
	readonly autoHideCloses: 0 | 1;
	readonly buttonLimit: number;
}

const content: readonly FieldName[] = ['title', 'message', 'target_url'];
const common: readonly FieldName[] = [
	'icon',
	'expire_push',
	'auto_hide',
	'send_at',
	'action_buttons',
];
const notToAll = { autoHideCloses: 0, buttonLimit: Infinity } as const;

/** The send operations (Specification, Endpoints, Limits and auto_hide rules). */
export const sendOperations: Readonly<Record<Audience, SendOperation>> = {
	all: { required: [], optional: ['name', 'image'], autoHideCloses: 1, buttonLimit: 100 },
	attribute: { required: ['attribute'], optional: ['name'], ...notToAll },
	segment: { required: ['segment'], optional: ['name', 'image'], ...notToAll },
	sid: { required: ['sid'], optional: [], ...notToAll },
};

/** Strict: null, a blank text, and a list or an object with nothing in it are no value. */
function isAbsent(value: unknown): boolean {
	if (value === undefined || value === null) return true;
	if (typeof value === 'string') return value.trim() === '';
	return typeof value === 'object' && Object.keys(value).length === 0;
}

/**
 * Judges the body of a send. What is missing comes first, then what the operation does not accept
 * (`invalid_value`: the specification names no failure), then each field's rule in the order of its table.
 */
export function judgeSend(
	operation: SendOperation,
	body: JsonObject,
	context: Omit<FieldContext, 'buttonLimit'>,
): Failure | undefined {
	const values = new Map(Object.entries(body));
	const required = [...content, ...operation.required];
	const absent = required.find((name) => isAbsent(values.get(name)));
	if (absent) return failures.missingParameter(absent);

	const accepted = [...required, ...operation.optional, ...common];
	const refused = [...values.keys()].find((name) => !accepted.some((field) => field === name));
	if (refused !== undefined) {
		return ownFailures.wrongValue(refused, 'is not accepted by this operation');
	}

	for (const name of accepted) {
		if (!values.has(name)) continue;
		const { buttonLimit } = operation;
		const failure = fieldRules[name](values.get(name), { ...context, buttonLimit });
		if (failure) return failure;
	}
	return undefined;
}
