import { once } from 'node:events';
import { createServer, type Server, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import { runPoll } from './support/poll';
import { credentialsFor, outputOf, push } from './support/pushCampaign';
import { runWorkflow, startWorkflow } from './support/run';
import { chain } from './support/workflow';

// A request that is given up is ended: no socket outlives its time. The services here are bare TCP, so
// that it is the sockets themselves that are counted.

const dripEveryMs = 20;
const httpHead = 'HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 100000\r\n';

/** What a service does that never ends its answer; each writes on for as long as the socket lives. */
const endless: Readonly<Record<string, (socket: Socket) => void>> = {
	'says nothing': () => undefined,
	'drips its header': (socket: Socket) => drip(socket, 'HTTP/1.1 200 OK\r\nx-a: ', 'a'),
	'drips its body': (socket: Socket) => drip(socket, `${httpHead}\r\n`, ' '),
	'drips a compressed body': (socket: Socket) =>
		drip(socket, `${httpHead}content-encoding: gzip\r\n\r\n`, gzipSync(' ')),
};

function drip(socket: Socket, start: string, drop: string | Buffer): void {
	socket.write(start);
	const timer = setInterval(() => socket.write(drop), dripEveryMs);
	socket.once('close', () => clearInterval(timer));
}

/** A server with what it knows of its sockets. */
class Listener {
	readonly open = new Set<Socket>();
	/** For how long each socket that is closed was open, in milliseconds. */
	readonly lifetimes: number[] = [];
	private readonly server: Server;
	accepted = 0;

	constructor(answer: (socket: Socket) => void) {
		this.server = createServer((socket) => {
			this.accepted += 1;
			this.open.add(socket);
			socket.on('error', () => undefined);
			const from = performance.now();
			socket.once('close', () => {
				this.open.delete(socket);
				this.lifetimes.push(performance.now() - from);
			});
			socket.once('data', () => answer(socket));
		});
	}

	async start(): Promise<string> {
		this.server.listen(0, '127.0.0.1');
		await once(this.server, 'listening');
		const address = this.server.address();
		if (address === null || typeof address === 'string') throw new Error('Not on a TCP port');
		return `http://127.0.0.1:${address.port}`;
	}

	async close(): Promise<void> {
		for (const socket of this.open) socket.destroy();
		this.server.close();
		await once(this.server, 'close');
	}
}

/** The time that a closed connection takes to be noticed at its other end. */
const graceMs = 250;

describe.each(Object.entries(endless))('a service that %s', (_name, answer) => {
	let listener: Listener;
	let baseUrl: string;
	beforeEach(async () => {
		listener = new Listener(answer);
		baseUrl = await listener.start();
	});
	afterEach(async () => await listener.close());

	const credentials = () => credentialsFor({ url: baseUrl });
	const input = ['a', 'b', 'c'].map((title) => ({ json: { title } }));

	test('keeps no socket beyond the timeout of a send', async () => {
		const workflow = chain([
			push({ options: { timeout: 1500 } }, { onError: 'continueRegularOutput' }),
		]);
		const run = await runWorkflow(workflow, { credentials: credentials(), input });
		expect(outputOf(run)).toHaveLength(3);
		for (const item of outputOf(run)) {
			expect(item).toMatchObject({
				error: {
					message:
						'It is unknown whether this was sent: the push service did not answer within 1.5 seconds',
					outcome: 'unknown',
				},
			});
		}
		await sleep(graceMs);
		// Of the requests alone: starting n8n's engine takes a busy machine its time.
		expect(Math.max(...listener.lifetimes)).toBeLessThan(5_000);
		expect(listener.accepted).toBe(3);
		expect(listener.open.size).toBe(0);
	});

	test('keeps no socket of a send once the execution is stopped', async () => {
		const { finished, cancel } = await startWorkflow(chain([push()]), {
			credentials: credentials(),
			input,
		});
		while (listener.open.size < 3) await sleep(10);
		cancel();
		const run = await finished;
		expect(run.status).toBe('canceled');
		await sleep(graceMs);
		expect(listener.open.size).toBe(0);
	});

	test('keeps no socket of a poll', async () => {
		const polling = runPoll(
			{ campaignIds: '1001, 1002, 1003' },
			{ credentials: credentials(), budgetMs: 1_500, activation: 'init' },
		);
		await expect(polling).rejects.toThrow('did not answer within');
		await sleep(graceMs);
		expect(listener.accepted).toBeGreaterThanOrEqual(3);
		expect(listener.open.size).toBe(0);
	});
});
