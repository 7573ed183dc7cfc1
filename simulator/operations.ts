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

const content = ['title', 'message', 'target_url'] as const;
const common = ['icon', 'expire_push', 'auto_hide', 'send_at', 'action_buttons'] as const;

/** The send operations by path (Specification, Endpoints, Limits and auto_hide rules). */
export const sendOperations: ReadonlyMap<string, SendOperation> = new Map(
	Object.entries<SendOperation>({
		all: {
			audience: 'all',
			required: content,
			optional: ['name', 'image', ...common],
			closesByItselfWhen: 1,
			buttonLimit: 100,
		},
		attribute: {
			audience: 'attribute',
			required: [...content, 'attribute'],
			optional: ['name', ...common],
			closesByItselfWhen: 0,
			buttonLimit: null,
		},
		segment: {
			audience: 'segment',
			required: [...content, 'segment'],
			optional: ['name', 'image', ...common],
			closesByItselfWhen: 0,
			buttonLimit: null,
		},
		sid: {
			audience: 'sid',
			required: [...content, 'sid'],
			optional: common,
			closesByItselfWhen: 0,
			buttonLimit: null,
		},
	}).map(([name, operation]) => [`/v1/notification/send/${name}`, operation]),
);

export const statusPath = '/v1/notification/status/id/';
export const subscriberCountPath = '/v1/site/subscriber_count';

/**
 * Judges the body of a send. Absent required fields come first, then fields that the operation
 * does not accept, then each field's own rule in the order of the specification's table.
 */
export function checkSend(
	operation: Omit<SendOperation, 'audience'>,
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

const jsonContentType = /^application\/json *(?:; *charset="?utf-8"?)?$/i;

/** Judges the headers of any request (Specification, Common to all operations, and Authentication). */
export function checkHeaders(
	headers: Readonly<Record<string, string | string[] | undefined>>,
	expected: { keyHeader: string; tokenHeader: string; serviceKey: string; authToken: string },
): Failure | null {
	const { keyHeader, tokenHeader, serviceKey, authToken } = expected;
	const key = headers[keyHeader.toLowerCase()];
	const token = headers[tokenHeader.toLowerCase()];
	if (!key) return failures.missingHeader(keyHeader);
	if (!token) return failures.missingHeader(tokenHeader);
	const contentType = headers['content-type'];
	if (!contentType) return failures.missingHeader('Content-Type');
	if (!jsonContentType.test(String(contentType))) return failures.wrongContentType();
	return key === serviceKey && token === authToken ? null : failures.notAuthorized();
}
