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
		/** Without the millisecond that an action has for its last words. */
		naps: () => lengths.filter((length) => length > 1),
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
		void deadlines.run(action, timeoutMs).then((ending) => {
			const what =
				ending.kind === 'settled'
					? ending.value
					: `${String(ending.error)}${ending.isLate ? ', late' : ''}`;
			results.push(`${name}: ${what} at ${clock.now()}`);
		});
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
	const error = new TypeError('no request');
	const action = () => {
		throw error;
	};
	expect(await deadlines.run(action, 100)).toEqual({ kind: 'failed', error, isLate: false });
});

test('ends the signal at the deadline, not before', async () => {
	const { clock, race, results, aborted } = setUp();
	race('a', never(), 30_000);
	race('b', never(), 40_000);
	await clock.pass(29_999);
	expect(results).toEqual([]);
	expect(aborted()).toEqual([]);
	await clock.pass(1);
	expect(aborted()).toEqual(['a']);
	await clock.pass(1);
	expect(results).toEqual(['a: undefined, late at 30001']);
});

test('what an action says when its signal ends it is heard', async () => {
	const { clock, deadlines } = setUp();
	const lastWords = new Error('canceled before it was connected');
	const action = async (signal: AbortSignal) =>
		await new Promise<string>((_resolve, reject) => {
			signal.addEventListener('abort', () => reject(lastWords));
		});
	const ending = deadlines.run(action, 500);
	await clock.pass(500);
	expect(await ending).toEqual({ kind: 'failed', error: lastWords, isLate: true });
});

test('an answer that comes with the deadline counts', async () => {
	const { clock, deadlines } = setUp();
	const action = async (signal: AbortSignal) =>
		await new Promise<string>((resolve) => {
			signal.addEventListener('abort', () => resolve('answer'));
		});
	const ending = deadlines.run(action, 500);
	await clock.pass(500);
	expect(await ending).toEqual({ kind: 'settled', value: 'answer' });
});

test('an answer after the deadline changes nothing', async () => {
	const { clock, race, results } = setUp();
	let answer: (text: string) => void = () => undefined;
	race('a', new Promise((resolve) => (answer = resolve)), 500);
	await clock.pass(600);
	answer('late');
	await clock.pass(600);
	expect(results).toEqual(['a: undefined, late at 501']);
});

test('watches many deadlines with one timer, each nap a second at the most', async () => {
	const { clock, race, results } = setUp();
	race('long', never(), 2_500);
	race('longer', never(), 2_600);
	race('same', never(), 2_500);
	await clock.pass(3_000);
	expect(results).toEqual([
		'long: undefined, late at 2501',
		'same: undefined, late at 2501',
		'longer: undefined, late at 2601',
	]);
	expect(clock.naps()).toEqual([1000, 1000, 500, 100]);
});

test('a deadline that comes before the end of the nap is not slept through', async () => {
	const { clock, race, results } = setUp();
	race('long', never(), 2_500);
	await clock.pass(100);
	race('short', never(), 400);
	race('middle', never(), 600);
	await clock.pass(1_000);
	expect(results).toEqual(['short: undefined, late at 501', 'middle: undefined, late at 701']);
	expect(clock.naps()).toEqual([1000, 400, 200, 1000]);
});

test('sleeps until the first of them', async () => {
	const { clock, race } = setUp();
	race('long', never(), 2_500);
	race('short', never(), 1_400);
	await clock.pass(2_500);
	expect(clock.naps()).toEqual([1000, 400, 1000, 100]);
});

test('wakes up once nothing is under way, and watches again for the next', async () => {
	const { clock, race, results } = setUp();
	race('a', Promise.resolve('answer'), 5_000);
	await clock.pass(100);
	expect(clock.naps()).toEqual([1000]);
	race('b', never(), 300);
	await clock.pass(301);
	expect(results).toEqual(['a: answer at 0', 'b: undefined, late at 401']);
	expect(clock.naps()).toEqual([1000, 300]);
});

test('a deadline that has passed meanwhile naps for a millisecond, not for none', async () => {
	const { clock, race, results } = setUp();
	race('a', never(), 0);
	await clock.pass(2);
	expect(clock.lengths).toEqual([1, 1]);
	expect(results).toEqual(['a: undefined, late at 2']);
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
		await clock.pass(1);
		expect(results).toEqual([
			'done: answer at 0',
			'a: undefined, late at 101',
			'b: undefined, late at 101',
		]);
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
			await clock.pass(51);
			expect(listeners()).toBe(0);
		}
	});
});
