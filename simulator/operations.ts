import { failures, type Failure } from './failures';
import { fieldRules, isAbsent, type FieldContext, type FieldName } from './fields';
import type { JsonObject } from './json';

export const audiences = ['all', 'attribute', 'segment', 'sid'] as const;

/** Whom a campaign is addressed to, named as the operation that sends it. */
export type Audience = (typeof audiences)[number];

/** What one send operation accepts, and how it reads what it accepts. */
export interface SendOperation {
	readonly audience: Audience;
	/** What it accepts beside the common fields, required and optional ones. */
	readonly required: readonly FieldName[];
	readonly optional: readonly FieldName[];
	/** The value of `auto_hide` with which a notification closes by itself. */
	readonly closesByItselfWhen: 0 | 1;
	readonly buttonLimit: number | null;
}

const content: readonly FieldName[] = ['title', 'message', 'target_url'];
const common: readonly FieldName[] = [
	'icon',
	'expire_push',
	'auto_hide',
	'send_at',
	'action_buttons',
];

const elsewhere = { closesByItselfWhen: 0, buttonLimit: null } as const;
const operations: SendOperation[] = [
	{
		audience: 'all',
		required: [],
		optional: ['name', 'image'],
		closesByItselfWhen: 1,
		buttonLimit: 100,
	},
	{ audience: 'attribute', required: ['attribute'], optional: ['name'], ...elsewhere },
	{ audience: 'segment', required: ['segment'], optional: ['name', 'image'], ...elsewhere },
	{ audience: 'sid', required: ['sid'], optional: [], ...elsewhere },
];

/** What the paths of all send operations begin with. */
export const sendPathStart = '/v1/notification/send/';

/** The send operations by path (Specification, Endpoints, Limits and auto_hide rules). */
export const sendOperations: ReadonlyMap<string, SendOperation> = new Map(
	operations.map((operation) => [sendPathStart + operation.audience, operation]),
);

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
	const required = [...content, ...operation.required];
	const absent = required.find((name) => isAbsent(body, name));
	if (absent) return failures.missingParameter(absent);

	const accepted = [...required, ...operation.optional, ...common];
	const unknown = Object.keys(body).find((name) => !accepted.some((field) => field === name));
	if (unknown !== undefined) {
		return failures.wrongValue(unknown, 'is not accepted by this operation');
	}

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
	if (!jsonContentType.test(String(contentType))) return failures.wrongContentType;
	return key === serviceKey && token === authToken ? null : failures.notAuthorized;
}
