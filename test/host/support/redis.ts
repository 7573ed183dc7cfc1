import { mkdtemp, rm } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort, startProgram, type Program } from '../../../host';
import { requireProgram } from './index';

/** An empty Redis of its own, on a loopback port, that keeps nothing. */
export interface Redis {
	/** The variables by which n8n finds it. */
	env: Record<string, string>;
	close(): Promise<void>;
}

const readyWithinMs = 30_000;

/** Starts Redis. Close it in any case. */
export async function startRedis(): Promise<Redis> {
	const folder = await mkdtemp(join(tmpdir(), 'redis-'));
	let server: Program | undefined;
	const close = async () => {
		await server?.stop();
		await rm(folder, { recursive: true, force: true });
	};
	try {
		const port = await freePort();
		server = await startProgram({
			name: 'Redis',
			command: requireProgram('redis-server'),
			args: ['--port', String(port), '--bind', '127.0.0.1', '--save', '', '--appendonly', 'no'],
			cwd: folder,
			logFile: join(folder, 'redis.log'),
		});
		await server.untilReady(() => accepts(port), readyWithinMs);
		return {
			env: { QUEUE_BULL_REDIS_HOST: '127.0.0.1', QUEUE_BULL_REDIS_PORT: String(port) },
			close,
		};
	} catch (error) {
		await close();
		throw error;
	}
}

async function accepts(port: number): Promise<boolean> {
	return await new Promise((resolve) => {
		const socket = connect({ host: '127.0.0.1', port });
		const answer = (isOpen: boolean) => {
			socket.destroy();
			resolve(isOpen);
		};
		socket.once('connect', () => answer(true));
		socket.once('error', () => answer(false));
	});
}
