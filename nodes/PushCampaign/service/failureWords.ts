import { clip } from './text';

/**
 * n8n's names for why something failed; its scheduler waits accordingly. Those of the account or the service
 * come before those of one campaign.
 */
export const failureCauses = [
	'credential-invalid',
	'rate-limited',
	'temporarily-unavailable',
	'configuration-invalid',
	'node-defect',
] as const;
export type FailureCause = (typeof failureCauses)[number];

/** Whether waiting helps. */
export const isTemporary = (cause: FailureCause) =>
	cause === 'rate-limited' || cause === 'temporarily-unavailable';

/** The campaign or the subscriber that a request is about. */
export interface RequestedId {
	readonly of: 'campaign' | 'subscriber';
	/** Missing if the caller's message already names it. */
	readonly id?: string | undefined;
}

/** What a failure type of the service means, and how to go on. */
export interface FailureWords {
	readonly message: string;
	/** Sentences. */
	readonly advice: string;
	/** This package's own: the specification does not show the service's. */
	readonly httpCode: string;
	readonly cause: FailureCause;
}

const credentialInvalid = { httpCode: '401', cause: 'credential-invalid' } as const;
const requestInvalid = { httpCode: '400', cause: 'configuration-invalid' } as const;
const notFound = { httpCode: '404', cause: 'configuration-invalid' } as const;

const changeTheValue = 'Change the value that the service names and run the workflow again.';
const valueRefused: FailureWords = {
	...requestInvalid,
	message: 'The push service does not accept one of the values',
	advice: changeTheValue,
};

/** The failure types that mean the same for every request. Specification, Errors. */
const commonTypes: Readonly<Record<string, FailureWords>> = {
	header_invalid: {
		...credentialInvalid,
		message: 'The push service did not receive both headers of the credential',
		advice: 'Open the Push Campaign API credential and check that Header Names fits your provider.',
	},
	authentication_failure: {
		...credentialInvalid,
		message: 'The push service does not accept the credential',
		advice:
			'Open the Push Campaign API credential, enter the current API Key and Auth Token, and test it there.',
	},
	rate_limit: {
		httpCode: '429',
		cause: 'rate-limited',
		message: 'The push service is receiving too many requests',
		advice:
			'Run the workflow again later, or raise Rate Limit Retries in the options so that the node waits longer by itself.',
	},
	bad_request: {
		...requestInvalid,
		message: 'The push service could not read the request',
		advice:
			'Check that Base URL in the credential is the address of the push service and that nothing in between changes requests.',
	},
	missing_parameter: valueRefused,
	invalid_format: valueRefused,
	invalid_value: valueRefused,
	invalid_type: valueRefused,
};
const wordsByType: ReadonlyMap<string, FailureWords> = new Map(Object.entries(commonTypes));

/** The service gave no type. */
const unspecified: FailureWords = {
	httpCode: '500',
	cause: 'temporarily-unavailable',
	message: 'The push service could not carry out the request',
	advice:
		'Run the workflow again later. If it stays like this, contact the support of your push service.',
};

const withId = (id: string | undefined) => (id === undefined ? 'this ID' : `the ID ${clip(id)}`);

const noSuchCampaign = (id: string | undefined): FailureWords => ({
	...notFound,
	message: `The push service has no campaign with ${withId(id)}`,
	advice: 'Check Campaign ID: use the ID that the node returned when the campaign was sent.',
});

const noSuchSubscriber = (id: string | undefined): FailureWords => ({
	...notFound,
	message: `The push service has no subscriber with ${withId(id)}`,
	advice: 'Check Subscriber ID. The subscriber may have unsubscribed.',
});

const notListed = (type: string): FailureWords => ({
	...requestInvalid,
	message: `The push service refused the request (${clip(type)})`,
	advice: changeTheValue,
});

/** The failure types that the specification lists; other services of this interface may send more. */
export const knownTypes: readonly string[] = [...wordsByType.keys(), 'invalid_sid'];

/**
 * Says what a failure means for a request.
 * @param type empty if the service gave none
 */
export function wordsOf(type: string, requestedId?: RequestedId): FailureWords {
	if (type === '') return unspecified;
	if (type === 'invalid_sid') return noSuchSubscriber(requestedId?.id);
	// Specification, Errors: about a campaign's status, this type is about its ID.
	if (type === 'invalid_value' && requestedId?.of === 'campaign') {
		return noSuchCampaign(requestedId.id);
	}
	return wordsByType.get(type) ?? notListed(type);
}
