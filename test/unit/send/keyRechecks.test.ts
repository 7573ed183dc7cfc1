import { EntryWriter } from '../../../nodes/PushCampaign/send/entryWriter';
import { sentEntries } from '../../../nodes/PushCampaign/send/keyEntries';
import type { KeyState } from '../../../nodes/PushCampaign/send/keyRechecks';
import { KeyRechecks } from '../../../nodes/PushCampaign/send/keyRechecks';
import { DeduplicationStore, executeFunctions } from '../execution/support';
import { useSimulatedTime } from './simulatedTime';

const time = useSimulatedTime();

jest.mock('n8n-workflow', () => ({
	...jest.requireActual<object>('n8n-workflow'),
	sleep: async (milliseconds: number) => await time.sleep(milliseconds),
}));

const claim = { kind: 'ours', entry: 'key:a', stamp: 'stamp:a' } as const;

/** Rechecks of a key whose entries another process has written over: n8n's store is empty. */
function startRechecks() {
	const store = new DeduplicationStore();
	const { context } = executeFunctions({ store });
	const lost: string[] = [];
	const writer = new EntryWriter();
	const rechecks = new KeyRechecks(writer, (key) => lost.push(key));
	const note = (state: KeyState, key = 'a') => rechecks.note(key, state, context);
	return { store, context, lost, writer, rechecks, note };
}

test('a claim that is not used yet counts as lost when another process wrote over it', async () => {
	const { store, lost, rechecks, note } = startRechecks();
	note({ kind: 'reserved', claim });
	await time.run(500);
	expect(lost).toEqual(['a']);
	// Looking for it records it again.
	expect(store.entries).toEqual(['stamp:a']);
	expect(rechecks.stateOf('a')).toBeUndefined();
});

test('a claim that is used is recorded again, with the note that its key is contested', async () => {
	const { store, lost, rechecks, note } = startRechecks();
	note({ kind: 'inFlight', claim });
	await time.run(500);
	expect(lost).toEqual([]);
	expect(store.entries).toEqual(['stamp:a', 'key:a', 'contested:a']);
	expect(rechecks.stateOf('a')).toBe('inFlight');
});

test('a recheck decides nothing about a key whose state has changed since it began', async () => {
	const { store, lost, rechecks, note } = startRechecks();
	note({ kind: 'reserved', claim });
	store.beforeRecord = () => {
		store.beforeRecord = () => undefined;
		note({ kind: 'inFlight', claim });
	};
	await time.run(500);
	expect(lost).toEqual([]);
	expect(rechecks.stateOf('a')).toBe('inFlight');
});

test('a key that was sent is recorded again in whole', async () => {
	const { store, note } = startRechecks();
	note({ kind: 'sent' });
	await time.run(500);
	expect(store.entries).toEqual(['key:a', 'sent:a', 'sent again:a']);
});

test('a claim whose stamp alone is gone was overwritten, too', async () => {
	const { store, note } = startRechecks();
	store.entries = ['key:a'];
	note({ kind: 'inFlight', claim });
	await time.run(500);
	expect(store.entries).toEqual(['key:a', 'stamp:a', 'contested:a']);
});

test('a key is not rechecked within a quarter of a second after it was written', async () => {
	const { store, note } = startRechecks();
	note({ kind: 'sent' });
	await time.run(300);
	note({ kind: 'sent' }, 'b');
	// Rechecks come every 312 milliseconds at first.
	await time.run(20);
	expect(store.entries).toEqual(sentEntries('a'));
	await time.run(312);
	expect(store.entries).toEqual([...sentEntries('a'), ...sentEntries('b')]);
});

test('a key that was overwritten late is rechecked as often as a new one', async () => {
	const { store, note } = startRechecks();
	note({ kind: 'sent' });
	await time.run(25_000);
	for (let overwrites = 0; overwrites < 2; overwrites += 1) {
		store.entries = [];
		await time.run(17_000);
		expect(store.entries).toEqual(sentEntries('a'));
	}
});

test('a claim is rechecked at least every 4 seconds, and keeps its stamp, as long as it is used', async () => {
	const { store, context, writer, rechecks, note } = startRechecks();
	const { stamp } = await time.until(writer.record(['key:a'], context.helpers, true));
	note({ kind: 'inFlight', claim: { ...claim, stamp } });
	await time.run(130_000);
	expect(store.entries).toEqual(['key:a', stamp]);
	store.entries = [];
	await time.run(4_400);
	expect(store.entries).toEqual([stamp, 'key:a', 'contested:a']);
	rechecks.forget('a');
	await time.run();
	expect(store.entries).toEqual(['key:a', 'contested:a']);
	expect(rechecks.isIdle).toBe(true);
});

test('the newest 5,000 keys and those in use are rechecked, a thousand with one write', async () => {
	const { context, rechecks, note } = startRechecks();
	const writes: string[][] = [];
	context.helpers.checkProcessedAndRecord = async (items) => {
		writes.push(items.map(String));
		// One of the last write is free by then.
		rechecks.forget('4999');
		return await Promise.resolve({ new: [], processed: items });
	};
	note({ kind: 'inFlight', claim }, 'used');
	for (let key = 0; key <= 5_000; key += 1) note({ kind: 'sent' }, String(key));
	await time.run(500);
	expect(writes.map(({ length }) => length)).toEqual([
		2 + 999 * 3,
		...[3_000, 3_000, 3_000],
		999 * 3,
		3,
	]);
	const rechecked = new Set(writes.flat());
	expect(rechecked).toContain('key:1');
	expect(rechecked).not.toContain('key:0');
	expect(rechecked).not.toContain('key:4999');
});
