import { EntryWriter } from '../../../nodes/PushCampaign/send/entryWriter';
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
	const rechecks = new KeyRechecks(new EntryWriter(), (key) => lost.push(key));
	const note = (state: KeyState) => rechecks.note('a', state, context);
	return { store, lost, rechecks, note };
}

test('a claim that is not used yet counts as lost when another process wrote over it', async () => {
	const { lost, rechecks, note } = startRechecks();
	note({ kind: 'reserved', claim });
	await time.run(500);
	expect(lost).toEqual(['a']);
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
