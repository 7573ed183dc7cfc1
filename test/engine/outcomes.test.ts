import type { Fault } from '../../simulator';
import {
	byTitle,
	continuing,
	credentialsFor,
	failure,
	failureOf,
	hintsOf,
	inputOf,
	lost,
	numbered,
	outputOf,
	runsAt,
	useSimulator,
	workflowOf,
} from './support/pushCampaign';
import { startWorkflow } from './support/run';
import { startEndless } from './support/server';

// What is known about a send after each answer, through n8n's own HTTP helper.

const simulator = useSimulator();
const elsewhere = useSimulator();

const run = runsAt(simulator);
const fault = (action: Fault['action'], times = 0) => simulator().addFault({ times, action });

const respond = (
	status: number,
	body = '<!doctype html><html><body>Nothing to see here</body></html>',
	headers: Record<string, string> = { 'content-type': 'text/html' },
): Fault['action'] => ({ kind: 'respond', status, body, headers });
const success = JSON.stringify({ status: 'success', description: 'Created', ID: 7 });
const redirect = (status: number) => (): Fault['action'] => ({
	kind: 'redirect',
	status,
	location: `${elsewhere().url}/v1/notification/send/all`,
});

type Row = [
	what: string,
	outcome: 'notSent' | 'unknown',
	action: Fault['action'] | (() => Fault['action']),
	type: string,
	httpCode?: string,
];
// What each answer means is shown with the client; here, that it comes through n8n's helper as it is.
test.each<Row>([
	['a failure with HTTP 200', 'notSent', failure('missing_parameter'), 'missing_parameter', '400'],
	['a page with HTTP 401', 'notSent', respond(401), 'unexpected_answer', '401'],
	['an empty answer with HTTP 413', 'notSent', respond(413, ''), 'unexpected_answer', '413'],
	['a redirect with HTTP 302', 'notSent', redirect(302), 'unexpected_answer', '302'],
	['a redirect that keeps the method', 'notSent', redirect(307), 'unexpected_answer', '307'],
	['a redirect with HTTP 303', 'unknown', redirect(303), 'unexpected_answer', '303'],
	['a failure with HTTP 502', 'unknown', failure(undefined, { status: 502 }), 'unspecified', '500'],
	['a page with HTTP 200', 'unknown', respond(200), 'unexpected_answer', '200'],
	['an empty answer with HTTP 204', 'unknown', respond(204, ''), 'unexpected_answer', '204'],
	['a success with HTTP 500', 'unknown', respond(500, success), 'unexpected_answer', '500'],
	['half an answer', 'unknown', { kind: 'truncate' }, 'network'],
	['a connection lost before the send', 'unknown', { kind: 'reset-before' }, 'network'],
	['a connection lost after the send', 'unknown', lost, 'network'],
])('after %s a send is %s, and was requested once', async (...row) => {
	const [, outcome, action, type, httpCode] = row;
	fault(typeof action === 'function' ? action() : action);
	const [item] = outputOf(await run({}, inputOf({}), continuing));
	const code = httpCode === undefined ? {} : { httpCode };
	expect(item).toMatchObject({ status: outcome, error: { type, outcome, ...code } });
	expect(item?.['description']).toMatch(/^.{20,250}[^.]$/);
	expect('httpCode' in Object(item?.['error'])).toBe(httpCode !== undefined);
	expect(simulator().requests).toHaveLength(1);
	expect(elsewhere().requests).toEqual([]);
});

test('HTTP 429 without the service’s JSON is waited for and tried again', async () => {
	fault(respond(429, '', { 'retry-after': '0.05' }), 1);
	expect(outputOf(await run())).toMatchObject([{ status: 'success' }]);
	const [first = 0, second = 0] = simulator().requests.map(({ at }) => at);
	expect(simulator().requests).toHaveLength(2);
	expect(second - first).toBeGreaterThanOrEqual(45);
});

describe('a service that asks to wait for more than ten minutes', () => {
	const runAll = async (more = {}) => {
		const headers = { 'retry-after': '601' };
		fault({ kind: 'failure', type: 'rate_limit', description: 'Slow down', status: 429, headers });
		const done = await run(byTitle, numbered(60), more);
		expect(simulator().requests.length).toBeLessThanOrEqual(20);
		return done;
	};

	test('is asked nothing further, and all that is left is not sent', async () => {
		const { message, description, httpCode, cause } = failureOf(await runAll());
		expect([httpCode, cause]).toEqual(['429', 'rate-limited']);
		expect(message).toBe(
			'The push service is receiving too many requests. None of these 60 was sent.',
		);
		expect(description).toMatch(/^The service says: .*11 minutes\. n8n's 'Retry' /);
	});

	test('is asked nothing further with Continue either', async () => {
		const done = await runAll(continuing);
		const error = { type: 'rate_limit', httpCode: '429' };
		expect(outputOf(done)).toMatchObject(numbered(60).map(() => ({ status: 'notSent', error })));
		expect(hintsOf(done)[0]).toMatch(
			/^60 of 60 items failed: .* Not sent: items 0 to 59, counted from 0\.$/,
		);
	});
});

test('without a connection a send is not sent', async () => {
	const { port, credentials, close } = await startEndless();
	await close();
	const message = `Could not connect to 127.0.0.1:${port}: connection refused`;
	const done = await run({}, inputOf({}), continuing, { credentials });
	const error = { message, type: 'network', outcome: 'notSent' };
	expect(outputOf(done)).toMatchObject([{ status: 'notSent', error }]);
});

test('a request whose time is over is ended, and unknown, though its answer still comes drop by drop', async () => {
	const { credentials, close } = await startEndless((socket) => {
		const drops = setInterval(() => socket.write(' '), 20);
		socket.once('close', () => clearInterval(drops));
	});
	const options = { timeout: 200 };
	const done = await run({ options }, inputOf({}), continuing, { credentials });
	const message =
		'It is unknown whether this was sent (the push service did not answer within 0.2 seconds)';
	const error = { message, type: 'network', outcome: 'unknown' };
	expect(outputOf(done)).toMatchObject([{ status: 'unknown', description: message, error }]);
	await close();
});

describe('when the user stops the execution', () => {
	const nextTurn = async () => await new Promise(setImmediate);

	test.each([
		{ onError: 'Stop Workflow', more: {} },
		{ onError: 'Continue', more: continuing },
	])(
		'nothing further is sent, and the node says what is known, with $onError',
		async ({ more }) => {
			fault({ kind: 'hang', process: true });
			const started = startWorkflow(workflowOf(byTitle, more), {
				...{ credentials: credentialsFor(simulator()), input: numbered(60) },
			});
			while (simulator().requests.length < 20) await nextTurn();
			started.cancel();
			const done = await started.finished;
			expect(done.status).toBe('canceled');
			expect(failureOf(done)).toMatchObject({
				message: 'The execution was canceled. None of the others was sent.',
				description:
					'Unknown: items 0 to 19, counted from 0. Look for them in the dashboard of your push service. What is not there can be sent from there.',
			});
			expect(simulator().requests).toHaveLength(20);
		},
	);

	test('a request in flight is ended: no socket outlives the execution', async () => {
		const { sockets, credentials, close } = await startEndless();
		// Its own time would end it as well, later than a test may take.
		const started = startWorkflow(workflowOf({ options: { timeout: 600_000 } }), { credentials });
		while (sockets.length === 0) await nextTurn();
		started.cancel();
		await started.finished;
		await close();
		expect(sockets.map(({ destroyed }) => destroyed)).toEqual([true]);
	});
});
