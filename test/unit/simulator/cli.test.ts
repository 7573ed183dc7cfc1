import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { SimulatorControl } from '../../../simulator';
import { call } from './support';

const root = join(__dirname, '../../..');
const startTimeoutMs = 60_000;

const running: ChildProcess[] = [];
afterEach(() => {
	for (const child of running.splice(0)) child.kill('SIGKILL');
});

function start(...args: string[]): ChildProcess {
	const child = spawn(process.execPath, ['--import', 'tsx', 'simulator/cli.ts', ...args], {
		cwd: root,
		stdio: ['ignore', 'pipe', 'pipe'],
	});
	running.push(child);
	return child;
}

/** What a process writes until it says something that matches, or ends. */
function output(child: ChildProcess, wanted: RegExp): Promise<string> {
	return new Promise((resolve) => {
		let written = '';
		const take = (chunk: Buffer): void => {
			written += chunk.toString();
			if (wanted.test(written)) resolve(written);
		};
		child.stdout?.on('data', take);
		child.stderr?.on('data', take);
		child.once('close', () => {
			resolve(written);
		});
	});
}

test.each(['SIGINT', 'SIGTERM'] as const)(
	'prints its address, serves, and stops cleanly on %s',
	async (signal) => {
		const child = start('--port', '0', '--path-prefix', '/push', '--rate-limit', '0/1');
		const said = await output(child, /subscribers see.*\n/);
		const url = /http:\S+\/push/.exec(said)?.[0] ?? '';
		const origin = new URL(url).origin;
		expect(said).toContain(`${origin}/\n`);
		const path = '/v1/site/subscriber_count';
		expect((await call(url, { path })).status).toBe(200);
		expect((await call(url, { path })).status).toBe(429);
		const control = new SimulatorControl(origin);
		expect(await control.requests()).toHaveLength(2);
		await control.addFault({ action: { kind: 'hang', process: false } });
		const hanging = call(url, { path }).catch(() => 'cut off');
		for (let tries = 0; tries < 500; tries += 1) {
			if ((await control.state()).requestCount === 3) break;
			await new Promise((resolve) => setTimeout(resolve, 10));
		}

		const ended = once(child, 'exit');
		child.kill(signal);
		expect(await ended).toEqual([0, null]);
		expect(await hanging).toBe('cut off');
	},
	startTimeoutMs,
);

// Side by side: each takes its time to start.
test(
	'refuses with the usage what it does not know',
	async () => {
		const refused = [
			['--port', 'x'],
			['--rate-limit', '100'],
			['--failure-status', '99'],
			['--unheard-of', '1'],
		].map(async (args) => {
			const child = start('--port', '0', ...args);
			const ended = once(child, 'exit');
			return [await output(child, /life-speed/), await ended];
		});
		for (const ending of await Promise.all(refused)) {
			expect(ending).toEqual([
				expect.stringContaining('Usage: npx tsx simulator/cli.ts'),
				[1, null],
			]);
		}
	},
	startTimeoutMs,
);

test(
	'--help shows the usage',
	async () => {
		const child = start('--help');
		expect(await output(child, /life-speed/)).toContain('--rate-limit <n>/<burst>');
	},
	startTimeoutMs,
);
