import { EntryWriter } from '../../../nodes/PushCampaign/send/entryWriter';
import { DeduplicationStore, executeFunctions } from '../execution/support';
import { useSimulatedTime } from './simulatedTime';

const time = useSimulatedTime();

jest.mock('n8n-workflow', () => ({
	...jest.requireActual<object>('n8n-workflow'),
	sleep: async (milliseconds: number) => await time.sleep(milliseconds),
}));

/** A process whose writes take these times in milliseconds, one after another, and no time after them. */
function startWriter(writesMs: readonly number[] = []) {
	const store = new DeduplicationStore();
	const { helpers } = executeFunctions({ store }).context;
	const writer = new EntryWriter();
	const starts: number[] = [];
	store.beforeRecord = async () => {
		starts.push(time.now);
		await time.sleep(writesMs[starts.length - 1] ?? 0);
	};
	/** Makes that many writes, each after the last one has ended. */
	const write = async (count: number) => {
		for (let number = 0; number < count; number += 1) {
			await time.until(writer.record([`entry ${number}`], helpers));
		}
	};
	const stamps = () => store.entries.filter((entry) => entry.startsWith('stamp:'));
	return { store, helpers, writer, starts, write, stamps };
}

describe('the stamp of a write', () => {
	/** Records two claims in one write, and gives what looks for its stamp. */
	async function claimTwo() {
		const { store, helpers, writer } = startWriter();
		const [one, two] = await time.until(
			Promise.all(['key:one', 'key:two'].map((entry) => writer.record([entry], helpers, true))),
		);
		const stamps = [one?.stamp ?? '', two?.stamp ?? ''];
		const isGone = async (stamp: string) =>
			(await time.until(writer.record([stamp], helpers))).fresh.has(stamp);
		return { store, stamps, isGone };
	}

	test('is one for all claims of the write, and is found as long as nobody wrote over it', async () => {
		const { stamps, isGone } = await claimTwo();
		const [one = '', two = ''] = stamps;
		expect(one).toBe(two);
		expect([await isGone(one), await isGone(two)]).toEqual([false, false]);
	});

	test('is gone for every claim once another process wrote over it, though looking records it again', async () => {
		const { store, stamps, isGone } = await claimTwo();
		const [one = '', two = ''] = stamps;
		store.entries = [];
		expect([await isGone(one), await isGone(two), await isGone(one)]).toEqual([true, true, true]);
	});
});

describe('the pause of a claim', () => {
	test.each([
		{ name: '100 ms at least', writesMs: [10, 49, 20], pauseMs: 100 },
		{ name: 'twice as long as the slowest write but one', writesMs: [60, 200, 80], pauseMs: 160 },
		{
			name: 'as long as the last twenty writes say, and not those before',
			writesMs: [90, 95, ...Array<number>(20).fill(51)],
			pauseMs: 102,
		},
	])('is $name', async ({ writesMs, pauseMs }) => {
		const { writer, write } = startWriter(writesMs);
		await write(writesMs.length);
		expect(writer.pauseMs).toBe(pauseMs);
	});

	test('is 3 seconds or longer after a write that took longer than it, and at least five times that write', async () => {
		const { writer, write, helpers } = startWriter([0, 101, 0, 700]);
		const claim = await time.until(writer.record(['key:a'], helpers, true));
		expect(writer.trustedFrom(claim)).toBe(100);
		await write(1);
		expect(writer.trustedFrom(claim)).toBe(101 + 3_000);
		await write(2);
		const end = time.now;
		expect(writer.trustedFrom(claim)).toBe(end + 3_500);
	});
});

test('a write rests after the last one, for as long as the median of the last writes and up to half of it more', async () => {
	const { starts, write } = startWriter([40, 60, 20]);
	await write(4);
	// Math.random() is 0.5: each rest is 1.25 times the median, of 40, then of 60 and 40, then of 60, 40 and 20.
	expect(starts).toEqual([0, 40 + 50, 90 + 60 + 50, 200 + 20 + 50]);
});

describe('a write of this process could have dropped a claim of another one', () => {
	const afterWrites = async (writesMs: readonly number[]) => {
		const { starts, writer, write, helpers } = startWriter(writesMs);
		await write(writesMs.length);
		const endedAt = (starts.at(-1) ?? 0) + (writesMs.at(-1) ?? 0);
		const written = await time.until(writer.record([], helpers));
		return (ms: number) => writer.wasSlowSince({ ...written, startedAt: endedAt + ms });
	};

	test('if it took over 100 ms, for two pauses after it', async () => {
		const wasSlow = await afterWrites([60, 60, 101]);
		expect([wasSlow(240), wasSlow(241)]).toEqual([true, false]);
	});

	test('as long as this process does not trust its own claims', async () => {
		const wasSlow = await afterWrites([0, 101]);
		expect([wasSlow(2_999), wasSlow(3_000)]).toEqual([true, false]);
	});

	test('not if it took 100 ms', async () => {
		const wasSlow = await afterWrites([60, 60, 100]);
		expect(wasSlow(0)).toBe(false);
	});
});

test('a write that gets no answer in 30 seconds fails, and may still drop claims when it is answered', async () => {
	const { store, helpers, writer } = startWriter();
	const claim = await time.until(writer.record(['key:a'], helpers, true));
	const deadline = new AbortController();
	AbortSignal.timeout = () => deadline.signal;
	store.beforeRecord = async () => await time.sleep(40_000);
	void time.sleep(30_000).then(() => deadline.abort());
	const write = time.until(writer.record(['key:b'], helpers));
	await expect(write).rejects.toThrow("n8n's database did not answer within 30 seconds");
	const failedAt = 30_001;
	expect(writer.trustedFrom(claim)).toBe(failedAt + 5 * failedAt);
	await time.run();
	expect(store.entries).toContain('key:b');
	expect(writer.trustedFrom(claim)).toBe(40_000 + 5 * 40_000);
});

test('a stamp is removed when it is a minute old and not in use, and once more in case another process puts it back', async () => {
	const { store, helpers, writer, stamps } = startWriter();
	const { stamp } = await time.until(writer.record(['key:a'], helpers, true));
	const remove = async (inUse: string[] = []) => {
		const before = store.writes;
		await time.until(writer.removeStamps(new Set(inUse), helpers));
		return { writes: store.writes - before, stamps: stamps(), left: writer.stampCount };
	};
	const kept = { writes: 0, stamps: [stamp], left: 1 };
	await time.run(60_000);
	expect(await remove()).toEqual(kept);
	await time.run(1);
	expect(await remove([stamp])).toEqual(kept);
	expect(await remove()).toEqual({ writes: 1, stamps: [], left: 1 });
	store.entries.push(stamp);
	await time.run(60_000);
	expect(await remove()).toEqual(kept);
	await time.run(1);
	expect(await remove()).toEqual({ writes: 1, stamps: [], left: 0 });
});
