import { Settings } from 'luxon';
import {
	claimedEarlierProblem,
	notRequestedProblem,
	explain,
	reasons,
	type Problem,
	type Reason,
} from '../../../nodes/PushCampaign/service/failures';
import type { FailureDetails } from '../../../nodes/PushCampaign/service/failureWords';
import type { Kind } from '../../../nodes/PushCampaign/service/kinds';

const failed = (type: string | undefined, kind: Kind, details?: FailureDetails) =>
	explain(reasons.failure({ status: 'failure', type, description: 'No' }, details), kind);
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

const onTheWay: ReadonlyArray<[string, Reason]> = [
	['no connection for', reasons.notConnected('a.example', 'no such name')],
	['a redirect of', reasons.redirect(302)],
	['HTTP 404 to', reasons.refusedOnTheWay(404, 'a web page')],
	['HTTP 429 to', reasons.gatewayRateLimit('empty', undefined)],
	['HTTP 429 and a wait to', reasons.gatewayRateLimit('empty', 3_600_000)],
	['a timeout of', reasons.timeout(1500)],
	['a timeout of a second of', reasons.timeout(1000)],
	['a lost connection of', reasons.connectionLost],
	['the end, under way, of', reasons.canceled],
	['the end, before it, of', reasons.notStarted],
	['HTTP 502 to', reasons.unexpectedAnswer(502, 'a web page')],
];

/** Specification, Errors, and what else can go wrong on the way. */
const situations: ReadonlyArray<[string, Problem]> = [
	...listed.map((type): [string, Problem] => [
		`${type ?? 'no type'} of a send`,
		failed(type, 'send'),
	]),
	['invalid_value of a read', failed('invalid_value', 'read')],
	['invalid_value of a campaign', failed('invalid_value', 'read', { isOfCampaign: true })],
	['no type of a read', failed(undefined, 'read')],
	['no type and a wait', failed(undefined, 'read', { retryAfterMs: 60_000 })],
	['a redirect to a host', explain(reasons.redirect(308, 'shop.example'), 'read')],
	...(['send', 'read'] as const).flatMap((kind) =>
		onTheWay.map(([what, reason]): [string, Problem] => [
			`${what} a ${kind}`,
			explain(reason, kind),
		]),
	),
	['a send not requested any more', notRequestedProblem(failed('rate_limit', 'send'))],
	['a key claimed earlier', claimedEarlierProblem('order\n42', 'send')],
];

test('every text that tells a user why a request did not work', () => {
	const told = situations.map(([situation, { message, description, ...known }]) => {
		const rest = JSON.stringify(known, Object.keys(known).sort());
		return [situation, message, description, rest].join('\n\t');
	});
	expect(`\n${told.join('\n')}\n`).toMatchSnapshot();
});

// n8n's words for what went wrong: messages say what happened, descriptions how to go on.
test.each(situations)('%s is told calmly', (_situation, { message, description }) => {
	for (const text of [message, description])
		expect(text).not.toMatch(/error|problem|failure|mistake/i);
	expect(message).toMatch(/^[A-Z].*[^.]$/);
	expect(description).toMatch(/^[A-Z].*\.$/);
});

describe("the service's own words", () => {
	const advice = 'Check Subscriber ID. The subscriber may have unsubscribed.';

	test.each([
		[undefined, 'The service gave no reason.'],
		[null, 'The service gave no reason.'],
		[' \n', 'The service gave no reason.'],
		[' Not\n\tfound ', 'The service says: "Not found".'],
		['x'.repeat(300), `The service says: "${'x'.repeat(300)}".`],
		['x'.repeat(301), `The service says: "${'x'.repeat(300)}…".`],
	])('%j is told on one line, and shortened', (description, told) => {
		const reason = reasons.failure({ status: 'failure', type: 'invalid_sid', description });
		expect(explain(reason, 'read').description).toBe(`${told} ${advice}`);
	});

	test.each([
		[undefined, { type: 'unspecified', httpCode: '500' }],
		[null, { type: 'unspecified', httpCode: '500' }],
		['  ', { type: 'unspecified', httpCode: '500' }],
		[' rate_limit ', { type: 'rate_limit', httpCode: '429' }],
		[
			'x'.repeat(999),
			{
				type: `${'x'.repeat(300)}…`,
				message: `The push service refused the request (${'x'.repeat(300)}…)`,
				httpCode: '400',
			},
		],
	])('of the type %j', (type, told) => {
		expect(reasons.failure({ status: 'failure', type })).toMatchObject(told);
	});
});

describe('how long the service asks to wait', () => {
	const described = (type: string | undefined, seconds: number) =>
		failed(type, 'send', { retryAfterMs: seconds * 1000 }).description;

	// Wherever the server stands.
	const { defaultLocale } = Settings;
	beforeAll(() => (Settings.defaultLocale = 'ar-EG-u-nu-arab'));
	afterAll(() => (Settings.defaultLocale = defaultLocale));

	test.each([
		[0.2, '1 second'],
		[60, '1 minute'],
		[90.1, '1 minute, 31 seconds'],
		[7200, '2 hours'],
		[90_000, '1 day, 1 hour'],
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

const ofCampaign = { isOfCampaign: true };

test.each([
	['invalid_sid', { subject: '5001' }, 'The push service has no subscriber with the ID 5001'],
	[
		'invalid_value',
		{ ...ofCampaign, subject: 'x\n1' },
		'The push service has no campaign with the ID x 1',
	],
	['invalid_value', { subject: '5001' }, 'The push service does not accept one of the values'],
	[
		'rate_limit',
		{ ...ofCampaign, subject: '1001' },
		'The push service is receiving too many requests',
	],
])('the ID is named where it is at fault: %s with %j', (type, details, message) => {
	expect(failed(type, 'send', details).message).toBe(message);
});
