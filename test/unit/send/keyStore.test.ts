import type { OwnClaim } from '../../../nodes/PushCampaign/send/keyClaims';
import { sentEntries } from '../../../nodes/PushCampaign/send/keyEntries';
import { KeyStore } from '../../../nodes/PushCampaign/send/keyStore';
import { DeduplicationStore, executeFunctions } from '../execution/support';
import { useSimulatedTime } from './simulatedTime';

const time = useSimulatedTime();

jest.mock('n8n-workflow', () => ({
	...jest.requireActual<object>('n8n-workflow'),
	sleep: async (milliseconds: number) => await time.sleep(milliseconds),
}));

/** The keys of a node, in whose store in n8n these entries are already. */
function startStore(entries: readonly string[] = []) {
	const store = new DeduplicationStore();
	store.entries = [...entries];
	const { context } = executeFunctions({ store });
	const keys = new KeyStore();
	const claim = async (resendUnknown = false) =>
		await time.until(keys.claim('a', resendUnknown, context));
	const claimOwn = async (resendUnknown = false): Promise<OwnClaim> => {
		const claimed = await claim(resendUnknown);
		if (claimed.kind !== 'ours') throw new TypeError(claimed.kind);
		return claimed;
	};
	const left = () => store.entries.filter((entry) => !entry.startsWith('stamp:'));
	return { store, context, keys, claim, claimOwn, left };
}

const isOurs: unknown = expect.objectContaining({ kind: 'ours' });
const held = { kind: 'held' };
const sent = { kind: 'sent' };

describe('a claim that is made ahead of its send', () => {
	test('is used by the send without another write', async () => {
		const { store, keys, context, claim } = startStore();
		keys.reserve('a', context);
		await time.run(200);
		expect(keys.isClaimed('a')).toBe(true);
		const { writes } = store;
		expect(await claim()).toEqual(isOurs);
		expect(store.writes).toBe(writes);
	});

	test('is made again if another process wrote over it', async () => {
		const { store, keys, context, claim } = startStore();
		keys.reserve('a', context);
		await time.run(200);
		store.entries = sentEntries('a');
		await time.run(500);
		expect(keys.isClaimed('a')).toBe(false);
		expect(await claim()).toEqual(sent);
	});

	test('is made again if n8n could not write it', async () => {
		const { store, keys, context, claim } = startStore();
		store.refusals = [new Error('database is locked')];
		keys.reserve('a', context);
		await time.run(200);
		expect(keys.isClaimed('a')).toBe(false);
		expect(await claim()).toEqual(isOurs);
	});

	test('is asked for once more if somebody else held the key when it was made', async () => {
		const { store, keys, context, claim } = startStore(['key:a']);
		keys.reserve('a', context);
		await time.run(10_000);
		expect(keys.isClaimed('a')).toBe(true);
		store.entries = [];
		expect(await claim()).toEqual(isOurs);
	});

	test('is freed once none of the runs that it was made for needs it any more', async () => {
		const { keys, context, left } = startStore();
		keys.reserve('a', context);
		keys.reserve('a', context);
		await time.run(200);
		await time.until(keys.release('a', context));
		expect(left()).toEqual(['key:a']);
		await time.until(keys.release('a', context));
		expect(left()).toEqual([]);
		await time.run();
		expect(keys.isIdle).toBe(true);
	});

	test('is freed as soon as it is made if its run does not need it any more', async () => {
		const { keys, context, left } = startStore();
		keys.reserve('a', context);
		expect(keys.isIdle).toBe(false);
		await keys.release('a', context);
		await time.run(200);
		expect(left()).toEqual([]);
	});

	test('stays for the next try if the service refused its send for now', async () => {
		const { store, keys, context, claim, claimOwn } = startStore();
		const own = await claimOwn();
		keys.start('a', own, context);
		keys.keep('a', own, context);
		expect(await claim()).toBe(own);
		store.entries = sentEntries('a');
		await time.run(500);
		expect(await claim()).toEqual(sent);
	});

	test('can be released though nobody made it', async () => {
		const { store, keys, context } = startStore();
		await keys.release('a', context);
		expect(store.writes).toBe(0);
	});
});

describe('a key of this process', () => {
	test('whose request has left is contested if another process wrote over its claim', async () => {
		const { store, keys, context, claimOwn, left } = startStore();
		keys.start('a', await claimOwn(), context);
		store.entries = [];
		await time.run(500);
		expect(left()).toEqual(['key:a', 'contested:a']);
	});

	test('that was sent is known as sent without asking n8n', async () => {
		const { store, keys, context, claim, claimOwn, left } = startStore();
		await time.until(keys.settle('a', await claimOwn(), 'sent', context));
		expect(left()).toEqual(sentEntries('a'));
		const { writes } = store;
		expect(await claim()).toEqual(sent);
		expect(store.writes).toBe(writes);
	});

	test('whose send is unknown is held at once, and can be claimed by a send that may repeat it', async () => {
		const { keys, context, claim, claimOwn } = startStore();
		await time.until(keys.settle('a', await claimOwn(), 'unknown', context));
		const askedAt = time.now;
		expect(await claim()).toEqual(held);
		expect(time.now - askedAt).toBeLessThan(250);
		expect(await claim(true)).toMatchObject({ kind: 'ours', entry: 'take over 1:a' });
	});

	test('that was not sent is free', async () => {
		const { keys, context, claim, claimOwn, left } = startStore();
		await time.until(keys.settle('a', await claimOwn(), 'free', context));
		expect(left()).toEqual([]);
		expect(await claim()).toEqual(isOurs);
	});

	test.each([
		{ name: 'is sent if the repeated send was made', change: 'sent', entries: sentEntries('a') },
		{ name: 'is as unknown as before if it was refused', change: 'free', entries: ['key:a'] },
		{ name: 'is unknown if nobody knows', change: 'unknown', entries: ['key:a'] },
	] as const)('that is repeated $name', async ({ change, entries }) => {
		const { keys, context, claimOwn, left } = startStore(['key:a']);
		await time.until(keys.settle('a', await claimOwn(true), change, context));
		expect(left()).toEqual(entries);
	});
});
