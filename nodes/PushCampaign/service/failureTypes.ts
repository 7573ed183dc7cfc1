import { clip } from './text';

/** n8n's names for why something failed; its scheduler waits accordingly. */
export type FailureCause =
	| 'rate-limited'
	| 'credential-invalid'
	| 'configuration-invalid'
	| 'temporarily-unavailable'
	| 'node-defect';

/** What helps: to wait, to mend the configuration, or to correct what was entered. */
export type Remedy = 'wait' | 'mend' | 'correct';

/** The campaign or the subscriber that a request is about. */
export interface About {
	readonly of: 'campaign' | 'subscriber';
	/** The name of the field that the ID stands in: `'Campaign ID'`. */
	readonly label: string;
	readonly id: string;
}

/** What was requested, as far as the words depend on it. */
export interface Requested {
	readonly isSend: boolean;
	readonly about?: About | undefined;
}

/** What a failure's type means, in words for the user. */
export interface FailureWords {
	/** This package's own: the specification does not show the service's. */
	readonly httpCode: string;
	readonly cause: FailureCause;
	readonly remedy: Remedy;
	readonly message: string;
	readonly fix?: string;
}

export const checkBaseUrl = "Check 'Base URL' in the Push Campaign API credential.";

const unauthorized = { httpCode: '401', cause: 'credential-invalid', remedy: 'mend' } as const;
const unknownId = { httpCode: '404', cause: 'configuration-invalid', remedy: 'correct' } as const;
const refused = { httpCode: '400', cause: 'configuration-invalid' } as const;

/** Specification, Errors: the types that mean the same in every answer. */
const commonTypes: ReadonlyMap<string, FailureWords> = new Map(
	Object.entries<FailureWords>({
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
		},
	}),
);

/** Specification, Errors: the types that are about the fields of a send. */
const fieldTypes = ['missing_parameter', 'invalid_format', 'invalid_value', 'invalid_type'];

const notFound = ({ of, label, id }: About): FailureWords => ({
	...unknownId,
	message: `${label}: the push service has no ${of} ${clip(id)}`,
	fix:
		of === 'campaign'
			? 'Push Campaign returns the ID of each campaign that it sends, as campaignId.'
			: 'The subscriber may have unsubscribed.',
});

/** What a failure's type means for what was requested. */
export function wordsOf(type: string, { isSend, about }: Requested): FailureWords {
	if (type === '') {
		return {
			httpCode: '500',
			cause: 'temporarily-unavailable',
			remedy: 'wait',
			message: 'The push service could not carry out the request',
		};
	}
	// Specification, Errors: about a campaign's status, invalid_value is about its ID.
	const typeOfMissing = about?.of === 'campaign' ? 'invalid_value' : 'invalid_sid';
	if (about !== undefined && type === typeOfMissing) return notFound(about);
	if (isSend && fieldTypes.includes(type)) {
		return {
			...refused,
			remedy: 'correct',
			message: 'The push service does not accept one of the values',
			fix: 'Change the value that the service names.',
		};
	}
	// Another service of this interface may have types of its own.
	const message = `The push service refused the request (${clip(type)})`;
	return commonTypes.get(type) ?? { ...refused, remedy: 'mend', message };
}
