import { clip } from './text';

// What the failure types of the specification mean, in words for the user.

/** n8n's names for why something failed; its scheduler waits accordingly. */
export type FailureCause =
	| 'rate-limited'
	| 'credential-invalid'
	| 'configuration-invalid'
	| 'temporarily-unavailable'
	| 'node-defect';

/** What was requested, as far as the words depend on it. */
export interface Requested {
	/** Whether it sends: then it is a POST, and its outcome matters. */
	readonly isSend: boolean;
	/** The campaign or the subscriber that it names by an ID, and what to mend if the service has none. */
	readonly named?: { readonly what: string; readonly fix: string } | undefined;
}

/** Its type and its description are empty if it has none. */
export interface FailureAnswer {
	readonly type: string;
	readonly description: string;
}

/** What a failure means. */
interface FailureWords {
	/** This package's own: the specification does not show the service's. */
	readonly httpCode: string;
	readonly cause: FailureCause;
	readonly message: string;
	/** What to mend. What passes by itself has none. */
	readonly fix?: string;
}

export const checkBaseUrl = "Check 'Base URL' in the Push Campaign API credential.";
const askService = 'If that does not say what to mend, ask the support of your push service.';

const unauthorized = { httpCode: '401', cause: 'credential-invalid' } as const;
const unknownId = { httpCode: '404', cause: 'configuration-invalid' } as const;
const refused = { httpCode: '400', cause: 'configuration-invalid' } as const;

/** Specification, Errors: the types that mean the same in every answer. */
const commonTypes: ReadonlyMap<string, FailureWords> = new Map(
	Object.entries<FailureWords>({
		'': {
			httpCode: '500',
			cause: 'temporarily-unavailable',
			message: 'The push service could not carry out the request',
		},
		header_invalid: {
			...unauthorized,
			message: 'The push service did not get both headers of the credential',
			fix: "Check 'Header Names' in the Push Campaign API credential.",
		},
		authentication_failure: {
			...unauthorized,
			message: 'The push service does not accept the credential',
			fix: "Check 'API Key' and 'Auth Token' in the Push Campaign API credential.",
		},
		rate_limit: {
			httpCode: '429',
			cause: 'rate-limited',
			message: 'The push service is receiving too many requests',
		},
		invalid_sid: {
			...unknownId,
			message: 'The push service has no such subscriber',
			fix: 'Correct the ID.',
		},
	}),
);

/** Specification, Errors: the types that are about the fields of a send. */
const fieldTypes = ['missing_parameter', 'invalid_format', 'invalid_value', 'invalid_type'];

const notAccepted = (description: string): FailureWords => ({
	...refused,
	message: 'The push service does not accept one of the values',
	fix:
		description === ''
			? 'It does not say which one: check each field.'
			: 'Correct the value that the service names.',
});

/** What a failure means for what was requested. */
export function wordsOf(
	{ type, description }: FailureAnswer,
	{ isSend, named }: Requested,
): FailureWords {
	// Specification, Errors: of a campaign's status, `invalid_value` is about its ID.
	if (named !== undefined && type === (isSend ? 'invalid_sid' : 'invalid_value')) {
		return { ...unknownId, message: `The push service has no ${named.what}`, fix: named.fix };
	}
	if (isSend && fieldTypes.includes(type)) return notAccepted(description);
	// Another service of this interface may have types of its own.
	const message = `The push service refused the request (${clip(type)})`;
	return commonTypes.get(type) ?? { ...refused, message, fix: askService };
}
