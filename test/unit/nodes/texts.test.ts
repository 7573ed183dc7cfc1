import type { Problem } from '../../../nodes/PushCampaign/service/failures';
import {
	cancelledProblem,
	connectionLostProblem,
	failureProblem,
	interruptedProblem,
	notConnectedProblem,
	redirectProblem,
	timeoutProblem,
	unexpectedAnswerProblem,
} from '../../../nodes/PushCampaign/service/failures';

// Every text that tells a user why a request did not work, so that a change of one is seen.

const failed = (type: string | undefined, endpoint: 'send' | 'status' | 'count') =>
	failureProblem({ status: 'failure', type, description: 'No' }, endpoint);

/** Specification, Errors, and what else can go wrong on the way. */
const table: Array<[string, () => Problem, Problem]> = [
	[
		"failed('header_invalid', 'send')",
		() => failed('header_invalid', 'send'),
		{
			type: 'header_invalid',
			outcome: 'notSent',
			message: 'The push service did not get one of the two headers of the credential',
			description:
				'The service says: "No". It was not sent. Open the Push Campaign API credential and check API Key Header and Auth Token Header against what your provider uses.',
			httpCode: '401',
			cause: 'credential-invalid',
		},
	],
	[
		"failed('authentication_failure', 'send')",
		() => failed('authentication_failure', 'send'),
		{
			type: 'authentication_failure',
			outcome: 'notSent',
			message: 'The push service does not accept the credential',
			description:
				'The service says: "No". It was not sent. Open the Push Campaign API credential, enter the current API Key and Auth Token, and test it there.',
			httpCode: '401',
			cause: 'credential-invalid',
		},
	],
	[
		"failed('rate_limit', 'send')",
		() => failed('rate_limit', 'send'),
		{
			type: 'rate_limit',
			outcome: 'notSent',
			message: 'The push service is receiving too many requests',
			description:
				'The service says: "No". It was not sent. Run the workflow again later, or raise Rate Limit Retries in the options so that the node waits longer by itself.',
			httpCode: '429',
			cause: 'rate-limited',
		},
	],
	[
		"failed('bad_request', 'send')",
		() => failed('bad_request', 'send'),
		{
			type: 'bad_request',
			outcome: 'notSent',
			message: 'The push service could not read the request',
			description:
				'The service says: "No". It was not sent. Check that Base URL in the credential is the address of the push service and that nothing in between changes requests.',
			httpCode: '400',
			cause: 'configuration-invalid',
		},
	],
	[
		"failed('missing_parameter', 'send')",
		() => failed('missing_parameter', 'send'),
		{
			type: 'missing_parameter',
			outcome: 'notSent',
			message: 'The push service did not get a required value',
			description:
				'The service says: "No". It was not sent. Fill in the value that the service names and run the workflow again.',
			httpCode: '400',
			cause: 'configuration-invalid',
		},
	],
	[
		"failed('invalid_format', 'send')",
		() => failed('invalid_format', 'send'),
		{
			type: 'invalid_format',
			outcome: 'notSent',
			message: 'The push service does not accept the format of a value',
			description:
				'The service says: "No". It was not sent. Change the value that the service names and run the workflow again.',
			httpCode: '400',
			cause: 'configuration-invalid',
		},
	],
	[
		"failed('invalid_value', 'send')",
		() => failed('invalid_value', 'send'),
		{
			type: 'invalid_value',
			outcome: 'notSent',
			message: 'The push service does not accept one of the values',
			description:
				'The service says: "No". It was not sent. Change the value that the service names and run the workflow again.',
			httpCode: '400',
			cause: 'configuration-invalid',
		},
	],
	[
		"failed('invalid_type', 'send')",
		() => failed('invalid_type', 'send'),
		{
			type: 'invalid_type',
			outcome: 'notSent',
			message: 'The push service does not accept the kind of a value',
			description:
				'The service says: "No". It was not sent. Change the value that the service names and run the workflow again.',
			httpCode: '400',
			cause: 'configuration-invalid',
		},
	],
	[
		"failed('invalid_sid', 'send')",
		() => failed('invalid_sid', 'send'),
		{
			type: 'invalid_sid',
			outcome: 'notSent',
			message: 'The push service has no subscriber with this ID',
			description:
				'The service says: "No". It was not sent. Check Subscriber ID. The subscriber may have unsubscribed.',
			httpCode: '404',
			cause: 'configuration-invalid',
		},
	],
	[
		"failed('quota', 'send')",
		() => failed('quota', 'send'),
		{
			type: 'quota',
			outcome: 'notSent',
			message: 'The push service refused the request (quota)',
			description:
				'The service says: "No". It was not sent. Change the value that the service names and run the workflow again.',
			httpCode: '400',
			cause: 'configuration-invalid',
		},
	],
	[
		"failed(undefined, 'send')",
		() => failed(undefined, 'send'),
		{
			type: 'unspecified',
			outcome: 'notSent',
			message: 'The push service could not carry out the request',
			description:
				'The service says: "No". It was not sent. Run the workflow again later. If it stays like this, ask the support of your push service.',
			httpCode: '500',
			cause: 'temporarily-unavailable',
		},
	],
	[
		"failed('invalid_value', 'status')",
		() => failed('invalid_value', 'status'),
		{
			type: 'invalid_value',
			outcome: 'notSent',
			message: 'The push service has no campaign with this ID',
			description:
				'The service says: "No". Check Campaign ID: use the one that the node put out when the campaign was sent.',
			httpCode: '404',
			cause: 'configuration-invalid',
		},
	],
	[
		"failed(undefined, 'status')",
		() => failed(undefined, 'status'),
		{
			type: 'unspecified',
			outcome: 'notSent',
			message: 'The push service could not carry out the request',
			description:
				'The service says: "No". Run the workflow again later. If it stays like this, ask the support of your push service.',
			httpCode: '500',
			cause: 'temporarily-unavailable',
		},
	],
	[
		"failed('invalid_value', 'count')",
		() => failed('invalid_value', 'count'),
		{
			type: 'invalid_value',
			outcome: 'notSent',
			message: 'The push service does not accept one of the values',
			description:
				'The service says: "No". Change the value that the service names and run the workflow again.',
			httpCode: '400',
			cause: 'configuration-invalid',
		},
	],
	[
		"notConnectedProblem('push.example', 'its name is not known', 'send')",
		() => notConnectedProblem('push.example', 'its name is not known', 'send'),
		{
			type: 'network',
			outcome: 'notSent',
			message: 'No connection to push.example could be made: its name is not known',
			description:
				'It was not sent. Check Base URL in the credential and that this n8n can reach the address, then run the workflow again.',
			cause: 'temporarily-unavailable',
		},
	],
	[
		"redirectProblem(302, 'send')",
		() => redirectProblem(302, 'send'),
		{
			type: 'unexpected_answer',
			outcome: 'notSent',
			message: 'The address of the push service redirects elsewhere (HTTP 302)',
			description:
				'A redirect is never followed, so that the key and token stay with the service. It was not sent. Enter the address that it redirects to as Base URL in the credential, if it belongs to your push service.',
			httpCode: '302',
			cause: 'configuration-invalid',
		},
	],
	[
		"timeoutProblem(1500, 'send')",
		() => timeoutProblem(1500, 'send'),
		{
			type: 'network',
			outcome: 'unknown',
			message:
				'It is unknown whether this was sent: the push service did not answer within 1.5 seconds',
			description:
				'Look for the campaign in the dashboard of your push service. Only if it is not there, turn on Resend Unknown in the options and run the workflow again: a campaign that did arrive would reach its subscribers twice.',
			cause: 'temporarily-unavailable',
		},
	],
	[
		"connectionLostProblem('send')",
		() => connectionLostProblem('send'),
		{
			type: 'network',
			outcome: 'unknown',
			message:
				'It is unknown whether this was sent: the connection to the push service was lost before its answer arrived',
			description:
				'Look for the campaign in the dashboard of your push service. Only if it is not there, turn on Resend Unknown in the options and run the workflow again: a campaign that did arrive would reach its subscribers twice.',
			cause: 'temporarily-unavailable',
		},
	],
	[
		"cancelledProblem('send')",
		() => cancelledProblem('send'),
		{
			type: 'network',
			outcome: 'unknown',
			message:
				'It is unknown whether this was sent: the execution was canceled before the push service answered',
			description:
				'Look for the campaign in the dashboard of your push service. Only if it is not there, turn on Resend Unknown in the options and run the workflow again: a campaign that did arrive would reach its subscribers twice.',
			cause: 'temporarily-unavailable',
		},
	],
	[
		"unexpectedAnswerProblem(502, 'a web page', 'send')",
		() => unexpectedAnswerProblem(502, 'a web page', 'send'),
		{
			type: 'unexpected_answer',
			outcome: 'unknown',
			message: 'It is unknown whether this was sent: the answer (HTTP 502) is a web page',
			description:
				'Look for the campaign in the dashboard of your push service. Only if it is not there, turn on Resend Unknown in the options and run the workflow again: a campaign that did arrive would reach its subscribers twice.',
			cause: 'temporarily-unavailable',
			httpCode: '502',
		},
	],
	[
		"notConnectedProblem('push.example', 'its name is not known', 'status')",
		() => notConnectedProblem('push.example', 'its name is not known', 'status'),
		{
			type: 'network',
			outcome: 'notSent',
			message: 'No connection to push.example could be made: its name is not known',
			description:
				'Check Base URL in the credential and that this n8n can reach the address, then run the workflow again.',
			cause: 'temporarily-unavailable',
		},
	],
	[
		"redirectProblem(302, 'status')",
		() => redirectProblem(302, 'status'),
		{
			type: 'unexpected_answer',
			outcome: 'notSent',
			message: 'The address of the push service redirects elsewhere (HTTP 302)',
			description:
				'A redirect is never followed, so that the key and token stay with the service. Enter the address that it redirects to as Base URL in the credential, if it belongs to your push service.',
			httpCode: '302',
			cause: 'configuration-invalid',
		},
	],
	[
		"timeoutProblem(1500, 'status')",
		() => timeoutProblem(1500, 'status'),
		{
			type: 'network',
			outcome: 'unknown',
			message: 'The push service did not answer within 1.5 seconds',
			description: 'Run the workflow again later, or raise Timeout in the options.',
			cause: 'temporarily-unavailable',
		},
	],
	[
		"connectionLostProblem('status')",
		() => connectionLostProblem('status'),
		{
			type: 'network',
			outcome: 'unknown',
			message: 'The connection to the push service was lost before its answer arrived',
			description: 'Run the workflow again later.',
			cause: 'temporarily-unavailable',
		},
	],
	[
		"cancelledProblem('status')",
		() => cancelledProblem('status'),
		{
			type: 'network',
			outcome: 'unknown',
			message: 'The execution was canceled before the push service answered',
			description: 'Run the workflow again.',
			cause: 'temporarily-unavailable',
		},
	],
	[
		"unexpectedAnswerProblem(502, 'a web page', 'status')",
		() => unexpectedAnswerProblem(502, 'a web page', 'status'),
		{
			type: 'unexpected_answer',
			outcome: 'unknown',
			message: 'The answer (HTTP 502) is a web page',
			description:
				'Check that Base URL in the credential is the address of the push service, then run the workflow again later.',
			cause: 'temporarily-unavailable',
			httpCode: '502',
		},
	],
];

test.each(table)('%s', (_how, makeProblem, text) => {
	expect(makeProblem()).toEqual(text);
});

// n8n's words for what went wrong: messages say what happened, descriptions how to go on.
test.each(table)('%s is told calmly', (_how, makeProblem) => {
	const { message, description } = makeProblem();
	for (const text of [message, description])
		expect(text).not.toMatch(/error|problem|failure|mistake/i);
	expect(message).toMatch(/^[A-Z].*[^.]$/);
	expect(description).toMatch(/^[A-Z].*\.$/);
});

test('an execution that ended meanwhile is told as one that was canceled', () => {
	expect(interruptedProblem).toEqual(cancelledProblem('send'));
});

describe("the service's own words", () => {
	const described = (description: string | null | undefined) =>
		failureProblem({ status: 'failure', type: 'invalid_sid', description }, 'status').description;
	const advice = 'Check Subscriber ID. The subscriber may have unsubscribed.';

	test.each([undefined, null, '', ' \n'])('%j: it gave no reason', (description) => {
		expect(described(description)).toBe(`The service gave no reason. ${advice}`);
	});

	test('are quoted on one line, and shortened', () => {
		expect(described(' Not\n\tfound ')).toBe(`The service says: "Not found". ${advice}`);
		expect(described('x'.repeat(300))).toBe(`The service says: "${'x'.repeat(300)}". ${advice}`);
		expect(described('x'.repeat(301))).toBe(`The service says: "${'x'.repeat(300)}…". ${advice}`);
	});

	test.each([undefined, null, '', '  '])('a type %j is unspecified', (type) => {
		expect(failureProblem({ status: 'failure', type }, 'send')).toMatchObject({
			type: 'unspecified',
			httpCode: '500',
		});
	});

	test('a type is trimmed, and shortened where it is long', () => {
		expect(failureProblem({ status: 'failure', type: ' rate_limit ' }, 'send').type).toBe(
			'rate_limit',
		);
		const long = failureProblem({ status: 'failure', type: 'x'.repeat(999) }, 'send');
		expect(long.type).toHaveLength(301);
		expect(long.message).toBe(`The push service refused the request (${'x'.repeat(300)}…)`);
	});

	test('how long to wait is kept', () => {
		const failure = { status: 'failure', type: 'rate_limit' } as const;
		expect(failureProblem(failure, 'send', 0).retryAfterMs).toBe(0);
		expect(failureProblem(failure, 'send')).not.toHaveProperty('retryAfterMs');
	});
});
