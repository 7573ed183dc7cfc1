import {
	cancelledProblem,
	claimedEarlierProblem,
	connectionLostProblem,
	failureProblem,
	gatewayRateLimitProblem,
	interruptedProblem,
	notConnectedProblem,
	notRequestedProblem,
	notStartedProblem,
	plainAnswerProblem,
	redirectProblem,
	refusedOnTheWayProblem,
	timeoutProblem,
	unexpectedAnswerProblem,
	type Problem,
} from '../../../nodes/PushCampaign/service/failures';
import type { FailureDetails } from '../../../nodes/PushCampaign/service/failureWords';
import type { Kind } from '../../../nodes/PushCampaign/service/kinds';

const failed = (type: string | undefined, kind: Kind, details?: FailureDetails) =>
	failureProblem({ status: 'failure', type, description: 'No' }, kind, details);
const listed = [
	'header_invalid',
	'authentication_failure',
	'rate_limit',
	'bad_request',
	'missing_parameter',
	'invalid_format',
	'invalid_value',
	'invalid_type',
	'invalid_sid',
	'quota',
	undefined,
];

/** Specification, Errors, and what else can go wrong on the way. */
const situations: ReadonlyArray<[string, () => Problem]> = [
	...listed.map((type): [string, () => Problem] => [
		`${type ?? 'no type'} of a send`,
		() => failed(type, 'send'),
	]),
	['invalid_value of a read', () => failed('invalid_value', 'read')],
	['invalid_value of a campaign', () => failed('invalid_value', 'read', { isOfCampaign: true })],
	['no type of a read', () => failed(undefined, 'read')],
	['no type and a wait', () => failed(undefined, 'read', { retryAfterMs: 60_000 })],
	['a redirect to a host', () => redirectProblem(308, 'read', 'shop.example')],
	...(['send', 'read'] as const).flatMap((kind): Array<[string, () => Problem]> => [
		[`no connection for a ${kind}`, () => notConnectedProblem('a.example', 'no such name', kind)],
		[`a redirect of a ${kind}`, () => redirectProblem(302, kind)],
		[`HTTP 404 to a ${kind}`, () => refusedOnTheWayProblem(404, 'a web page', kind)],
		[`HTTP 429 to a ${kind}`, () => gatewayRateLimitProblem('empty', kind, undefined)],
		[`HTTP 429 and a wait to a ${kind}`, () => gatewayRateLimitProblem('empty', kind, 3_600_000)],
		[`a timeout of a ${kind}`, () => timeoutProblem(1500, kind)],
		[`a timeout of a second of a ${kind}`, () => timeoutProblem(1000, kind)],
		[`a lost connection of a ${kind}`, () => connectionLostProblem(kind)],
		[`a plain answer to a ${kind}`, () => plainAnswerProblem(kind)],
		[`a ${kind} canceled under way`, () => cancelledProblem(kind)],
		[`a ${kind} canceled before`, () => notStartedProblem(kind)],
		[`HTTP 502 to a ${kind}`, () => unexpectedAnswerProblem(502, 'a web page', kind)],
	]),
	['a send not requested any more', () => notRequestedProblem(failed('rate_limit', 'send'))],
	['a key claimed earlier', () => claimedEarlierProblem('order\n42')],
];

test('every text that tells a user why a request did not work', () => {
	const told = situations.map(([situation, problem]) => {
		const { message, description, ...known } = problem();
		const rest = JSON.stringify(known, Object.keys(known).sort());
		return [situation, message, description, rest].join('\n\t');
	});
	expect(`\n${told.join('\n')}\n`).toMatchSnapshot();
});

// n8n's words for what went wrong: messages say what happened, descriptions how to go on.
test.each(situations)('%s is told calmly', (_situation, problem) => {
	const { message, description } = problem();
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
		failureProblem({ status: 'failure', type: 'invalid_sid', description }, 'read').description;
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
});

describe('how long the service asks to wait', () => {
	const described = (type: string | undefined, seconds: number) =>
		failed(type, 'send', { retryAfterMs: seconds * 1000 }).description;

	test.each([
		[0.2, '1 second'],
		[1, '1 second'],
		[90, '90 seconds'],
		[60, '1 minute'],
		[120, '2 minutes'],
		[121, '3 minutes'],
		[3600, '1 hour'],
		[5400, '90 minutes'],
		[7200, '2 hours'],
		[7201, '3 hours'],
		[86_400, '1 day'],
		[90_000, '25 hours'],
		[172_801, '3 days'],
		[315_403_680, '3651 days'],
	])('%d s: %s', (seconds, wait) => {
		const told = `The service says: "No". It was not sent. It asks to wait for ${wait}. Run the workflow again after that.`;
		expect(described('rate_limit', seconds)).toBe(told);
		expect(described(undefined, seconds)).toBe(told);
	});

	test('is kept, and not told of what no wait mends', () => {
		expect(failed('bad_request', 'send', { retryAfterMs: 7000 }).retryAfterMs).toBe(7000);
		expect(described('bad_request', 7)).not.toContain('wait');
	});
});

describe('the ID that a failure is about', () => {
	const messageOf = (type: string, details: FailureDetails) =>
		failed(type, 'send', details).message;
	const ofCampaign = { isOfCampaign: true };

	test('is named where it is known', () => {
		expect(messageOf('invalid_sid', { subject: '5001' })).toBe(
			'The push service has no subscriber with the ID 5001',
		);
		expect(messageOf('invalid_value', { ...ofCampaign, subject: 'x\n1' })).toBe(
			'The push service has no campaign with the ID x 1',
		);
	});

	test('is not named where another thing is at fault', () => {
		expect(messageOf('invalid_value', { subject: '5001' })).not.toContain('5001');
		expect(messageOf('rate_limit', { ...ofCampaign, subject: '1001' })).not.toContain('1001');
	});
});
