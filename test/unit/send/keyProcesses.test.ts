import * as fc from 'fast-check';
import { IdempotencyKeys } from '../../../nodes/PushCampaign/send/idempotencyKeys';
import { KeyStore } from '../../../nodes/PushCampaign/send/keyStore';
import type { SendOutcome } from '../../../nodes/PushCampaign/send/sendOutcome';
import { executeFunctions } from '../execution/support';
import { install, numbersFrom, SimulatedTime } from './simulatedTime';

// Several processes that send under one key at the same time, in simulated time: the model by which the rules of
// the claims were found, with the real code in it. test/host/queue does the same with two real workers.

let time = new SimulatedTime(2);

jest.setTimeout(600_000);
jest.mock('n8n-workflow', () => ({
	...jest.requireActual<object>('n8n-workflow'),
	sleep: async (milliseconds: number) => await time.sleep(milliseconds),
}));
let random = Math.random;
let restore = () => {};
beforeAll(() => {
	restore = install(
		() => time.now,
		() => random(),
	);
});
afterAll(() => restore());

/** How a process writes. */
interface Speed {
	/** How long a write takes, in milliseconds. */
	readonly fromMs: number;
	readonly toMs: number;
	/** The share of writes that take 100 ms to 2.1 s instead. */
	readonly slowShare: number;
}

/** What all processes read and write. */
class Shared {
	entries: readonly string[] = [];
}

/** n8n's store as one process has it: read and written whole, each access with a duration of its own. */
class SlowStore {
	constructor(
		private readonly shared: Shared,
		private readonly speed: Speed,
		private readonly random: () => number,
	) {}

	readonly checkProcessedAndRecord = async (items: unknown[]) => {
		const recorded = items.map(String);
		const before = await this.change((entries) => [
			...entries,
			...recorded.filter((item) => !entries.includes(item)),
		]);
		return {
			new: recorded.filter((item) => !before.includes(item)),
			processed: recorded.filter((item) => before.includes(item)),
		};
	};

	readonly removeProcessed = async (items: unknown[]) => {
		await this.change((entries) => entries.filter((entry) => !items.includes(entry)));
	};

	private async change(changed: (entries: readonly string[]) => readonly string[]) {
		await time.sleep(1 + this.random() * 5);
		const before = this.shared.entries;
		const { fromMs, toMs, slowShare } = this.speed;
		const isSlow = this.random() < slowShare;
		await time.sleep(
			isSlow ? 100 + this.random() * 2000 : fromMs + this.random() * (toMs - fromMs),
		);
		this.shared.entries = changed(before);
		await time.sleep(1 + this.random() * 3);
		return before;
	}
}

const sent: SendOutcome = { kind: 'done', value: { campaignId: '1', description: 'Created' } };

const nameOf = (outcome: SendOutcome) =>
	outcome.kind === 'done' && outcome.value === 'alreadySent' ? 'alreadySent' : outcome.kind;

/** Has processes send under the same key and under keys of their own, and tells how that ended. */
async function sendInProcesses(seed: number, speeds: readonly Speed[]) {
	time = new SimulatedTime(2);
	random = numbersFrom(seed);
	const shared = new Shared();
	const requested: string[] = [];
	const ends: string[] = [];
	for (const [id, speed] of speeds.entries()) {
		const keyStore = new KeyStore();
		const slowStore = new SlowStore(shared, speed, random);
		const send = async (key: string, afterMs: number) => {
			await time.sleep(afterMs);
			const { context } = executeFunctions({});
			Object.assign(context.helpers, slowStore);
			const keys = new IdempotencyKeys(context, 'send', () => keyStore);
			const outcome = await keys.once(key, false, async () => {
				requested.push(key);
				await time.sleep(50 + random() * 100);
				return sent;
			});
			await keys.written();
			if (key === 'same') ends.push(outcome === sent ? 'sent' : nameOf(outcome));
		};
		for (let other = 0; other < 4; other += 1) void send(`${id} ${other}`, random() * 1500);
		void send('same', 300 + random() * 400);
	}
	await time.run();
	return {
		requests: requested.filter((key) => key === 'same').length,
		ends: ends.sort(),
		others: new Set(requested).size - 1,
		stamps: shared.entries.filter((entry) => entry.startsWith('stamp:')).length,
	};
}

const same = (processes: number, slowShare: number): Speed[] =>
	Array.from({ length: processes }, () => ({ fromMs: 5, toMs: 45, slowShare }));

/** So many of each kind; KEY_TRIALS=1000 tries more. */
const trials = Number(process.env['KEY_TRIALS'] ?? 25);

/** Seeds with which both processes sent before they looked at what the other one recorded again. */
const sentTwice = [264, 848, 969, 2578, 3081, 4084, 4818].map((number): [number] => [
	7919 * number,
]);

describe.each([{ processes: 2 }, { processes: 3 }])(
	'$processes processes that send under one key at the same time',
	({ processes }) => {
		test('send it once, and all others know it, when each write takes 5 to 45 ms', async () => {
			await fc.assert(
				fc.asyncProperty(fc.nat(), async (seed) => {
					const { requests, ends, stamps } = await sendInProcesses(seed, same(processes, 0));
					expect(requests).toBe(1);
					expect(ends).toEqual([...Array<string>(processes - 1).fill('alreadySent'), 'sent']);
					// A write that began before a stamp was removed puts it back: a few may be left.
					expect(stamps).toBeLessThanOrEqual(10);
				}),
				{ numRuns: trials },
			);
		});

		test('never send it twice when one write in fifty takes up to two seconds', async () => {
			await fc.assert(
				fc.asyncProperty(fc.nat(), async (seed) => {
					const { requests } = await sendInProcesses(seed, same(processes, 0.02));
					expect(requests).toBeLessThanOrEqual(1);
				}),
				{ numRuns: trials },
			);
		});
	},
);

test('two processes never send under one key twice, even if one write in ten takes up to two seconds', async () => {
	await fc.assert(
		fc.asyncProperty(fc.nat(), async (seed) => {
			const { requests } = await sendInProcesses(seed, same(2, 0.1));
			expect(requests).toBeLessThanOrEqual(1);
		}),
		{ numRuns: trials, examples: sentTwice },
	);
});

// As with thousands of keys: each write takes a while, so what another process wrote over is written again late.
test('two processes never send under one key twice if all writes take 40 to 70 ms, and some up to two seconds', async () => {
	await fc.assert(
		fc.asyncProperty(fc.nat(), async (seed) => {
			const speed = { fromMs: 40, toMs: 70, slowShare: 0.1 };
			const { requests } = await sendInProcesses(seed, [speed, speed]);
			expect(requests).toBeLessThanOrEqual(1);
		}),
		{ numRuns: trials, examples: sentTwice },
	);
});
