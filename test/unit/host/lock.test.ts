import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setImmediate as turn } from 'node:timers/promises';
import { transformFile } from '@swc/core';
import { LockHeld, portsOf, withLock } from '../../../host/lock';
import { until } from '../../../host/until';

const name = randomUUID();

test('one after another, whoever asks', async () => {
	let inside = 0;
	let most = 0;
	const work = async () => {
		most = Math.max(most, ++inside);
		for (let turns = 0; turns < 5; turns++) await turn();
		inside--;
	};
	await Promise.all([withLock(name, work), withLock(name, work), withLock(name, work)]);
	expect(most).toBe(1);
});

test('gives what the work gives', async () => {
	await expect(withLock(name, () => Promise.resolve(7))).resolves.toBe(7);
});

test('is free again after work that failed', async () => {
	await expect(withLock(name, () => Promise.reject(new Error('no')))).rejects.toThrow('no');
	await expect(withLock(name, () => Promise.resolve('yes'))).resolves.toBe('yes');
});

test('refuses when its owner lives and patience has run out; another name is another lock', async () => {
	await withLock(name, async () => {
		await expect(withLock(name, () => Promise.resolve(), 0)).rejects.toThrow(LockHeld);
		await expect(withLock(randomUUID(), () => Promise.resolve(1), 0)).resolves.toBe(1);
	});
});

test.each([0, 1, 2])('a stranger on its port number %s makes no difference', async (index) => {
	const stranger = createServer().listen(portsOf(name)[index], '127.0.0.1');
	await once(stranger, 'listening');
	try {
		await withLock(name, async () => {
			await expect(withLock(name, () => Promise.resolve(), 0)).rejects.toThrow(LockHeld);
		});
	} finally {
		stranger.close();
	}
});

describe('many processes', () => {
	let folder: string;

	/** Says when it asks and when it is inside; a second one there at the same time says so. */
	const script = `
		const { mkdirSync, rmdirSync } = require('node:fs');
		const { withLock } = require('./lock.js');
		const [name, mark, rounds, stayMs] = process.argv.slice(2);
		(async () => {
			console.log('asks');
			for (let round = 0; round < Number(rounds); round++) {
				await withLock(name, async () => {
					try { mkdirSync(mark); } catch { console.log('not alone'); return; }
					console.log('inside');
					await new Promise((resolve) => setTimeout(resolve, Number(stayMs)));
					rmdirSync(mark);
				});
			}
		})();
	`;

	beforeAll(async () => {
		folder = await mkdtemp(join(tmpdir(), 'lock-test-'));
		const { code } = await transformFile(join(__dirname, '../../../host/lock.ts'), {
			jsc: { target: 'es2022', parser: { syntax: 'typescript' } },
			module: { type: 'commonjs' },
		});
		await writeFile(join(folder, 'lock.js'), code);
		await writeFile(join(folder, 'owner.js'), script);
	});

	afterAll(async () => {
		await rm(folder, { recursive: true, force: true });
	});

	function start(mark: string, rounds: number, stayMs: number) {
		const args = ['owner.js', name, mark, String(rounds), String(stayMs)];
		const child = spawn(process.execPath, args, {
			cwd: folder,
			stdio: ['ignore', 'pipe', 'inherit'],
		});
		const lines = createInterface(child.stdout);
		const said: string[] = [];
		lines.on('line', (line) => said.push(line));
		return { child, said, first: once(lines, 'line'), ended: once(child, 'close') };
	}

	test('that race for the lock of a killed one are inside one by one, each as often as it wants', async () => {
		const dead = start('killed', 1, 60_000);
		await until(
			() => dead.said,
			(said) => said.includes('inside'),
			{ within: 50_000, every: 10, late: () => 'It did not get in' },
		);
		const racing = Array.from({ length: 8 }, () => start('racing', 5, 3));
		await Promise.all(racing.map(({ first }) => first));
		dead.child.kill('SIGKILL');
		await dead.ended;
		await Promise.all(racing.map(({ ended }) => ended));
		const said = racing.flatMap((each) => each.said);
		expect(said).not.toContain('not alone');
		expect(said.filter((line) => line === 'inside')).toHaveLength(40);
	}, 30_000);
});
