import { Progress } from '../../../host/progress';

class Stream {
	text = '';
	constructor(
		readonly isTTY = false,
		readonly columns = 40,
	) {}
	write(text: string): void {
		this.text += text;
	}
}

beforeEach(() => jest.useFakeTimers());
afterEach(() => jest.useRealTimers());

const lasting = async (seconds: number) => {
	await jest.advanceTimersByTimeAsync(seconds * 1000);
};

test('without a terminal: a line at the beginning, now and then, and at the end', async () => {
	const stream = new Stream();
	await new Progress(stream).step('Building', () => lasting(32));
	expect(stream.text).toBe('… Building\n… Building (15 s)\n… Building (30 s)\n✓ Building (32 s)\n');
});

test('in a terminal: one line that is written over, never longer than the terminal is wide', async () => {
	const stream = new Stream(true, 12);
	await new Progress(stream).step('A long description', () => lasting(3));
	const writes = stream.text.split('\r\x1b[2K').slice(1);
	expect(writes.slice(0, -1).every((line) => line.length < 12)).toBe(true);
	expect(writes.at(-1)).toBe('✓ A long description (3 s)\n');
});

test('a step that turns out to be another one', async () => {
	const stream = new Stream();
	await new Progress(stream).step('Looking', async (rename) => {
		rename('Downloading');
		await lasting(75);
		rename('Downloading');
	});
	expect(stream.text).toMatch(/^… Looking\n✓ Looking\n… Downloading\n/);
	expect(stream.text).toMatch(/✓ Downloading \(1 min 15 s\)\n$/);
});

test('what it says in brackets is gone when it is done', async () => {
	const stream = new Stream();
	await new Progress(stream).step('Downloading n8n (once: 2.5 GB)', () => lasting(3));
	expect(stream.text).toBe('… Downloading n8n (once: 2.5 GB)\n✓ Downloading n8n (3 s)\n');
});

test('a step that fails says so and hands the error on', async () => {
	const stream = new Stream();
	const failing = new Progress(stream).step('Trying', () => Promise.reject(new Error('no')));
	await expect(failing).rejects.toThrow('no');
	expect(stream.text).toMatch(/✗ Trying\n$/);
});
