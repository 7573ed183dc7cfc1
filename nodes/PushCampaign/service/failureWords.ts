import type { FailureType } from './answers';
import { failureTypes } from './answers';
import { clip } from './text';

/** n8n's names for why something did not work; its scheduler backs off by them. */
export type FailureCause =
	| 'rate-limited'
	| 'temporarily-unavailable'
	| 'credential-invalid'
	| 'configuration-invalid';

/** What a failure of the service is told with. */
export interface FailureWords {
	readonly message: string;
	/** How to go on: sentences. */
	readonly advice: string;
	readonly httpCode: string;
	readonly cause: FailureCause;
}

const rateLimitAdvice =
	'Run the workflow again later, or raise Rate Limit Retries in the options so that the node waits longer by itself.';

/** What comes with a failure answer, or was known before. */
export interface FailureDetails {
	/** How long the service asks to wait, in milliseconds. */
	readonly retryAfterMs?: number | undefined;
	/** Whether one campaign was asked for. */
	readonly isOfCampaign?: boolean;
	/** The ID of the subscriber or campaign that was asked about. */
	readonly subject?: string | undefined;
}

const credentialWords = (message: string, advice: string): FailureWords => ({
	message,
	advice,
	httpCode: '401',
	cause: 'credential-invalid',
});

const requestWords = (
	message: string,
	advice = 'Change the value that the service names and run the workflow again.',
	httpCode = '400',
): FailureWords => ({ message, advice, httpCode, cause: 'configuration-invalid' });

const withId = (id: string | undefined) =>
	id === undefined ? 'with this ID' : `with the ID ${clip(id)}`;

/** The status codes are this package's: the service's own are not shown. */
const wordsByType: Record<FailureType, (about: FailureDetails) => FailureWords> = {
	header_invalid: () =>
		credentialWords(
			'The push service did not get one of the two headers of the credential',
			'Open the Push Campaign API credential and check that Header Names fits your provider.',
		),
	authentication_failure: () =>
		credentialWords(
			'The push service does not accept the credential',
			'Open the Push Campaign API credential, enter the current API Key and Auth Token, and test it there.',
		),
	rate_limit: () => ({
		message: 'The push service is receiving too many requests',
		advice: rateLimitAdvice,
		httpCode: '429',
		cause: 'rate-limited',
	}),
	bad_request: () =>
		requestWords(
			'The push service could not read the request',
			'Check that Base URL in the credential is the address of the push service and that nothing in between changes requests.',
		),
	missing_parameter: () =>
		requestWords(
			'The push service did not get a required value',
			'Fill in the value that the service names and run the workflow again.',
		),
	invalid_format: () => requestWords('The push service does not accept the format of a value'),
	invalid_value: ({ isOfCampaign, subject }) =>
		isOfCampaign
			? requestWords(
					`The push service has no campaign ${withId(subject)}`,
					'Check Campaign ID: use the one that the node put out when the campaign was sent.',
					'404',
				)
			: requestWords('The push service does not accept one of the values'),
	invalid_type: () => requestWords('The push service does not accept the type of a value'),
	invalid_sid: ({ subject }) =>
		requestWords(
			`The push service has no subscriber ${withId(subject)}`,
			'Check Subscriber ID. The subscriber may have unsubscribed.',
			'404',
		),
};

const unspecified: FailureWords = {
	message: 'The push service could not carry out the request',
	advice:
		'Run the workflow again later. If it stays like this, contact the support of your push service.',
	httpCode: '500',
	cause: 'temporarily-unavailable',
};

const isFailureType = (type: string): type is FailureType =>
	failureTypes.some((known) => known === type);

/** What a failure type means for what was asked for, and how to go on. Specification, Errors. */
export function wordsOf(type: string | undefined, details: FailureDetails): FailureWords {
	if (type === undefined) return unspecified;
	if (isFailureType(type)) return wordsByType[type](details);
	return requestWords(`The push service refused the request (${clip(type)})`);
}
