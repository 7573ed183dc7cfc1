import { validationProblem } from '../../../nodes/PushCampaign/service/problems';
import { InvalidInput, Unavailable } from '../../../nodes/PushCampaign/service/thrown';
import {
	answering,
	failing,
	page,
	problemAfter,
	readCount,
	readStatus,
	send,
	success,
} from './support';

test('what was entered has to be corrected, and a vault that is down passes by itself', () => {
	const told = { outcome: 'notSent', message: 'It is closed', fix: 'Open it.' };
	expect(validationProblem(new InvalidInput(told.message, told.fix))).toEqual({
		...{ ...told, type: 'validation', cause: 'configuration-invalid' },
	});
	expect(validationProblem(new Unavailable(told.message, told.fix))).toEqual({
		...{ ...told, type: 'network', cause: 'temporarily-unavailable', isForAll: true },
	});
});

// Specification, Errors; contract, Errors.
describe('a failure answer means that nothing was done', () => {
	test.each([200, 302, 408, 502])('with HTTP %d', async (statusCode) => {
		const problem = await problemAfter(send, failing('invalid_value', 'Too late', statusCode));
		expect(problem).toMatchObject({
			type: 'invalid_value',
			outcome: 'notSent',
			said: 'The service says: "Too late".',
			httpCode: '400',
		});
	});

	const credential = { httpCode: '401', cause: 'credential-invalid' };
	const request = { httpCode: '400', cause: 'configuration-invalid' };
	test.each<{ type: string; httpCode: string; cause: string; fix?: RegExp }>([
		{ type: 'header_invalid', ...credential, fix: /^Check 'Header Names' / },
		{ type: 'authentication_failure', ...credential, fix: /^Check 'API Key' and 'Auth Token' / },
		{ type: 'rate_limit', httpCode: '429', cause: 'rate-limited' },
		...['missing_parameter', 'invalid_format', 'invalid_value', 'invalid_type'].map((type) => ({
			...{ type, ...request, fix: /^Correct the value that the service names/ },
		})),
		{ type: 'invalid_sid', ...request, httpCode: '404', fix: /^Correct the ID\.$/ },
		{ type: 'constructor', ...request, fix: /^If that does not say what to mend/ },
	])('of the type $type, with its code, and what helps', async ({ type, fix, ...then }) => {
		const problem = await problemAfter(send, failing(type));
		expect(problem).toMatchObject({ type, outcome: 'notSent', ...then });
		expect(problem.fix ?? '').toMatch(fix ?? /^$/);
		// n8n's rule for messages: none has these words.
		expect(problem.message).not.toMatch(/error|problem|failure|mistake|\.$/i);
	});

	test('and says where to look if the service does not', async () => {
		const problem = await problemAfter(send, failing('invalid_value', ' '));
		expect(problem.said).toBeUndefined();
		expect(problem.fix).toBe('It does not say which one: check each field.');
	});

	test.each([undefined, ' '])('without a type: %j', async (type) => {
		const problem = await problemAfter(send, answering({ status: 'failure', type }, 503));
		expect(problem).toMatchObject({
			type: 'unspecified',
			outcome: 'notSent',
			httpCode: '500',
			cause: 'temporarily-unavailable',
		});
		expect(problem.said).toBeUndefined();
	});

	test.each([502, 504])(
		'but not without a type and with the code of a gateway, %d',
		async (code) => {
			expect(await problemAfter(send, failing(null, 'No', code))).toMatchObject({
				type: 'unspecified',
				outcome: 'unknown',
				message: `It is unknown whether this was sent (a gateway answered in place of the push service (HTTP ${code}))`,
			});
		},
	);

	test('and is about the ID of a campaign whose status is asked', async () => {
		expect(await problemAfter(readStatus, failing('invalid_value'))).toMatchObject({
			message: 'The push service has no such campaign',
			httpCode: '404',
		});
	});

	test('and is about the subscriber whom a send names', async () => {
		const named = { what: 'subscriber 5001', fix: 'They may have unsubscribed.' };
		expect(await problemAfter({ ...send, named }, failing('invalid_sid'))).toMatchObject({
			message: 'The push service has no subscriber 5001',
			fix: 'They may have unsubscribed.',
			httpCode: '404',
		});
	});

	test('and is about a value if another failure comes for a campaign or a subscriber', async () => {
		const messages = [
			await problemAfter(send, failing('invalid_value')),
			await problemAfter(readStatus, failing('invalid_sid')),
		].map(({ message }) => message);
		expect(messages).toEqual([
			'The push service does not accept one of the values',
			'The push service has no such subscriber',
		]);
	});

	test('and names no field if there is none', async () => {
		const problem = await problemAfter(readCount, failing('invalid_value'));
		expect(problem.message).toBe('The push service refused the request (invalid_value)');
		expect(problem).toMatchObject({ httpCode: '400' });
	});
});

describe('an answer that is not the service’s', () => {
	test.each([
		...[400, 499].map((statusCode) => ({ statusCode, body: page })),
		{ statusCode: 413, body: { message: 'Too large' } },
	])(
		'with HTTP $statusCode means not sent, and is from another address',
		async ({ statusCode, body }) => {
			expect(await problemAfter(send, answering(body, statusCode))).toMatchObject({
				type: 'unexpected_answer',
				outcome: 'notSent',
				message: `The answer (HTTP ${statusCode}) is not the push service's`,
				fix: "Check 'Base URL' in the Push Campaign API credential.",
				httpCode: String(statusCode),
			});
		},
	);

	const wrongAddress = {
		fix: "Check 'Base URL' in the Push Campaign API credential.",
		cause: 'configuration-invalid',
	};
	const perhaps = {
		fix: "If it stays so, check 'Base URL' in the Push Campaign API credential.",
		cause: 'configuration-invalid',
	};
	const support = {
		fix: "If 'Base URL' in the Push Campaign API credential is right, ask the support of your push service.",
		cause: 'configuration-invalid',
	};
	const outage = { cause: 'temporarily-unavailable' };
	const isNot = /is not the push service's/;
	const lacks = /does not hold what the push service promises/;
	test.each<[name: string, statusCode: number, body: unknown, message: RegExp, then: object]>([
		['a page with HTTP 200 is from another address', 200, page, isNot, wrongAddress],
		['a page with HTTP 503 passes by itself', 503, page, isNot, outage],
		['other JSON with HTTP 200 may be the service’s', 200, { ok: 1 }, lacks, support],
		['a page with HTTP 408 may be from another address', 408, page, isNot, perhaps],
		['other JSON with HTTP 500 passes by itself', 500, success, lacks, outage],
		['success with HTTP 400 contradicts itself', 400, success, lacks, support],
		['a redirect that names no address may lead anywhere', 302, '', isNot, wrongAddress],
		['HTTP 303 says that something was done', 303, '', isNot, wrongAddress],
	])('says what came: %s', async (_name, statusCode, body, message, then) => {
		const location = statusCode === 303 ? '/' : '';
		const problem = await problemAfter(send, answering(body, statusCode, { location }));
		expect(problem).toMatchObject({ outcome: 'unknown', ...then });
		expect(problem.message).toMatch(message);
		expect('fix' in problem).toBe('fix' in then);
	});

	test('has no outcome in the words of a read', async () => {
		const { message } = await problemAfter(readCount, answering(page, 502));
		expect(message).toBe("The answer (HTTP 502) is not the push service's");
	});

	test('is a rate limit with HTTP 429', async () => {
		const problem = await problemAfter(send, answering(page, 429, { 'retry-after': '7' }));
		expect(problem).toMatchObject({ type: 'rate_limit', httpCode: '429', retryAfterMs: 7000 });
	});

	test.each([undefined, 'text', {}])('is a response without a status: %j', async (response) => {
		expect(await problemAfter(send, async () => response)).toMatchObject({ outcome: 'unknown' });
	});
});
