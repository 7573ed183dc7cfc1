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

describe('a service that never ends its answer', () => {
	let listeners: Record<string, { listener: Listener; baseUrl: string }>;
	beforeEach(async () => {
		listeners = {};
		for (const [name, answer] of Object.entries(endless)) {
			const listener = new Listener(answer);
			listeners[name] = { listener, baseUrl: await listener.start() };
		}
	});
	afterEach(async () => {
		for (const { listener } of Object.values(listeners)) await listener.close();
	});

	/** Asks all of them at once, and gives a moment later what is left open of each. */
	async function leftOpen(ask: (baseUrl: string, listener: Listener) => Promise<void>) {
		await Promise.all(
			Object.values(listeners).map(async ({ baseUrl, listener }) => await ask(baseUrl, listener)),
		);
		await sleep(graceMs);
		return Object.entries(listeners).map(([name, { listener }]) => [name, listener.open.size]);
	}
	const none = Object.keys(endless).map((name) => [name, 0]);
	const input = ['a', 'b', 'c'].map((title) => ({ json: { title } }));

	test('keeps no socket beyond the timeout of a send', async () => {
		const workflow = chain([
			push({ options: { timeout: 900 } }, { onError: 'continueRegularOutput' }),
		]);
		const left = await leftOpen(async (url) => {
			const run = await runWorkflow(workflow, { credentials: credentialsFor({ url }), input });
			const message =
				'It is unknown whether this was sent: the push service did not answer within 0.9 seconds';
			const error = { message, outcome: 'unknown' };
			expect(outputOf(run)).toMatchObject([{ error }, { error }, { error }]);
		});
		expect(left).toEqual(none);
		for (const { listener } of Object.values(listeners)) {
			expect(listener.accepted).toBe(3);
			// Of the requests alone: starting n8n's engine takes a busy machine its time.
			expect(Math.max(...listener.lifetimes)).toBeLessThan(5_000);
		}
	});

	test('keeps no socket of a send once the execution is stopped', async () => {
		const left = await leftOpen(async (url, listener) => {
			const { finished, cancel } = await startWorkflow(chain([push()]), {
				credentials: credentialsFor({ url }),
				input,
			});
			while (listener.open.size < 3) await sleep(10);
			cancel();
			expect((await finished).status).toBe('canceled');
		});
		expect(left).toEqual(none);
	});

	test('keeps no socket of a poll', async () => {
		const left = await leftOpen(async (url, listener) => {
			const polling = runPoll(
				{ campaignIds: '1001, 1002, 1003' },
				{ credentials: credentialsFor({ url }), budgetMs: 1_500, activation: 'activate' },
			);
			await expect(polling).rejects.toThrow('did not answer within');
			expect(listener.accepted).toBeGreaterThanOrEqual(3);
		});
		expect(left).toEqual(none);
	});
});
