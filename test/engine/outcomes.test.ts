import { once } from 'node:events';
import type { Server, Socket } from 'node:net';
import { createServer } from 'node:net';
import type { INodeParameters } from 'n8n-workflow';
import type { Fault } from '../../simulator';
import {
	continuing,
	credentialsFor,
	failure,
	failureOf,
	faultFor,
	hintsOf,
	outputOf,
	titled,
	useSimulator,
	workflowOf,
} from './support/pushCampaign';
import { runWorkflow, startWorkflow } from './support/run';

// What is known about a send after each answer, through n8n's own HTTP helper.

const simulator = useSimulator();
const elsewhere = useSimulator();

const run = async (parameters: INodeParameters = {}, more: object = continuing) =>
	await runWorkflow(workflowOf(parameters, more), { credentials: credentialsFor(simulator()) });
const fault = (action: Fault['action'], times = 0) => simulator().addFault({ times, action });

const page = '<!doctype html><html><body>Nothing to see here</body></html>';
const respond = (
	status: number,
	body = page,
	headers: Record<string, string> = { 'content-type': 'text/html' },
): Fault['action'] => ({ kind: 'respond', status, body, headers });
const success = JSON.stringify({ status: 'success', description: 'Created', ID: 7 });

function portOf(server: Server): number | undefined {
	const address = server.address();
	return typeof address === 'object' ? address?.port : undefined;
}

type Row = [
	what: string,
	action: Fault['action'] | (() => Fault['action']),
	type: string,
	httpCode?: string,
];

const redirect = (status: number) => (): Fault['action'] => ({
	kind: 'redirect',
	status,
	location: `${elsewhere().url}/v1/notification/send/all`,
});

// What each answer means is shown with the client; here, that it comes through n8n's helper as it is.
const notSent: Row[] = [
	['a failure that comes with HTTP 200', failure('missing_parameter'), 'missing_parameter', '400'],
	['a failure without a type', failure(), 'unspecified', '500'],
	['a page with HTTP 401', respond(401), 'unexpected_answer', '401'],
	['an empty answer with HTTP 413', respond(413, ''), 'unexpected_answer', '413'],
	['a redirect with HTTP 302', redirect(302), 'unexpected_answer', '302'],
	['a redirect that keeps the method', redirect(307), 'unexpected_answer', '307'],
];

const unknown: Row[] = [
	['a redirect with HTTP 303', redirect(303), 'unexpected_answer', '303'],
	['a page with HTTP 503', respond(503), 'unexpected_answer', '503'],
	[
		'a failure without a type, with HTTP 502',
		failure(undefined, { status: 502 }),
		'unspecified',
		'500',
	],
	['a page with HTTP 200', respond(200), 'unexpected_answer', '200'],
	['an empty answer with HTTP 204', respond(204, ''), 'unexpected_answer', '204'],
	['a success that comes with HTTP 500', respond(500, success), 'unexpected_answer', '500'],
	['half an answer', { kind: 'truncate' }, 'network'],
	['a connection that is lost before the send is processed', { kind: 'reset-before' }, 'network'],
	['a connection that is lost after it', { kind: 'reset-after' }, 'network'],
];

const withOutcome = (outcome: string, rows: Row[]) =>
	rows.map(([what, action, type, httpCode]) => ({ outcome, what, action, type, httpCode }));

test.each([...withOutcome('notSent', notSent), ...withOutcome('unknown', unknown)])(
	'after $what a send is $outcome, and was requested once',
	async ({ outcome, action, type, httpCode }) => {
		fault(typeof action === 'function' ? action() : action);
		const [item] = outputOf(await run());
		const code = httpCode === undefined ? {} : { httpCode };
		expect(item).toMatchObject({ status: outcome, error: { type, outcome, ...code } });
		expect(item?.['description']).toMatch(/^.{20,250}[^.]$/);
		expect('httpCode' in Object(item?.['error'])).toBe(httpCode !== undefined);
		expect(simulator().requests).toHaveLength(1);
		expect(elsewhere().requests).toEqual([]);
	},
);

test('without an answer in time a send is unknown, and not requested again', async () => {
	fault({ kind: 'hang', process: true });
	const [item] = outputOf(await run({ options: { timeout: 200 } }));
	const words = 'the push service did not answer within 0.2 seconds';
	const message = `It is unknown whether this was sent (${words})`;
	const error = { message, type: 'network', outcome: 'unknown' };
	expect(item).toMatchObject({ status: 'unknown', description: message, error });
	// On a slow machine its time may be over before it is there.
	expect(simulator().requests.length).toBeLessThanOrEqual(1);
});

test('without a connection a send is not sent', async () => {
	const { url } = simulator();
	const closed = createServer().listen(0, '127.0.0.1');
	await once(closed, 'listening');
	const port = portOf(closed);
	closed.close();
	const done = await runWorkflow(workflowOf({}, continuing), {
		credentials: credentialsFor({ url: url.replace(/\d+$/, String(port)) }),
	});
	expect(outputOf(done)).toMatchObject([
		{
			status: 'notSent',
			error: {
				message: `Could not connect to 127.0.0.1:${port}: connection refused`,
				type: 'network',
				outcome: 'notSent',
			},
		},
	]);
});

test('HTTP 429 without the service’s JSON is waited for and tried again', async () => {
	fault(respond(429, page, { 'retry-after': '0.05' }), 2);
	const [item] = outputOf(await run());
	expect(item).toMatchObject({ status: 'success' });
	const [first = 0, second = 0] = simulator().requests.map(({ at }) => at);
	expect(simulator().requests).toHaveLength(3);
	expect(second - first).toBeGreaterThanOrEqual(45);
});

describe('a service that asks to wait for more than ten minutes', () => {
	const start = async (more: object) => {
		const headers = { 'retry-after': '601' };
		const action: Fault['action'] = {
			...{ kind: 'failure', type: 'rate_limit', description: 'Slow down', status: 429, headers },
		};
		simulator().addFault(faultFor('refused', action));
		return await runWorkflow(workflowOf({ title: '={{ $json.title }}' }, more), {
			credentials: credentialsFor(simulator()),
			input: titled(...Array.from({ length: 60 }, (_, index) => `refused ${index}`)),
		});
	};

	test('is asked nothing further, and all that is left is not sent', async () => {
		const { message, description, httpCode, cause } = failureOf(await start({}));
		expect(simulator().requests.length).toBeLessThanOrEqual(20);
		expect([httpCode, cause]).toEqual(['429', 'rate-limited']);
		expect(message).toBe('The push service is receiving too many requests. None of 60 was sent.');
		expect(description).toMatch(/^The service says: .*11 minutes\. 'Retry with /);
	});

	test('is asked nothing further with Continue either', async () => {
		const done = await start(continuing);
		expect(simulator().requests.length).toBeLessThanOrEqual(20);
		const items = outputOf(done);
		expect(items).toHaveLength(60);
		for (const item of items) {
			expect(item).toMatchObject({
				status: 'notSent',
				error: { type: 'rate_limit', httpCode: '429' },
			});
		}
		expect(hintsOf(done)[0]).toMatch(
			/^60 of 60 items failed: see the error column\. Not sent: items 0 to 59 /,
		);
	});
});

/** Jest would wait for a socket that stays open. `once` would reject if the connection is reset. */
async function untilClosed(sockets: readonly Socket[]): Promise<void> {
	const closings = sockets
		.filter(({ closed }) => !closed)
		.map(async (socket) => await new Promise((resolve) => socket.once('close', resolve)));
	await Promise.all(closings);
}

test('a request whose time is over is ended, though its answer still comes drop by drop', async () => {
	const sockets: Socket[] = [];
	const server = createServer((socket) => {
		sockets.push(socket.resume());
		socket.on('error', () => undefined);
		socket.write('HTTP/1.1 200 OK\r\ncontent-length: 100000\r\n\r\n{');
		const drops = setInterval(() => socket.write(' '), 20);
		socket.once('close', () => clearInterval(drops));
	}).listen(0, '127.0.0.1');
	await once(server, 'listening');
	const done = await runWorkflow(workflowOf({ options: { timeout: 200 } }, continuing), {
		credentials: credentialsFor({ url: `http://127.0.0.1:${portOf(server)}` }),
	});
	expect(outputOf(done)).toMatchObject([{ status: 'unknown' }]);
	await untilClosed(sockets);
	server.close();
});

describe('when the user stops the execution', () => {
	const nextTurn = async () => await new Promise(setImmediate);

	test('nothing further is sent, and the node ends with what is known of its items', async () => {
		fault({ kind: 'hang', process: true });
		const run = startWorkflow(workflowOf({ title: '={{ $json.title }}' }), {
			credentials: credentialsFor(simulator()),
			input: titled(...Array.from({ length: 60 }, (_, index) => `No ${index}`)),
		});
		while (simulator().requests.length < 20) await nextTurn();
		run.cancel();
		const done = await run.finished;
		expect(done.status).toBe('canceled');
		expect(failureOf(done).message).toMatch(
			/^The execution was canceled\. None of the others was sent\.$/,
		);
		expect(failureOf(done).description).toBe(
			'Unknown: items 0 to 19 (counted from 0). Look for them in the dashboard of your push service.',
		);
		expect(simulator().requests).toHaveLength(20);
	});

	test('a node with Continue says so as well', async () => {
		fault({ kind: 'hang', process: true });
		const run = startWorkflow(workflowOf({ title: '={{ $json.title }}' }, continuing), {
			credentials: credentialsFor(simulator()),
			input: titled(...Array.from({ length: 30 }, (_, index) => `No ${index}`)),
		});
		while (simulator().requests.length < 20) await nextTurn();
		run.cancel();
		const done = await run.finished;
		expect(done.status).toBe('canceled');
		expect(done.data.resultData.runData['Push Campaign']?.at(-1)?.error?.message).toMatch(
			/^The execution was canceled\. None of the others was sent\.$/,
		);
		expect(simulator().requests).toHaveLength(20);
	});

	test('a request in flight is ended: no socket outlives the execution', async () => {
		const sockets: Socket[] = [];
		const server = createServer((socket) => {
			sockets.push(socket.resume());
			socket.on('error', () => undefined);
			socket.write('HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\n{');
		}).listen(0, '127.0.0.1');
		await once(server, 'listening');
		// Its own time would end it as well, later than a test may take.
		const run = startWorkflow(workflowOf({ options: { timeout: 600_000 } }), {
			credentials: credentialsFor({ url: `http://127.0.0.1:${portOf(server)}` }),
		});
		while (sockets.length === 0) await nextTurn();
		run.cancel();
		await run.finished;
		await untilClosed(sockets);
		expect(sockets.map(({ destroyed }) => destroyed)).toEqual([true]);
		server.close();
	});
});
