import { Settings } from 'luxon';
import {
	claimedEarlierProblem,
	notRequestedProblem,
	explain,
	reasons,
	type Problem,
	type Reason,
} from '../../../nodes/PushCampaign/service/failures';
import type { Kind } from '../../../nodes/PushCampaign/service/kinds';

type Details = Parameters<typeof reasons.failure>[1];

const failed = (type: string | undefined, kind: Kind, details?: Details) =>
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

const onTheWay: ReadonlyArray<{ name: string; reason: Reason }> = [
	{
		name: 'no connection for',
		reason: reasons.notConnected('a.example', { reason: 'host not found' }),
	},
	{
		name: 'a certificate to mend for',
		reason: reasons.notConnected('a.example', { reason: 'too old', remedy: 'Renew it.' }),
	},
	...[
		{ name: 'a proxy that is not reached for', isUnreached: true, address: 'proxy.example:3128' },
		{ name: 'a silent proxy for', isUnreached: false, address: 'proxy.example:3128' },
		{ name: 'an unknown proxy for', isUnreached: false },
	].map(({ name, ...proxy }) => ({
		name,
		reason: reasons.notConnected('a.example', { reason: 'no reason', proxy }),
	})),
	{ name: 'HTTP 407 to', reason: reasons.proxyAsksForPassword },
	{ name: 'a redirect of', reason: reasons.redirect(302) },
	{ name: 'HTTP 404 to', reason: reasons.refusedOnTheWay(404, 'a web page') },
	{ name: 'HTTP 429 to', reason: reasons.gatewayRateLimit('empty', undefined) },
	{ name: 'HTTP 429 and a wait to', reason: reasons.gatewayRateLimit('empty', 3_600_000) },
	{ name: 'a timeout of', reason: reasons.timeout(1500) },
	{ name: 'a timeout of a second of', reason: reasons.timeout(1000) },
	{ name: 'a lost connection of', reason: reasons.connectionLost },
	{ name: 'a stop during', reason: reasons.canceled },
	{ name: 'a stop before', reason: reasons.notStarted },
	{ name: 'HTTP 502 to', reason: reasons.unexpectedAnswer(502, 'a web page') },
];

interface Situation {
	readonly name: string;
	readonly problem: Problem;
}

/** Specification, Errors, and what else can go wrong on the way. */
const situations: readonly Situation[] = [
	...listed.map((type) => ({
		name: `${type ?? 'no type'} of a send`,
		problem: failed(type, 'send'),
	})),
	{ name: 'invalid_value of a read', problem: failed('invalid_value', 'read') },
	{
		name: 'invalid_value of a campaign',
		problem: failed('invalid_value', 'read', { requestedId: { of: 'campaign' } }),
	},
	{ name: 'no type of a read', problem: failed(undefined, 'read') },
	{ name: 'no type and a wait', problem: failed(undefined, 'read', { retryAfterMs: 60_000 }) },
	{
		name: 'a redirect to a host',
		problem: explain(reasons.redirect(308, 'shop.example'), 'read'),
	},
	...(['send', 'sendToOne'] as const).map((kind) => ({
		name: `a lost ${kind} under a key`,
		problem: explain(reasons.connectionLost, kind, true),
	})),
	{ name: 'a lost sendToOne', problem: explain(reasons.connectionLost, 'sendToOne') },
	...(['send', 'read'] as const).flatMap((kind) =>
		onTheWay.map(({ name, reason }) => ({
			name: `${name} a ${kind}`,
			problem: explain(reason, kind),
		})),
	),
	{
		name: 'a send that was not requested any more',
		problem: notRequestedProblem(failed('rate_limit', 'send')),
	},
	{ name: 'a key claimed earlier', problem: claimedEarlierProblem('order\n42', 'send') },
];

test('all texts about requests that gave no result are those of the snapshot', () => {
	const texts = situations.map(({ name, problem: { message, description, ...known } }) => {
		const rest = JSON.stringify(known, Object.keys(known).sort());
		return [name, message, description, rest].join('\n\t');
	});
	expect(`\n${texts.join('\n')}\n`).toMatchSnapshot();
});

// n8n's words for what went wrong: messages say what happened, descriptions how to go on.
test.each(situations)(
	'the text about $name is a sentence without "error", "problem", "failure" or "mistake"',
	({ problem: { message, description } }) => {
		for (const text of [message, description]) {
			expect(text).not.toMatch(/error|problem|failure|mistake/i);
		}
		expect(message).toMatch(/^[A-Z].*[^.]$/);
		expect(description).toMatch(/^[A-Z].*\.$/);
	},
);

describe("the service's own words", () => {
	const advice = 'Check Subscriber ID. The subscriber may have unsubscribed.';
	const [fits, tooLong] = ['x'.repeat(300), 'x'.repeat(301)];

	test.each([
		{ name: 'if they are missing', given: undefined, then: 'The service gave no reason.' },
		{ name: 'if they are null', given: null, then: 'The service gave no reason.' },
		{ name: 'if they are blank', given: ' \n', then: 'The service gave no reason.' },
		{
			name: 'on one line',
			given: ' Not\n\tfound ',
			then: 'The service says: "Not found".',
		},
		{ name: 'whole up to 300 characters', given: fits, then: `The service says: "${fits}".` },
		{ name: 'cut after 300', given: tooLong, then: `The service says: "${fits}…".` },
	])('begin the description: $name', ({ given, then }) => {
		const reason = reasons.failure({
			status: 'failure',
			type: 'invalid_sid',
			description: given,
		});
		expect(explain(reason, 'read').description).toBe(`${then} ${advice}`);
	});
});

describe('the type of a failure', () => {
	const long = `${'x'.repeat(300)}…`;

	test.each([
		{ name: 'missing', given: undefined, then: { type: 'unspecified', httpCode: '500' } },
		{ name: 'null', given: null, then: { type: 'unspecified', httpCode: '500' } },
		{ name: 'blank', given: '  ', then: { type: 'unspecified', httpCode: '500' } },
		{
			name: 'with blanks around it',
			given: ' rate_limit ',
			then: { type: 'rate_limit', httpCode: '429' },
		},
		{
			name: 'of 999 characters',
			given: 'x'.repeat(999),
			then: {
				type: long,
				message: `The push service refused the request (${long})`,
				httpCode: '400',
			},
		},
		{
			name: 'named like a property of every object',
			given: 'constructor',
			then: { type: 'constructor', httpCode: '400' },
		},
	])('is read if it is $name', ({ given, then }) => {
		expect(reasons.failure({ status: 'failure', type: given })).toMatchObject(then);
	});

	test.each(['constructor', 'toString', '__proto__'].map((type) => ({ type })))(
		'$type has the advice of a type that is not listed, in a poll too',
		({ type }) => {
			const { description } = failed('not listed', 'poll');
			expect(failed(type, 'poll').description).toBe(description);
		},
	);
});

describe('how long the service asks to wait', () => {
	const described = (type: string | undefined, seconds: number) =>
		failed(type, 'send', { retryAfterMs: seconds * 1000 }).description;

	// In any language of the server.
	const { defaultLocale } = Settings;
	beforeAll(() => (Settings.defaultLocale = 'ar-EG-u-nu-arab'));
	afterAll(() => (Settings.defaultLocale = defaultLocale));

	test.each([
		{ seconds: 0.2, then: '1 second' },
		{ seconds: 60, then: '1 minute' },
		{ seconds: 90.1, then: '1 minute, 31 seconds' },
		{ seconds: 7200, then: '2 hours' },
		{ seconds: 90_000, then: '1 day, 1 hour' },
	])('is $then for $seconds seconds', ({ seconds, then }) => {
		const text = `The service says: "No". It was not sent. It asks to wait for ${then}. Run the workflow again after that.`;
		expect(described('rate_limit', seconds)).toBe(text);
		expect(described(undefined, seconds)).toBe(text);
	});

	test('is kept, but not shown if waiting does not help', () => {
		expect(failed('bad_request', 'send', { retryAfterMs: 7000 }).retryAfterMs).toBe(7000);
		expect(described('bad_request', 7)).not.toContain('wait');
	});
});

describe('the ID that a request is about', () => {
	test.each<{ name: string; type: string; about: Details; then: string }>([
		{
			name: 'is in the message if the service has no such subscriber',
			type: 'invalid_sid',
			about: { requestedId: { of: 'subscriber', id: '5001' } },
			then: 'The push service has no subscriber with the ID 5001',
		},
		{
			name: 'is in the message, on one line, if the service has no such campaign',
			type: 'invalid_value',
			about: { requestedId: { of: 'campaign', id: 'x\n1' } },
			then: 'The push service has no campaign with the ID x 1',
		},
		{
			name: 'is not in the message if another value of a send to it is refused',
			type: 'invalid_value',
			about: { requestedId: { of: 'subscriber', id: '5001' } },
			then: 'The push service does not accept one of the values',
		},
		{
			name: 'is not in the message about too many requests',
			type: 'rate_limit',
			about: { requestedId: { of: 'campaign', id: '1001' } },
			then: 'The push service is receiving too many requests',
		},
	])('$name', ({ type, about, then }) => {
		expect(failed(type, 'send', about).message).toBe(then);
	});
});
