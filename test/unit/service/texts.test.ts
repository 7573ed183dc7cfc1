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
	type Endpoint,
	type Problem,
} from '../../../nodes/PushCampaign/service/failures';

const failed = (type: string | undefined, endpoint: Endpoint) =>
	failureProblem({ status: 'failure', type, description: 'No' }, endpoint);
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
	['invalid_value of a status', () => failed('invalid_value', 'status')],
	['no type of a status', () => failed(undefined, 'status')],
	['invalid_value of a count', () => failed('invalid_value', 'count')],
	['a redirect of a count to a host', () => redirectProblem(308, 'count', 'shop.example')],
	...(['send', 'status'] as const).flatMap((endpoint): Array<[string, () => Problem]> => [
		[
			`no connection for a ${endpoint}`,
			() => notConnectedProblem('a.example', 'no such name', endpoint),
		],
		[`a redirect of a ${endpoint}`, () => redirectProblem(302, endpoint)],
		[`HTTP 404 to a ${endpoint}`, () => refusedOnTheWayProblem(404, 'a web page', endpoint)],
		[`HTTP 429 to a ${endpoint}`, () => gatewayRateLimitProblem('empty', endpoint, undefined)],
		[
			`HTTP 429 and a wait to a ${endpoint}`,
			() => gatewayRateLimitProblem('empty', endpoint, 3_600_000),
		],
		[`a timeout of a ${endpoint}`, () => timeoutProblem(1500, endpoint)],
		[`a timeout of a second of a ${endpoint}`, () => timeoutProblem(1000, endpoint)],
		[`a lost connection of a ${endpoint}`, () => connectionLostProblem(endpoint)],
		[`a plain answer to a ${endpoint}`, () => plainAnswerProblem(endpoint)],
		[`a ${endpoint} canceled under way`, () => cancelledProblem(endpoint)],
		[`a ${endpoint} canceled before`, () => notStartedProblem(endpoint)],
		[`HTTP 502 to a ${endpoint}`, () => unexpectedAnswerProblem(502, 'a web page', endpoint)],
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
