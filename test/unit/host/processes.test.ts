import { fork } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { join } from 'node:path';
import { explain } from '../../../host/n8n/install';
import { LockHeld, withLock } from '../../../host/process/lock';
import { Progress } from '../../../host/process/progress';

describe('a lock', () => {
	const name = randomUUID();

	test('lets one in after another, and gives what the work gives or throws', async () => {
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

	test('of a process that is killed is free again', async () => {
		const script = `require('./lock').withLock('${name}', () => new Promise(() => process.send('in')))`;
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
	['npm error code ENOTFOUND', ['make'], /registry was not reached\. Check the network/],
	['gyp ERR! build', ['python3', 'g++'], /python3, g\+\+ are missing.*apt-get install python3/],
	['warn ECONNRESET\ngyp ERR! build', ['make'], /make is missing.*xcode-select --install/],
	['npm error ENOSPC: no space left', [], /disk is full/],
	['npm error something', ['make'], /npm stopped\.$/],
])('an installation that failed with %j, without %j, is explained', (output, missing, words) => {
	expect(explain(output, missing)).toMatch(words);
});

describe('progress', () => {
	beforeEach(() => jest.useFakeTimers());
	afterEach(() => jest.useRealTimers());

	const lasting = (seconds: number) => jest.advanceTimersByTimeAsync(seconds * 1000);
	const streamOf = (terminal: object = {}) => {
		const stream = { text: '', write: (text: string) => (stream.text += text), ...terminal };
		return stream;
	};

	test('without a terminal: a line at the beginning, now and then, and a short one at the end', async () => {
		const stream = streamOf();
		await new Progress(stream).step('Downloading (once: 2.5 GB)', () => lasting(75));
		const lines = stream.text.split('\n');
		expect(lines.slice(0, 2)).toEqual([
			'… Downloading (once: 2.5 GB)',
			'… Downloading (once: 2.5 GB) (15 s)',
		]);
		expect(lines.slice(-2)).toEqual(['✓ Downloading (1 min 15 s)', '']);
	});

	test('in a terminal: one line that is written over, never longer than the terminal is wide', async () => {
		const stream = streamOf({ isTTY: true, columns: 12 });
		await new Progress(stream).step('A long description', () => lasting(3));
		const writes = stream.text.split('\r\x1b[2K').slice(1);
		expect(writes.slice(0, -1).every((line) => line.length < 12)).toBe(true);
		expect(writes.at(-1)).toBe('✓ A long description (3 s)\n');
	});

	test('a step that turns out to be another one, and fails', async () => {
		const stream = streamOf();
		const step = new Progress(stream).step('Looking', (rename) => {
			rename('Trying');
			return Promise.reject(new Error('no'));
		});
		await expect(step).rejects.toThrow('no');
		expect(stream.text).toBe('… Looking\n✓ Looking\n… Trying\n✗ Trying\n');
	});
});
