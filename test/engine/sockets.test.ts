import { once } from 'node:events';
import { createServer, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import { until } from '../../host/process/until';
import { runPoll } from './support/poll';
import { credentialsFor, inputOf, outputOf, push } from './support/pushCampaign';
import { runWorkflow, startWorkflow } from './support/run';
import { chain } from './support/workflow';

// A request that is given up is ended: no socket outlives its time. The services here are bare TCP, so
// that it is the sockets themselves that are counted.

const dripEveryMs = 20;
const httpHead = 'HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 100000\r\n';

function drip(socket: Socket, start: string, drop: string | Buffer): void {
	socket.write(start);
	const timer = setInterval(() => socket.write(drop), dripEveryMs);
	socket.once('close', () => clearInterval(timer));
}

const endless: Array<{ name: string; answer: (socket: Socket) => void }> = [
	{ name: 'says nothing', answer: () => undefined },
	{
		name: 'drips its header',
		answer: (socket) => drip(socket, 'HTTP/1.1 200 OK\r\nx-a: ', 'a'),
	},
	{ name: 'drips its body', answer: (socket) => drip(socket, `${httpHead}\r\n`, ' ') },
	{
		name: 'drips a compressed body',
		answer: (socket) => drip(socket, `${httpHead}content-encoding: gzip\r\n\r\n`, gzipSync(' ')),
	},
];

describe.each(endless)('a service that never ends its answer, and $name', ({ answer }) => {
	const open = new Set<Socket>();
	let opened = 0;
	const server = createServer((socket) => {
		opened += 1;
		open.add(socket);
		socket.on('error', () => undefined);
		socket.once('close', () => open.delete(socket));
		socket.once('data', () => answer(socket));
	});
	let surroundings: { credentials: ReturnType<typeof credentialsFor> };
	const input = inputOf({}, {}, {});

	beforeAll(async () => {
		server.listen(0, '127.0.0.1');
		await once(server, 'listening');
		const address = server.address();
		if (address === null || typeof address === 'string') throw new Error('Not on a TCP port');
		surroundings = { credentials: credentialsFor({ url: `http://127.0.0.1:${address.port}` }) };
	});
	beforeEach(() => (opened = 0));
	afterEach(async () => {
		// The service never ends an answer: only the node closes a socket, however long a busy machine takes.
		const late = (count: number) => `${count} sockets stay open`;
		const isNone = (count: number) => count === 0;
		try {
			await until(() => open.size, isNone, { within: 20_000, every: 10, late });
		} finally {
			for (const socket of open) socket.destroy();
		}
	}, 30_000);
	afterAll(() => server.close());

	test('keeps no socket beyond the timeout of a send', async () => {
		const node = push({ options: { timeout: 5_000 } }, { onError: 'continueRegularOutput' });
		const run = await runWorkflow(chain([node]), { ...surroundings, input });
		const message =
			'It is unknown whether this was sent: the push service did not answer within 5 seconds';
		const error = { message, outcome: 'unknown' };
		expect(outputOf(run)).toMatchObject([{ error }, { error }, { error }]);
		expect(opened).toBe(3);
	});

	test('keeps no socket of a send once the execution is stopped', async () => {
		const { finished, cancel } = startWorkflow(chain([push()]), { ...surroundings, input });
		while (open.size < 3) await sleep(10);
		cancel();
		expect((await finished).status).toBe('canceled');
	});

	test('keeps no socket of a poll', async () => {
		const polling = runPoll(
			{ campaignIds: '1001, 1002, 1003' },
			{ ...surroundings, budgetMs: 10_000, mode: 'manual' },
		);
		await expect(polling).rejects.toThrow('did not answer within');
		expect(opened).toBeGreaterThanOrEqual(3);
	});
});
