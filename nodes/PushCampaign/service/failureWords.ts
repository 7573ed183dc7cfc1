import { clip } from './text';

// What the failure types of the specification mean, in words for the user.

/** n8n's names for why something failed; its scheduler waits accordingly. */
export type FailureCause =
	| 'rate-limited'
	| 'credential-invalid'
	| 'configuration-invalid'
	| 'temporarily-unavailable'
	| 'node-defect';

/** What helps: to wait, to mend the configuration, to correct what was entered, or what is said, and no more. */
export type Remedy = 'wait' | 'mend' | 'correct' | 'said';

/** The campaign or the subscriber that a request is about. */
export interface About {
	readonly of: 'campaign' | 'subscriber';
	/** The name of the field that the ID stands in: `'Campaign ID'`. */
	readonly label: string;
	readonly id: string;
}

/** What was requested, as far as the words depend on it. */
export interface Requested {
	/** Whether it sends: then it is a POST, and its outcome matters. */
	readonly isSend: boolean;
	readonly about?: About | undefined;
}

/** A failure answer: its type and its description, empty if it has none. */
export interface Failure {
	readonly type: string;
	readonly description: string;
}

/** What a failure means. */
export interface FailureWords {
	/** This package's own: the specification does not show the service's. */
	readonly httpCode: string;
	readonly cause: FailureCause;
	readonly remedy: Remedy;
	readonly message: string;
	/** What to mend or to correct. Waiting needs no words. */
	readonly fix?: string;
}

export const checkBaseUrl = "Check 'Base URL' in the Push Campaign API credential.";
const askService = 'If that does not say what to mend, ask the support of your push service.';

const unauthorized = { httpCode: '401', cause: 'credential-invalid', remedy: 'mend' } as const;
const unknownId = { httpCode: '404', cause: 'configuration-invalid', remedy: 'correct' } as const;
const refused = { httpCode: '400', cause: 'configuration-invalid' } as const;

/** Specification, Errors: the types that mean the same in every answer. */
const commonTypes: ReadonlyMap<string, FailureWords> = new Map(
	Object.entries<FailureWords>({
		'': {
			httpCode: '500',
			cause: 'temporarily-unavailable',
			remedy: 'wait',
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
			remedy: 'wait',
			message: 'The push service is receiving too many requests',
		},
		bad_request: {
			...refused,
			remedy: 'mend',
			message: 'The push service could not read the request',
			fix: checkBaseUrl,
		},
		invalid_sid: {
			...unknownId,
			message: 'The push service has no such subscriber',
			fix: askService,
		},
	}),
);

/** Specification, Errors: the types that are about the fields of a send. */
const fieldTypes = ['missing_parameter', 'invalid_format', 'invalid_value', 'invalid_type'];

/** Specification, Errors: the type that means that the ID is not known. */
const typeOfMissing: Readonly<Record<About['of'], string>> = {
	campaign: 'invalid_value',
	subscriber: 'invalid_sid',
};

const notFound = ({ of, label, id }: About): FailureWords => ({
	...unknownId,
	message: `The push service has no ${of} ${clip(id)}`,
	fix:
		of === 'campaign'
			? `Correct ${label}.`
			: `Correct ${label}, or leave this subscriber out: they may have unsubscribed.`,
});

const notAccepted = (description: string): FailureWords => ({
	...refused,
	remedy: 'correct',
	message: 'The push service does not accept one of the values',
	fix:
		description === ''
			? 'It does not say which one: check each field.'
			: 'Correct the value that the service names.',
});

/** What a failure means for what was requested. */
export function wordsOf(
	{ type, description }: Failure,
	{ isSend, about }: Requested,
): FailureWords {
	if (about !== undefined && type === typeOfMissing[about.of]) return notFound(about);
	if (isSend && fieldTypes.includes(type)) return notAccepted(description);
	// Another service of this interface may have types of its own.
	const message = `The push service refused the request (${clip(type)})`;
	return commonTypes.get(type) ?? { ...refused, remedy: 'mend', message, fix: askService };
}
