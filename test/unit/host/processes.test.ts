import { fork } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { stripVTControlCharacters } from 'node:util';
import { countAsked, explain } from '../../../host/n8n/install';
import { LockHeld, withLock } from '../../../host/process/lock';
import { Progress } from '../../../host/process/progress';

describe('a lock', () => {
	const name = randomUUID();

	test('runs one piece of work at a time, and returns or throws what the work does', async () => {
		let inside = 0;
		const work = async () => {
			expect(++inside).toBe(1);
			await new Promise((resolve) => setTimeout(resolve, 5));
			return inside--;
		};
		const three = [withLock(name, work), withLock(name, work), withLock(name, work)];
		expect(await Promise.all(three)).toEqual([1, 1, 1]);
		await expect(withLock(name, () => Promise.reject(new Error('no')))).rejects.toThrow('no');
	});

	test('is free again after its process was killed', async () => {
		// The timer keeps the child running: neither the lock nor its channel does.
		const script = `require('./lock').withLock('${name}', () => {
			setInterval(() => undefined, 60_000);
			return new Promise(() => process.send('in'));
		})`;
		const child = fork('-e', [script], {
			cwd: join(__dirname, '../../../host/process'),
			execArgv: ['--import', 'tsx'],
		});
		await once(child, 'message');
		await expect(withLock(name, () => Promise.resolve(), 0)).rejects.toThrow(LockHeld);
		await expect(withLock(randomUUID(), () => Promise.resolve(7), 0)).resolves.toBe(7);
		child.kill('SIGKILL');
		await once(child, 'exit');
		await expect(withLock(name, () => Promise.resolve(7))).resolves.toBe(7);
	});
});

test.each([
	{
		name: 'an unreachable registry',
		output: 'npm error code ENOTFOUND',
		words: /registry was not reached\. Check the network/,
	},
	{
		name: 'a missing compiler',
		output: 'warn ECONNRESET\ngyp ERR! build',
		words: /needs Python 3.*apt-get install.*xcode-select --install/,
	},
	{ name: 'a full disk', output: 'npm error ENOSPC: no space left', words: /disk is full/ },
	{ name: 'anything else', output: 'npm error something', words: /npm stopped\.$/ },
])('an installation that failed because of $name is explained', ({ output, words }) => {
	expect(explain(output)).toMatch(words);
});

test('an installation counts each package that it has asked about once, and no others', () => {
	const lookup = (path: string) =>
		`npm http fetch GET 200 https://registry.example.com/npm/${path} 35ms (cache miss)`;
	const log = [
		...['zod', 'zod', '@n8n%2fapi', '@n8n/api', 'not-installed'].map(lookup),
		lookup('glob/-/glob-11.0.0.tgz'),
		'npm http cache https://registry.example.com/npm/luxon 2ms (cache hit)',
	].join('\n');
	expect(countAsked(log, new Set(['zod', '@n8n/api', 'luxon', 'glob']))).toBe(3);
});

describe('progress', () => {
	beforeEach(() => jest.useFakeTimers());
	afterEach(() => jest.useRealTimers());

	const lasting = (seconds: number) => jest.advanceTimersByTimeAsync(seconds * 1000);

	test('prints the beginning, the amount from time to time, and the end if it has no terminal', async () => {
		const stream = new PassThrough();
		const step = new Progress(stream).step('Looking', async (begin, reach) => {
			begin('Downloading (once: 2.5 GB)');
			await lasting(20);
			reach('812 of 2,100 packages');
			await lasting(55);
			throw new Error('no');
		});
		await expect(step).rejects.toThrow('no');
		const lines = stripVTControlCharacters(String(stream.read())).split('\n');
		expect(lines.slice(0, 4)).toEqual([
			...['- Looking', '✔ Looking', '- Downloading (once: 2.5 GB)'],
			'- Downloading (once: 2.5 GB) (15 s)',
		]);
		expect(lines[4]).toBe('- Downloading (once: 2.5 GB): 812 of 2,100 packages (30 s)');
		expect(lines.slice(-2)).toEqual(['✖ Downloading (1 min 15 s)', '']);
	});
});
