import { spawn, type SpawnOptions } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:net';

/**
 * Sends a signal to a process group, by the ID of the process that leads it; on Windows, which has no
 * groups, to that process alone. A group that is gone already is fine.
 */
export function killGroup(leader: number, signal: NodeJS.Signals): void {
	try {
		process.kill(process.platform === 'win32' ? leader : -leader, signal);
	} catch {
		// Nobody is left.
	}
}

/**
 * Runs a command to its end, in a process group that ends with this process.
 *
 * @returns what it printed to its standard output
 * @throws with all that it printed, when it ends with another code than 0
 */
export async function run(
	command: string,
	args: readonly string[],
	options: Pick<SpawnOptions, 'cwd' | 'env'> = {},
): Promise<string> {
	const child = spawn(command, args, {
		...options,
		detached: process.platform !== 'win32',
		stdio: ['ignore', 'pipe', 'pipe'],
	});
	const kill = () => child.pid !== undefined && killGroup(child.pid, 'SIGKILL');
	process.once('exit', kill);
	let stdout = '';
	let all = '';
	for (const stream of [child.stdout, child.stderr]) {
		stream.setEncoding('utf8').on('data', (text: string) => {
			if (stream === child.stdout) stdout += text;
			all += text;
		});
	}
	try {
		// `once` rejects if the command can't be started.
		await once(child, 'close');
	} finally {
		process.off('exit', kill);
	}
	if (child.exitCode === 0) return stdout;
	const how = child.signalCode ?? `code ${child.exitCode}`;
	throw new Error(`${command} ${args.join(' ')} ended with ${how}\n${all}`);
}

/** Runs npm in a folder, untouched by what `npm run` hands down of this package. */
export async function runNpm(
	args: readonly string[],
	cwd: string,
	variables: Record<string, string> = {},
): Promise<string> {
	const ofThisPackage = ['npm_config_local_prefix', 'npm_config_ignore_scripts'];
	const env = Object.entries(process.env).filter(([name]) => !ofThisPackage.includes(name));
	return await run('npm', args, { cwd, env: { ...Object.fromEntries(env), ...variables } });
}

/** The first of these ports that is free on the loopback interface at this moment, otherwise any free one. */
export async function freePort(...preferred: number[]): Promise<number> {
	for (const port of [...preferred, 0]) {
		const server = createServer();
		try {
			const listening = once(server, 'listening');
			server.listen(port, '127.0.0.1');
			await listening;
		} catch {
			continue;
		}
		const address = server.address();
		await new Promise((resolve) => server.close(resolve));
		if (address !== null && typeof address === 'object') return address.port;
	}
	throw new Error('No port of the loopback interface is free');
}
