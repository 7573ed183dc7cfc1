import { failures, type Failure } from './failures';
import { fieldRules, isAbsent, type FieldContext, type FieldName } from './fields';
import type { JsonObject } from './json';

export const audiences = ['all', 'attribute', 'segment', 'sid'] as const;

/** Whom a campaign is addressed to, named as the operation that sends it. */
export type Audience = (typeof audiences)[number];

/** What one send operation accepts, and how it reads what it accepts. */
export interface SendOperation {
	readonly audience: Audience;
	readonly required: readonly FieldName[];
	readonly optional: readonly FieldName[];
	/** The value of `auto_hide` with which a notification closes by itself. */
	readonly closesByItselfWhen: 0 | 1;
	readonly buttonLimit: number | null;
}

const common = ['title', 'message', 'target_url'] as const;
const everywhere = ['icon', 'expire_push', 'auto_hide', 'send_at', 'action_buttons'] as const;

/** The send operations by path (Specification, Endpoints, Limits and auto_hide rules). */
export const sendOperations: ReadonlyMap<string, SendOperation> = new Map<string, SendOperation>([
	[
		'/v1/notification/send/all',
		{
			audience: 'all',
			required: common,
			optional: ['name', 'image', ...everywhere],
			closesByItselfWhen: 1,
			buttonLimit: 100,
		},
	],
	[
		'/v1/notification/send/attribute',
		{
			audience: 'attribute',
			required: [...common, 'attribute'],
			optional: ['name', ...everywhere],
			closesByItselfWhen: 0,
			buttonLimit: null,
		},
	],
	[
		'/v1/notification/send/segment',
		{
			audience: 'segment',
			required: [...common, 'segment'],
			optional: ['name', 'image', ...everywhere],
			closesByItselfWhen: 0,
			buttonLimit: null,
		},
	],
	[
		'/v1/notification/send/sid',
		{
			audience: 'sid',
			required: [...common, 'sid'],
			optional: everywhere,
			closesByItselfWhen: 0,
			buttonLimit: null,
		},
	],
]);

export const statusPath = '/v1/notification/status/id/';
export const subscriberCountPath = '/v1/site/subscriber_count';

/**
 * Judges the body of a send. Absent required fields come first, then fields that the operation
 * does not accept, then each field's own rule in the order of the specification's table.
 */
export function checkSend(
	operation: SendOperation,
	body: JsonObject,
	context: Omit<FieldContext, 'buttonLimit'>,
): Failure | null {
	const absent = operation.required.find((name) => isAbsent(body, name));
	if (absent) return failures.missingParameter(absent);

	const accepted = [...operation.required, ...operation.optional];
	const unknown = Object.keys(body).find((name) => !accepted.some((field) => field === name));
	if (unknown !== undefined) return failures.notAccepted(unknown);

	for (const name of accepted) {
		if (!Object.hasOwn(body, name)) continue;
		const fieldContext = { ...context, buttonLimit: operation.buttonLimit };
		const failure = fieldRules[name](body[name], fieldContext);
		if (failure) return failure;
	}
	return null;
}
