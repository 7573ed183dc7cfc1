import { clip } from './text';

/**
 * n8n's names for why something did not work; its scheduler backs off by them. What concerns the account or
 * the service comes before what concerns a campaign.
 */
export const failureCauses = [
	'credential-invalid',
	'rate-limited',
	'temporarily-unavailable',
	'configuration-invalid',
] as const;
export type FailureCause = (typeof failureCauses)[number];

/** What a failure of the service is told with. */
interface FailureWords {
	readonly message: string;
	/** Whether the service does not know the ID that was asked for: the message ends with it. */
	readonly endsWithId?: boolean;
	/** How to go on: sentences. */
	readonly advice: string;
	/** This package's: the service's own are not shown. */
	readonly httpCode: string;
	readonly cause: FailureCause;
}

const ofCredential = { httpCode: '401', cause: 'credential-invalid' } as const;
const ofRequest = {
	advice: 'Change the value that the service names and run the workflow again.',
	httpCode: '400',
	cause: 'configuration-invalid',
} as const;
const notAccepted = { ...ofRequest, message: 'The push service does not accept one of the values' };
const ofId = { ...ofRequest, httpCode: '404', endsWithId: true };

/** By failure type, which is empty where the service gave none. Specification, Errors. */
const failureWords: Readonly<Record<string, FailureWords>> = {
	header_invalid: {
		...ofCredential,
		message: 'The push service did not get one of the two headers of the credential',
		advice: 'Open the Push Campaign API credential and check that Header Names fits your provider.',
	},
	authentication_failure: {
		...ofCredential,
		message: 'The push service does not accept the credential',
		advice:
			'Open the Push Campaign API credential, enter the current API Key and Auth Token, and test it there.',
	},
	rate_limit: {
		message: 'The push service is receiving too many requests',
		advice:
			'Run the workflow again later, or raise Rate Limit Retries in the options so that the node waits longer by itself.',
		httpCode: '429',
		cause: 'rate-limited',
	},
	bad_request: {
		...ofRequest,
		message: 'The push service could not read the request',
		advice:
			'Check that Base URL in the credential is the address of the push service and that nothing in between changes requests.',
	},
	missing_parameter: notAccepted,
	invalid_format: notAccepted,
	invalid_value: notAccepted,
	invalid_type: notAccepted,
	'invalid_value of a campaign': {
		...ofId,
		message: 'The push service has no campaign',
		advice: 'Check Campaign ID: use the one that the node put out when the campaign was sent.',
	},
	invalid_sid: {
		...ofId,
		message: 'The push service has no subscriber',
		advice: 'Check Subscriber ID. The subscriber may have unsubscribed.',
	},
	'': {
		message: 'The push service could not carry out the request',
		advice:
			'Run the workflow again later. If it stays like this, contact the support of your push service.',
		httpCode: '500',
		cause: 'temporarily-unavailable',
	},
};

/** The failure types of the specification; other services of this interface may send more. */
export const wordsByType: ReadonlyMap<string, FailureWords> = new Map(Object.entries(failureWords));

/** What comes with a failure answer, or was known before. */
export interface FailureDetails {
	/** How long the service asks to wait, in milliseconds. */
	readonly retryAfterMs?: number | undefined;
	/** Whether one campaign was asked for. */
	readonly isOfCampaign?: boolean;
	/** The ID of the subscriber or campaign that was asked about, where it is to be named. */
	readonly subject?: string | undefined;
}

/** What a failure means for what was asked for, and how to go on. */
export function wordsOf(type: string, { isOfCampaign, subject }: FailureDetails): FailureWords {
	const ofCampaign = isOfCampaign ? wordsByType.get(`${type} of a campaign`) : undefined;
	const words = ofCampaign ?? wordsByType.get(type);
	if (words === undefined) {
		return { ...ofRequest, message: `The push service refused the request (${clip(type)})` };
	}
	const { endsWithId, message, ...rest } = words;
	const id = subject === undefined ? 'this ID' : `the ID ${clip(subject)}`;
	return { ...rest, message: endsWithId ? `${message} with ${id}` : message };
}
