import type { Problem } from '../../../nodes/PushCampaign/service/failures';
import {
	cancelledProblem,
	connectionLostProblem,
	failureProblem,
	gatewayRateLimitProblem,
	interruptedProblem,
	notConnectedProblem,
	notStartedProblem,
	plainAnswerProblem,
	redirectProblem,
	refusedOnTheWayProblem,
	timeoutProblem,
	unexpectedAnswerProblem,
} from '../../../nodes/PushCampaign/service/failures';

// Every text that tells a user why a request did not work, so that a change of one is seen.

const failed = (type: string | undefined, endpoint: 'send' | 'status' | 'count') =>
	failureProblem({ status: 'failure', type, description: 'No' }, endpoint);

const unknownAdvice =
	'Running the workflow again sends it in any case, unless it has an Idempotency Key. Look for the campaign in the dashboard of your push service first. Only if it is not there, turn on Resend Unknown in the options, save the workflow, and use "Retry with currently saved workflow" in the list of executions.';

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
			message: 'The address of the push service redirects to another one (HTTP 302)',
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
			description: unknownAdvice,
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
			description: unknownAdvice,
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
			description: unknownAdvice,
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
			description: unknownAdvice,
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
			message: 'The address of the push service redirects to another one (HTTP 302)',
			description:
				'A redirect is never followed, so that the key and token stay with the service. Enter the address that it redirects to as Base URL in the credential, if it belongs to your push service.',
			httpCode: '302',
			cause: 'configuration-invalid',
		},
	],
	[
		"redirectProblem(308, 'count', 'shop.example')",
		() => redirectProblem(308, 'count', 'shop.example'),
		{
			type: 'unexpected_answer',
			outcome: 'notSent',
			message: 'The address of the push service redirects to shop.example (HTTP 308)',
			description:
				'A redirect is never followed, so that the key and token stay with the service. Enter the address that it redirects to as Base URL in the credential, if it belongs to your push service.',
			httpCode: '308',
			cause: 'configuration-invalid',
		},
	],
	[
		"refusedOnTheWayProblem(404, 'a web page', 'send')",
		() => refusedOnTheWayProblem(404, 'a web page', 'send'),
		{
			type: 'unexpected_answer',
			outcome: 'notSent',
			message: 'The push service was not reached: the answer (HTTP 404) is a web page',
			description:
				'It was not sent. Check that Base URL in the credential is the address of the push service, without /v1, then run the workflow again.',
			httpCode: '404',
			cause: 'configuration-invalid',
		},
	],
	[
		"refusedOnTheWayProblem(403, 'empty', 'status')",
		() => refusedOnTheWayProblem(403, 'empty', 'status'),
		{
			type: 'unexpected_answer',
			outcome: 'notSent',
			message: 'The push service was not reached: the answer (HTTP 403) is empty',
			description:
				'Check that Base URL in the credential is the address of the push service, without /v1, then run the workflow again.',
			httpCode: '403',
			cause: 'configuration-invalid',
		},
	],
	[
		"gatewayRateLimitProblem('a web page', 'send', 3_600_000)",
		() => gatewayRateLimitProblem('a web page', 'send', 3_600_000),
		{
			type: 'rate_limit',
			outcome: 'notSent',
			message: 'The push service is receiving too many requests',
			description:
				'The answer (HTTP 429) is a web page. It was not sent. It asks to wait for 1 hour. Run the workflow again after that.',
			httpCode: '429',
			cause: 'rate-limited',
			retryAfterMs: 3_600_000,
		},
	],
	[
		"gatewayRateLimitProblem('empty', 'status', undefined)",
		() => gatewayRateLimitProblem('empty', 'status', undefined),
		{
			type: 'rate_limit',
			outcome: 'notSent',
			message: 'The push service is receiving too many requests',
			description:
				'The answer (HTTP 429) is empty. Run the workflow again later, or raise Rate Limit Retries in the options so that the node waits longer by itself.',
			httpCode: '429',
			cause: 'rate-limited',
		},
	],
	[
		"plainAnswerProblem('send')",
		() => plainAnswerProblem('send'),
		{
			type: 'network',
			outcome: 'unknown',
			message:
				'It is unknown whether this was sent: the address answered without the encryption that https:// stands for',
			description: `Check Base URL in the credential: its port may be one for http://. ${unknownAdvice}`,
			cause: 'temporarily-unavailable',
		},
	],
	[
		"plainAnswerProblem('count')",
		() => plainAnswerProblem('count'),
		{
			type: 'network',
			outcome: 'unknown',
			message: 'The address answered without the encryption that https:// stands for',
			description:
				'Check Base URL in the credential: its port may be one for http://. Run the workflow again later.',
			cause: 'temporarily-unavailable',
		},
	],
	[
		"notStartedProblem('send')",
		() => notStartedProblem('send'),
		{
			type: 'network',
			outcome: 'notSent',
			message: 'The execution was canceled before the push service was asked',
			description: 'It was not sent. Run the workflow again.',
			cause: 'temporarily-unavailable',
		},
	],
	[
		"notStartedProblem('status')",
		() => notStartedProblem('status'),
		{
			type: 'network',
			outcome: 'notSent',
			message: 'The execution was canceled before the push service was asked',
			description: 'Run the workflow again.',
			cause: 'temporarily-unavailable',
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
		expect(failureProblem(failure, 'send', { retryAfterMs: 0 }).retryAfterMs).toBe(0);
		expect(failureProblem(failure, 'send')).not.toHaveProperty('retryAfterMs');
	});
});

describe('how long the service asks to wait', () => {
	const failure = { status: 'failure', type: 'rate_limit', description: 'No' } as const;
	const described = (seconds: number) =>
		failureProblem(failure, 'send', { retryAfterMs: seconds * 1000 }).description;
	const raise =
		'Run the workflow again later, or raise Rate Limit Retries in the options so that the node waits longer by itself.';

	test.each([
		[0.2, '1 second'],
		[1, '1 second'],
		[7, '7 seconds'],
		[90, '90 seconds'],
		[120, '120 seconds'],
		[121, '3 minutes'],
		[600, '10 minutes'],
	])('%d s: %s, which more retries would wait for', (seconds, wait) => {
		expect(described(seconds)).toBe(
			`The service says: "No". It was not sent. It asks to wait for ${wait}. ${raise}`,
		);
	});

	test.each([
		[601, '11 minutes'],
		[3600, '1 hour'],
		[5400, '90 minutes'],
		[86_400, '24 hours'],
	])('%d s: %s, which more retries would not', (seconds, wait) => {
		expect(described(seconds)).toBe(
			`The service says: "No". It was not sent. It asks to wait for ${wait}. Run the workflow again after that.`,
		);
	});

	test('not at all, or of something else than a rate limit: no word of it', () => {
		expect(described(0)).toBe(`The service says: "No". It was not sent. ${raise}`);
		const other = failureProblem({ status: 'failure' }, 'send', { retryAfterMs: 7000 });
		expect(other.description).not.toContain('wait');
		expect(other.retryAfterMs).toBe(7000);
	});
});

describe('the ID that a failure is about', () => {
	const messageOf = (type: string, endpoint: 'send' | 'status' | 'count', subject?: string) =>
		failureProblem({ status: 'failure', type }, endpoint, { subject }).message;

	test('is named where it is known', () => {
		expect(messageOf('invalid_sid', 'send', '5001')).toBe(
			'The push service has no subscriber with the ID 5001',
		);
		expect(messageOf('invalid_value', 'status', 'x\n1')).toBe(
			'The push service has no campaign with the ID x 1',
		);
		expect(messageOf('invalid_sid', 'send')).toBe(
			'The push service has no subscriber with this ID',
		);
	});

	test('is not named where another thing is at fault', () => {
		expect(messageOf('invalid_value', 'send', '5001')).not.toContain('5001');
		expect(messageOf('rate_limit', 'status', '1001')).not.toContain('1001');
	});
});
