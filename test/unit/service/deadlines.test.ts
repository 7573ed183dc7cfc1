import { getEventListeners } from 'node:events';
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

function setUp(signal?: AbortSignal) {
	const clock = fakeClock();
	const deadlines = new Deadlines({ sleep: clock.sleep, clock: clock.now, signal });
	const results: string[] = [];
	const signals = new Map<string, AbortSignal>();
	const race = (name: string, promise: Promise<string>, timeoutMs: number) => {
		const action = async (own: AbortSignal) => {
			signals.set(name, own);
			return await promise;
		};
		void deadlines.race(action, timeoutMs).then(
			(value) => results.push(`${name}: ${String(value)} at ${clock.now()}`),
			(error: unknown) => results.push(`${name}: ${String(error)} at ${clock.now()}`),
		);
	};
	const aborted = () => [...signals].filter(([, own]) => own.aborted).map(([name]) => name);
	return { clock, deadlines, race, results, aborted };
}

test('gives what the action gives, and leaves its signal alone', async () => {
	const { clock, race, results, aborted } = setUp();
	race('a', Promise.resolve('answer'), 100);
	race('b', Promise.reject(new TypeError('lost')), 100);
	await clock.pass(200);
	expect(results).toEqual(['a: answer at 0', 'b: TypeError: lost at 0']);
	expect(aborted()).toEqual([]);
});

test('what the action throws at once is what it throws', async () => {
	const { deadlines } = setUp();
	const action = () => {
		throw new TypeError('no request');
	};
	await expect(deadlines.race(action, 100)).rejects.toThrow('no request');
});

test('gives undefined at the deadline and ends the signal, not before', async () => {
	const { clock, race, results, aborted } = setUp();
	race('a', never(), 30_000);
	race('b', never(), 40_000);
	await clock.pass(29_999);
	expect(results).toEqual([]);
	expect(aborted()).toEqual([]);
	await clock.pass(1);
	expect(results).toEqual(['a: undefined at 30000']);
	expect(aborted()).toEqual(['a']);
});

test('an action that only its signal ends is over at the deadline', async () => {
	const { clock, deadlines } = setUp();
	let ended = 0;
	const action = async (signal: AbortSignal) =>
		await new Promise<string>((_resolve, reject) => {
			signal.addEventListener('abort', () => {
				ended += 1;
				reject(new Error('canceled'));
			});
		});
	const result = deadlines.race(action, 500);
	await clock.pass(500);
	await expect(result).resolves.toBeUndefined();
	expect(ended).toBe(1);
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
	race('longer', never(), 2_600);
	race('same', never(), 2_500);
	await clock.pass(3_000);
	expect(results).toEqual([
		'long: undefined at 2500',
		'same: undefined at 2500',
		'longer: undefined at 2600',
	]);
	expect(clock.lengths).toEqual([1000, 1000, 500, 100]);
});

test('a deadline that comes before the end of the nap is not slept through', async () => {
	const { clock, race, results } = setUp();
	race('long', never(), 2_500);
	await clock.pass(100);
	race('short', never(), 400);
	race('middle', never(), 600);
	await clock.pass(1_000);
	expect(results).toEqual(['short: undefined at 500', 'middle: undefined at 700']);
	expect(clock.lengths).toEqual([1000, 400, 200, 1000]);
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

describe('a signal for all', () => {
	test('ends every request at once, each with its own signal', async () => {
		const stop = new AbortController();
		const { clock, race, results, aborted } = setUp(stop.signal);
		race('done', Promise.resolve('answer'), 500);
		race('a', never(), 500);
		race('b', never(), 30_000);
		await clock.pass(100);
		stop.abort();
		await clock.pass(0);
		expect(results).toEqual(['done: answer at 0', 'a: undefined at 100', 'b: undefined at 100']);
		expect(aborted()).toEqual(['a', 'b']);
	});

	test('has one listener while requests are under way, and none afterwards', async () => {
		const stop = new AbortController();
		const { clock, race } = setUp(stop.signal);
		const listeners = () => getEventListeners(stop.signal, 'abort').length;
		expect(listeners()).toBe(0);
		for (let rounds = 0; rounds < 3; rounds += 1) {
			for (let requests = 0; requests < 20; requests += 1) race('a', never(), 100);
			race('b', Promise.resolve('answer'), 500);
			await clock.pass(50);
			expect(listeners()).toBe(1);
			await clock.pass(50);
			expect(listeners()).toBe(0);
		}
	});
});
