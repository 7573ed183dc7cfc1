import { Deadlines } from '../../../nodes/PushCampaign/service/deadlines';

const settle = async () => {
	for (let ticks = 0; ticks < 20; ticks += 1) await Promise.resolve();
};

/** A clock that moves only when a test says so. */
function fakeClock() {
	let time = 0;
	const naps: Array<{ until: number; wake: () => void }> = [];
	const lengths: number[] = [];
	return {
		lengths,
		now: () => time,
		sleep: async (milliseconds: number, signal: AbortSignal) => {
			lengths.push(milliseconds);
			await new Promise<void>((wake, reject) => {
				naps.push({ until: time + milliseconds, wake });
				signal.addEventListener('abort', () => reject(new Error('woken')));
			});
		},
		async pass(milliseconds: number) {
			await settle();
			const end = time + milliseconds;
			for (let turns = 0; turns < 100; turns += 1) {
				const next = naps.filter(({ until }) => until <= end).sort((a, b) => a.until - b.until)[0];
				if (next === undefined) break;
				time = next.until;
				naps.splice(naps.indexOf(next), 1);
				next.wake();
				await settle();
			}
			time = end;
		},
	};
}

const never = async () => await new Promise<string>(() => undefined);

function setUp() {
	const clock = fakeClock();
	const deadlines = new Deadlines(clock.sleep, clock.now);
	const results: string[] = [];
	const race = (name: string, promise: Promise<string>, timeoutMs: number) => {
		void deadlines.race(promise, timeoutMs).then(
			(value) => results.push(`${name}: ${String(value)} at ${clock.now()}`),
			(error: unknown) => results.push(`${name}: ${String(error)} at ${clock.now()}`),
		);
	};
	return { clock, deadlines, race, results };
}

test('gives what the promise gives', async () => {
	const { deadlines } = setUp();
	await expect(deadlines.race(Promise.resolve('answer'), 100)).resolves.toBe('answer');
	await expect(deadlines.race(Promise.reject(new TypeError('lost')), 100)).rejects.toThrow('lost');
});

test('gives undefined at the deadline, not before', async () => {
	const { clock, race, results } = setUp();
	race('a', never(), 30_000);
	await clock.pass(29_999);
	expect(results).toEqual([]);
	await clock.pass(1);
	expect(results).toEqual(['a: undefined at 30000']);
});

test('an answer after the deadline changes nothing', async () => {
	const { clock, race, results } = setUp();
	let answer: (text: string) => void = () => undefined;
	race('a', new Promise((resolve) => (answer = resolve)), 500);
	await clock.pass(600);
	answer('late');
	await clock.pass(600);
	expect(results).toEqual(['a: undefined at 500']);
});

test('watches many deadlines with one timer, each nap a second at the most', async () => {
	const { clock, race, results } = setUp();
	race('long', never(), 2_500);
	race('short', never(), 700);
	race('same', never(), 2_500);
	await clock.pass(1_000);
	expect(results).toEqual(['short: undefined at 1000']);
	await clock.pass(2_000);
	expect(results.slice(1)).toEqual(['long: undefined at 2500', 'same: undefined at 2500']);
	expect(clock.lengths).toEqual([1000, 1000, 500]);
});

test('sleeps until the first of them', async () => {
	const { clock, race } = setUp();
	race('long', never(), 2_500);
	race('short', never(), 1_400);
	await clock.pass(2_500);
	expect(clock.lengths).toEqual([1000, 400, 1000, 100]);
});

test('wakes up once nothing is under way, and watches again for the next', async () => {
	const { clock, race, results } = setUp();
	race('a', Promise.resolve('answer'), 5_000);
	await clock.pass(100);
	expect(clock.lengths).toEqual([1000]);
	race('b', never(), 300);
	await clock.pass(300);
	expect(results).toEqual(['a: answer at 0', 'b: undefined at 400']);
	expect(clock.lengths).toEqual([1000, 300]);
});

test('a deadline that has passed meanwhile naps for a millisecond, not for none', async () => {
	const { clock, race, results } = setUp();
	race('a', never(), 0);
	await clock.pass(1);
	expect(clock.lengths).toEqual([1]);
	expect(results).toEqual(['a: undefined at 1']);
});
