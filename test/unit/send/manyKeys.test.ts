import { IdempotencyKeys } from '../../../nodes/PushCampaign/send/idempotencyKeys';
import { KeyStore } from '../../../nodes/PushCampaign/send/keyStore';
import type { SendOutcome } from '../../../nodes/PushCampaign/send/sendOutcome';
import { executeFunctions } from '../execution/support';
import { numbersFrom, useSimulatedTime } from './simulatedTime';

// Runs with thousands of keys, in simulated time.

const time = useSimulatedTime(2, () => numbersFrom(1));

jest.mock('n8n-workflow', () => ({
	...jest.requireActual<object>('n8n-workflow'),
	sleep: async (milliseconds: number) => await time.sleep(milliseconds),
}));

/** n8n's store: it drops the oldest entries, and each access takes about so many milliseconds. */
class LargeStore {
	private readonly entries = new Set<string>();
	writes = 0;

	constructor(private readonly writeMs: number) {}

	readonly checkProcessedAndRecord = async (
		items: unknown[],
		_scope: string,
		{ maxEntries = 0 }: { maxEntries?: number },
	) => {
		await this.write();
		const asked = items.map(String);
		const isNew = asked.map((item) => !this.entries.has(item));
		for (const item of asked) this.entries.add(item);
		const oldest = [...this.entries].slice(0, Math.max(0, this.entries.size - maxEntries));
		for (const item of oldest) this.entries.delete(item);
		return {
			new: asked.filter((_item, index) => isNew[index]),
			processed: asked.filter((_item, index) => !isNew[index]),
		};
	};

	readonly removeProcessed = async (items: unknown[]) => {
		await this.write();
		for (const item of items) this.entries.delete(String(item));
	};

	private async write(): Promise<void> {
		await time.sleep(this.writeMs * (0.8 + 0.4 * Math.random()));
		this.writes += 1;
	}
}

const sent: SendOutcome = { kind: 'done', value: { campaignId: '1', description: 'Created' } };

/**
 * Sends under keys in one run of a new process, ten at once.
 * @returns how many were sent and how many had been sent before
 */
async function run(keys: readonly string[], store: LargeStore, keyStore = new KeyStore()) {
	const { context } = executeFunctions({});
	Object.assign(context.helpers, store);
	const idempotencyKeys = new IdempotencyKeys(context, 'send', () => keyStore);
	for (const key of keys) idempotencyKeys.expect(key);
	const counts = { sent: 0, alreadySent: 0 };
	const waiting = keys.values();
	const sendAll = async () => {
		for (const key of waiting) {
			const attempt = async () => {
				await time.sleep(5);
				return sent;
			};
			const outcome = await idempotencyKeys.once(key, false, attempt);
			if (outcome.kind !== 'done') throw new Error(outcome.kind);
			counts[outcome === sent ? 'sent' : 'alreadySent'] += 1;
		}
	};
	const running = Promise.all(Array.from({ length: 10 }, sendAll));
	await time.until(running.then(async () => await idempotencyKeys.written()));
	return counts;
}

const keysFrom = (from: number, to: number) =>
	Array.from({ length: to - from }, (_, index) => `key ${from + index}`);

test('the newest 10,000 of 20,000 keys of one run are remembered, though n8n drops the oldest while they are rechecked', async () => {
	// At this pace keys are due for a recheck when n8n has dropped them.
	const store = new LargeStore(75);
	expect(await run(keysFrom(0, 20_000), store)).toEqual({ sent: 20_000, alreadySent: 0 });
	expect(await run(keysFrom(10_000, 20_000), store)).toEqual({ sent: 0, alreadySent: 10_000 });
});

test('keys that were sent before are asked for ahead, a hundred at once', async () => {
	const store = new LargeStore(10);
	await run(keysFrom(0, 2_000), store);
	const before = store.writes;
	const keyStore = new KeyStore();
	const again = await run(keysFrom(0, 2_000), store, keyStore);
	expect(again).toEqual({ sent: 0, alreadySent: 2_000 });
	// A key takes five: the claim, two looks at its entries, and two more a while later.
	expect(store.writes - before).toBeLessThan(500);
	expect(keyStore.isIdle).toBe(true);
});
