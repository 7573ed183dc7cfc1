import { EntryWriter } from '../../../nodes/PushCampaign/send/entryWriter';
import { claimKey, claimOnce, takeOver } from '../../../nodes/PushCampaign/send/keyClaims';
import { isContested, isSent } from '../../../nodes/PushCampaign/send/keyEntries';
import { DeduplicationStore, executeFunctions } from '../execution/support';
import { useSimulatedTime } from './simulatedTime';

const time = useSimulatedTime();

jest.mock('n8n-workflow', () => ({
	...jest.requireActual<object>('n8n-workflow'),
	sleep: async (milliseconds: number) => await time.sleep(milliseconds),
}));

const claimed = ['key:a'];
const sent = ['key:a', 'sent:a', 'sent again:a'];
const anyStamp: unknown = expect.stringMatching(/^stamp:/);
const ours = (entry = 'key:a') => ({ kind: 'ours', entry, stamp: anyStamp });

/** A process that writes to n8n's store, in which these entries are already. */
function startProcess(entries: readonly string[] = []) {
	const store = new DeduplicationStore();
	store.entries = [...entries];
	const { helpers } = executeFunctions({ store }).context;
	/** What was recorded, or asked for by recording it, and when. */
	const records: Array<{ at: number; items: string[] }> = [];
	const { checkProcessedAndRecord } = helpers;
	helpers.checkProcessedAndRecord = async (items, ...options) => {
		records.push({ at: time.now, items: items.map(String) });
		return await checkProcessedAndRecord(items, ...options);
	};
	const asked = (entry: string) =>
		records.filter(({ items }) => items.includes(entry)).map(({ at }) => at);
	/** What another process writes at a time. */
	const writeAt = (at: number, write: (entries: string[]) => string[]) => {
		void time.sleep(at).then(() => {
			store.entries = write(store.entries);
		});
	};
	const left = async () => {
		await time.run();
		return store.entries.filter((entry) => !entry.startsWith('stamp:'));
	};
	return { store, helpers, writer: new EntryWriter(), asked, writeAt, left };
}

/** Does something before each record, by its number from 0. */
function beforeRecords(store: DeduplicationStore, act: (number: number) => unknown): void {
	let number = 0;
	store.beforeRecord = async () => {
		await act(number++);
	};
}

describe('asking for a key once', () => {
	const ask = async (
		{ writer, helpers }: ReturnType<typeof startProcess>,
		wasHeld = false,
	): Promise<unknown> => await time.until(claimOnce('a', writer, helpers, { wasHeld }));

	test('claims it if it is free', async () => {
		const started = startProcess();
		expect(await ask(started)).toEqual(ours());
		expect(await started.left()).toEqual(claimed);
	});

	test.each([
		{ name: 'that it was sent', entries: sent, kind: 'sent' },
		{ name: 'that it is claimed', entries: claimed, kind: 'held' },
		{
			name: 'a key as claimed if the last entry is missing',
			entries: sent.slice(0, 2),
			kind: 'held',
		},
	])('finds $name, and leaves no trace of the question', async ({ entries, kind }) => {
		const started = startProcess(entries);
		expect(await ask(started)).toEqual({ kind });
		expect(await started.left()).toEqual(kind === 'sent' ? sent : claimed);
	});

	test.each([
		{ name: 'claims it again if another process dropped the claim', entries: [], then: ours() },
		{
			name: 'finds it held if another process claimed it',
			entries: claimed,
			then: { kind: 'held' },
		},
	])('$name before the claim was trusted', async ({ entries, then }) => {
		const started = startProcess();
		// The first record is the claim, the second looks for its stamp.
		beforeRecords(started.store, (number) => {
			if (number === 1) started.store.entries = [...entries];
		});
		expect(await ask(started)).toEqual(then);
		expect(await started.left()).toEqual(claimed);
	});

	test('gives up a claim that was overwritten eleven times', async () => {
		const started = startProcess();
		beforeRecords(started.store, () => {
			started.store.entries = [];
		});
		expect(await ask(started)).toEqual({ kind: 'held' });
		expect(started.asked('key:a')).toHaveLength(11);
	});

	test.each([
		{ writeMs: 6_000, then: ours(), name: 'waits up to 30 seconds until it can trust its claim' },
		{ writeMs: 6_001, then: { kind: 'held' }, name: 'gives up a claim that takes longer to trust' },
	])('$name after a slow write', async ({ writeMs, then }) => {
		const started = startProcess();
		beforeRecords(started.store, async (number) => {
			if (number === 0) await time.sleep(writeMs);
		});
		expect(await ask(started)).toEqual(then);
		// Another process never sends under a claim that was given up.
		expect(await started.left()).toEqual(claimed);
	});

	describe.each([
		{ name: 'if it was held a moment ago', wasHeld: true, writeMs: 0 },
		{ name: 'if its write was slow', wasHeld: false, writeMs: 101 },
	])('$name, waits three seconds for what another process records', ({ wasHeld, writeMs }) => {
		test.each([
			{ name: 'nothing: the key is ours', entries: [], then: ours() },
			{ name: 'that it was sent', entries: sent, then: { kind: 'sent' } },
			{ name: 'that it is contested', entries: ['contested:a'], then: { kind: 'held' } },
		])('$name', async ({ entries, then }) => {
			const started = startProcess();
			beforeRecords(started.store, async (number) => {
				if (number === 0) await time.sleep(writeMs);
			});
			started.writeAt(2_900, (before) => [...new Set([...before, ...entries])]);
			expect(await ask(started, wasHeld)).toEqual(then);
			expect(time.now).toBeGreaterThanOrEqual(3_000);
			expect(await started.left()).toEqual([...new Set([...claimed, ...entries])]);
		});
	});
});

describe('a key that somebody else has claimed', () => {
	const claim = async ({ writer, helpers }: ReturnType<typeof startProcess>): Promise<unknown> =>
		await time.until(claimKey('a', writer, helpers));

	test('is asked for five times more, with longer and longer pauses, and is held then', async () => {
		const started = startProcess(claimed);
		expect(await claim(started)).toEqual({ kind: 'held' });
		expect(started.asked('key:a')).toEqual([0, 250, 750, 1_750, 3_750, 7_750]);
	});

	test.each([
		{
			name: 'is claimed three seconds after it was found free',
			entries: [],
			at: 3_750,
			then: ours(),
		},
		{
			name: 'is found sent once its holder has sent',
			entries: sent,
			at: 750,
			then: { kind: 'sent' },
		},
	])('$name', async ({ entries, at, then }) => {
		const started = startProcess(claimed);
		started.writeAt(600, () => [...entries]);
		expect(await claim(started)).toEqual(then);
		expect(time.now).toBeGreaterThanOrEqual(at);
		expect(time.now).toBeLessThan(at + 1_000);
	});
});

describe('a key that is taken over to send under it once more', () => {
	const take = async ({ writer, helpers }: ReturnType<typeof startProcess>): Promise<unknown> =>
		await time.until(takeOver('a', writer, helpers));
	const takenOver = (rounds: number) =>
		Array.from({ length: rounds }, (_, index) => `take over ${index + 1}:a`);

	test.each([
		{ name: 'has an entry of its own', rounds: 0, then: ours('take over 1:a') },
		{
			name: 'has the next entry if the process that took it over first has died',
			rounds: 1,
			then: ours('take over 2:a'),
		},
		{ name: 'can be taken over five times', rounds: 4, then: ours('take over 5:a') },
		{
			name: 'is held if five processes that took it over have died',
			rounds: 5,
			then: { kind: 'held' },
		},
	])('$name', async ({ rounds, then }) => {
		const started = startProcess([...claimed, ...takenOver(rounds)]);
		expect(await take(started)).toEqual(then);
		expect(await started.left()).toEqual([...claimed, ...takenOver(Math.min(5, rounds + 1))]);
	});

	test('is found sent if it was sent before', async () => {
		const started = startProcess(sent);
		expect(await take(started)).toEqual({ kind: 'sent' });
		expect(await started.left()).toEqual(sent);
	});

	test('is found sent if the process that took it over sends meanwhile', async () => {
		const started = startProcess([...claimed, ...takenOver(1)]);
		started.writeAt(600, () => [...sent, ...takenOver(1)]);
		expect(await take(started)).toEqual({ kind: 'sent' });
		expect(time.now).toBeLessThan(2_000);
	});
});

describe('a question about a key', () => {
	test('counts it as sent only if it still looks so after three pauses of a claim', async () => {
		const started = startProcess(sent);
		// Two other processes asked at this moment, and remove their traces.
		started.writeAt(299, () => [...claimed]);
		expect(await time.until(isSent('a', started.writer, started.helpers))).toBe(false);
		expect(await started.left()).toEqual(claimed);
	});

	test.each([
		{ name: 'once more if another process put it back', puttingBack: 1, removals: 2 },
		{ name: 'ten times if other processes put it back each time', puttingBack: 99, removals: 10 },
	])('removes its trace $name', async ({ puttingBack, removals }) => {
		const started = startProcess();
		const removed: string[][] = [];
		const { removeProcessed } = started.helpers;
		started.helpers.removeProcessed = async (items, ...options) => {
			removed.push(items.map(String));
			await removeProcessed(items, ...options);
		};
		// Of the records after the question, each second one looks for a stamp.
		beforeRecords(started.store, (number) => {
			if (number > 0 && number % 2 === 0 && number <= 2 * puttingBack)
				started.store.entries = ['contested:a'];
		});
		expect(await time.until(isContested('a', started.writer, started.helpers))).toBe(false);
		expect(await started.left()).toEqual([]);
		expect(removed).toEqual(Array(removals).fill(['contested:a']));
	});
});
