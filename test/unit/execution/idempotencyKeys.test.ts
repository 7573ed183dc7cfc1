import * as fc from 'fast-check';
import type { SendOutcome } from '../../../nodes/PushCampaign/delivery/ledger';
import { IdempotencyKeys } from '../../../nodes/PushCampaign/execution/idempotencyKeys';
import {
	connectionLostProblem,
	failureProblem,
} from '../../../nodes/PushCampaign/service/failures';
import { DeduplicationStore, executeFunctions } from './support';

// One of this file's own, whose `sleep` heeds fake timers.
jest.unmock('n8n-workflow');

const sent: SendOutcome = { kind: 'done', value: { campaignId: '1', description: 'Created' } };
const lost: SendOutcome = { kind: 'failed', problem: connectionLostProblem('send') };
const refused: SendOutcome = {
	kind: 'failed',
	problem: failureProblem({ status: 'failure', type: 'bad_request' }, 'send'),
};
const alreadySent = { kind: 'done', value: 'alreadySent', wasRequested: false };

let nodes = 0;

/** A node of its own, and executions of it that share n8n's store. */
function useNode(signal?: AbortSignal) {
	const store = new DeduplicationStore();
	const id = `node-${(nodes += 1)}`;
	const requested: string[] = [];
	const warnings: string[][] = [];
	const execution = () => {
		const functions = executeFunctions({ store, node: { id } });
		warnings.push(functions.warnings);
		const keys = new IdempotencyKeys(functions.context, signal);
		const send = async (key: string, outcome: SendOutcome = sent, resendUnknown = false) =>
			await keys.once(key, resendUnknown, async () => {
				requested.push(key);
				await new Promise((resolve) => setImmediate(resolve));
				return outcome;
			});
		return { keys, send };
	};
	/** One send in an execution of its own. */
	const sendOnce = async (...args: Parameters<ReturnType<typeof execution>['send']>) => {
		const { keys, send } = execution();
		const outcome = await send(...args);
		await keys.written();
		return outcome;
	};
	return { store, requested, execution, sendOnce, warnings: () => warnings.flat() };
}

describe('a key', () => {
	test('lets a send out once', async () => {
		const { requested, sendOnce } = useNode();
		expect(await sendOnce('a')).toEqual(sent);
		expect(await sendOnce('a')).toEqual(alreadySent);
		expect(await sendOnce('a', sent, true)).toEqual(alreadySent);
		expect(await sendOnce('b')).toEqual(sent);
		expect(requested).toEqual(['a', 'b']);
	});

	test('is free again where it was not sent', async () => {
		const { store, requested, sendOnce } = useNode();
		for (const outcome of [refused, { kind: 'notStarted' } as const]) {
			expect(await sendOnce('a', outcome)).toEqual(outcome);
			expect(store.entries).toEqual([]);
		}
		expect(await sendOnce('a')).toEqual(sent);
		expect(requested).toHaveLength(3);
	});

	test('stays claimed where it is unknown, until it is to be sent again', async () => {
		const { requested, sendOnce } = useNode();
		expect(await sendOnce('a', lost)).toEqual(lost);
		const again = await sendOnce('a');
		expect(again).toMatchObject({ kind: 'failed', problem: { outcome: 'unknown' } });
		expect(JSON.stringify(again)).toContain('under the idempotency key \\"a\\"');
		expect(requested).toHaveLength(1);
		expect(await sendOnce('a', sent, true)).toEqual(sent);
		expect(await sendOnce('a')).toEqual(alreadySent);
		expect(requested).toHaveLength(2);
	});

	test('is claimed before the request leaves: what is killed then is unknown afterwards', async () => {
		const { store, execution, sendOnce } = useNode();
		let hasLeft = () => {};
		const left = new Promise<void>((resolve) => (hasLeft = resolve));
		void execution().keys.once('a', false, async () => {
			hasLeft();
			return await new Promise<never>(() => undefined);
		});
		await left;
		const killed = useNode();
		killed.store.entries = [...store.entries];
		expect(await killed.sendOnce('a')).toMatchObject({ problem: { outcome: 'unknown' } });
		expect(killed.requested).toEqual([]);
		expect(await sendOnce('b')).toEqual(sent);
	});

	test('that was forgotten while its send was not known to be done counts as unknown', async () => {
		const { store, sendOnce } = useNode();
		await sendOnce('a', lost);
		store.entries = store.entries.slice(1);
		expect(await sendOnce('a')).toMatchObject({ problem: { outcome: 'unknown' } });
	});
});

describe('at the same moment', () => {
	test('one execution sends and the others wait for its outcome', async () => {
		const { requested, sendOnce } = useNode();
		const outcomes = await Promise.all([1, 2, 3].map(async () => await sendOnce('a')));
		expect(outcomes).toEqual([sent, alreadySent, alreadySent]);
		expect(requested).toEqual(['a']);
	});

	test('what is unknown to one is unknown to all, also where they would send it again', async () => {
		const { requested, sendOnce } = useNode();
		const outcomes = await Promise.all([sendOnce('a', lost), sendOnce('a', sent, true)]);
		expect(outcomes).toEqual([lost, lost]);
		expect(requested).toEqual(['a']);
	});

	test('what one was refused the next one tries', async () => {
		const { requested, sendOnce } = useNode();
		const outcomes = await Promise.all([sendOnce('a', refused), sendOnce('a'), sendOnce('a')]);
		expect(outcomes).toEqual([refused, sent, alreadySent]);
		expect(requested).toEqual(['a', 'a']);
	});

	test('the claims of an execution hold, whatever other nodes begin', async () => {
		const { requested, execution, sendOnce } = useNode();
		let answer = () => {};
		const first = execution().keys.once('a', false, async () => {
			requested.push('a');
			await new Promise<void>((resolve) => (answer = resolve));
			return sent;
		});
		await useNode().sendOnce('a');
		const second = sendOnce('a');
		answer();
		expect(await Promise.all([first, second])).toEqual([sent, alreadySent]);
		expect(requested).toEqual(['a']);
	});

	test('n8n’s entries are written by one write at a time, and none writes nothing', async () => {
		const { store, execution } = useNode();
		const { checkProcessedAndRecord, removeProcessed } = store;
		const written: number[] = [];
		let underWay = 0;
		// Looked at in the end: what the store throws is taken for a refusal.
		let mostUnderWay = 0;
		const alone = async <Value>(items: readonly unknown[], write: () => Promise<Value>) => {
			underWay += 1;
			mostUnderWay = Math.max(mostUnderWay, underWay);
			written.push(items.length);
			const value = await write();
			underWay -= 1;
			return value;
		};
		store.checkProcessedAndRecord = async (...args) =>
			await alone(args[0], async () => await checkProcessedAndRecord(...args));
		store.removeProcessed = async (...args) =>
			await alone(args[0], async () => await removeProcessed(...args));
		const sends: Array<Promise<SendOutcome>> = [];
		const executions = [execution(), execution()];
		for (let key = 0; key < 20; key += 1) {
			for (const { send } of executions) {
				sends.push(send(String(key), key % 3 === 0 ? refused : sent));
				await new Promise((resolve) => setImmediate(resolve));
			}
		}
		await Promise.all(sends);
		await Promise.all(executions.map(async ({ keys }) => await keys.written()));
		expect(mostUnderWay).toBe(1);
		expect(Math.min(...written)).toBeGreaterThan(0);
	});

	test('what another process wrote over is recorded once more with what came of it', async () => {
		const { store, requested, sendOnce } = useNode();
		const { checkProcessedAndRecord } = store;
		let isFirst = true;
		store.checkProcessedAndRecord = async (...args) => {
			const answer = await checkProcessedAndRecord(...args);
			if (isFirst) store.entries = [];
			isFirst = false;
			return answer;
		};
		expect(await sendOnce('a')).toEqual(sent);
		expect(await sendOnce('a')).toEqual(alreadySent);
		expect(requested).toEqual(['a']);
	});

	test('claims are written together', async () => {
		const { store, execution } = useNode();
		const { keys, send } = execution();
		const all = Array.from({ length: 50 }, (_, index) => `key ${index}`);
		const outcomes = await Promise.all(all.map(async (key) => await send(key)));
		await keys.written();
		expect(outcomes).toEqual(all.map(() => sent));
		expect(store.entries).toEqual(all.map((key) => `key:${key}`));
		// One for the claims, two for what came of them; a few come one turn later.
		expect(store.writes).toBeLessThan(12);
	});

	test('where a write takes long, what came of sends is written with every third of the claims', async () => {
		jest.useFakeTimers();
		try {
			const { store, execution } = useNode();
			const accesses = { record: 0, remove: 0 };
			const { checkProcessedAndRecord, removeProcessed } = store;
			const access = async (kind: keyof typeof accesses) => {
				accesses[kind] += 1;
				await new Promise((resolve) => setTimeout(resolve, 500));
			};
			store.checkProcessedAndRecord = async (...args) => {
				await access('record');
				return await checkProcessedAndRecord(...args);
			};
			store.removeProcessed = async (...args) => {
				await access('remove');
				await removeProcessed(...args);
			};
			const { keys } = execution();
			for (let key = 0; key < 300; key++) {
				void keys.once(String(key), false, async () => await Promise.resolve(sent));
				await jest.advanceTimersByTimeAsync(100);
			}
			expect(accesses.record).toBeGreaterThan(30);
			expect(accesses.remove).toBeGreaterThan(accesses.record / 6);
			expect(accesses.remove).toBeLessThan(accesses.record / 2);
			await jest.advanceTimersByTimeAsync(10_000);
			expect(store.entries.filter((entry) => !entry.startsWith('key:'))).toEqual([]);
		} finally {
			jest.useRealTimers();
		}
	});

	test('a user who stops keeps from leaving what waits for its claim', async () => {
		const stop = new AbortController();
		const { store, requested, sendOnce } = useNode(stop.signal);
		const sending = sendOnce('a');
		stop.abort();
		expect(await sending).toEqual({ kind: 'notStarted' });
		expect(requested).toEqual([]);
		expect(store.entries).toEqual([]);
	});
});

describe('a store that refuses', () => {
	test('lets nothing leave', async () => {
		const { store, requested, sendOnce } = useNode();
		store.refusals = [new Error('SQLITE_FULL: database or disk is full')];
		const outcome = await sendOnce('a');
		const invalid = outcome.kind === 'invalid' ? outcome.invalid : undefined;
		expect(invalid?.message).toBe(
			"Idempotency Key could not be saved in n8n's database: SQLITE_FULL: database or disk is full",
		);
		expect(invalid?.advice).toMatch(/^It was not sent/);
		expect(requested).toEqual([]);
		expect(await sendOnce('a')).toEqual(sent);
	});

	test('and one that records only a part of it, too', async () => {
		const { store, requested, sendOnce } = useNode();
		store.checkProcessedAndRecord = async () => await Promise.resolve({ new: [], processed: [] });
		const outcome = await sendOnce('a');
		expect(outcome.kind === 'invalid' && outcome.invalid.message).toBe(
			"Idempotency Key could not be saved in n8n's database: n8n did not record all of it",
		);
		expect(requested).toEqual([]);
	});

	test('is asked again for what a send came to', async () => {
		const { store, execution, warnings } = useNode();
		const { keys } = execution();
		const outcome = await keys.once('a', false, async () => {
			store.refusals = [new Error('busy')];
			return await Promise.resolve(sent);
		});
		await keys.written();
		expect(outcome).toEqual(sent);
		expect(store.entries).toEqual(['key:a']);
		expect(warnings()).toEqual([]);
	});

	test.each([
		['sent', sent, ['key:a']],
		['not sent', refused, []],
	])('is asked again where it only did not remove what is %s', async (_what, came, entries) => {
		const { store, sendOnce, warnings } = useNode();
		const { removeProcessed } = store;
		let refusals = 2;
		store.removeProcessed = async (...args) => {
			if ((refusals -= 1) >= 0) throw new Error('busy');
			await removeProcessed(...args);
		};
		expect(await sendOnce('a', came)).toEqual(came);
		expect(store.entries).toEqual(entries);
		refusals = 3;
		await sendOnce('b', came);
		expect(warnings().join()).toMatch(/could not be saved: busy$/);
	});

	test('for good leaves the key claimed, and says so in the log', async () => {
		const { store, execution, sendOnce, warnings } = useNode();
		const { keys } = execution();
		const first = keys.once('a', false, async () => {
			store.refusals = Array.from({ length: 3 }, () => new Error('full'));
			return await Promise.resolve(sent);
		});
		// Under way at the same time it is known to have been sent, whatever can be written of it.
		const outcomes = await Promise.all([first, sendOnce('a')]);
		expect(outcomes).toEqual([sent, alreadySent]);
		await keys.written();
		expect(warnings()).toEqual([
			'The idempotency key of a send stays claimed, because its outcome could not be saved: full',
		]);
		expect(await sendOnce('a')).toMatchObject({ problem: { outcome: 'unknown' } });
	});

	test('the claim, but not the removal after it: the claim counts', async () => {
		const { store, requested, sendOnce } = useNode();
		await sendOnce('a');
		const { removeProcessed } = store;
		store.removeProcessed = async () => await Promise.reject(new Error('busy'));
		expect(await sendOnce('a')).toEqual(alreadySent);
		store.removeProcessed = removeProcessed;
		// From now on it can't be told from one that was not answered: the safe side.
		expect(await sendOnce('a')).toMatchObject({ problem: { outcome: 'unknown' } });
		expect(requested).toEqual(['a']);
	});
});

test('at least the newest 10,000 keys are remembered', async () => {
	const { store, requested, sendOnce } = useNode();
	await sendOnce('first');
	store.entries.push(...Array.from({ length: 19_999 }, (_, index) => `key:${index}`));
	expect(await sendOnce('first')).toEqual(alreadySent);
	await sendOnce('x', lost);
	expect(store.entries).toHaveLength(20_000);
	expect(await sendOnce('9000')).toEqual(alreadySent);
	expect(requested).toEqual(['first', 'x']);
});

test('nodes do not know each other’s keys', async () => {
	const [one, other] = [useNode(), useNode()];
	await one.sendOnce('a');
	expect(await other.sendOnce('a')).toEqual(sent);
});

test('nothing is sent twice under a key, whatever comes at the same time and however it ends', async () => {
	const step = fc.record({
		key: fc.constantFrom('a', 'b', 'c'),
		end: fc.constantFrom('sent', 'refused', 'lost'),
		isTogether: fc.boolean(),
		refusals: fc.nat(1),
	});
	await fc.assert(
		fc.asyncProperty(fc.array(step, { maxLength: 12 }), async (steps) => {
			const { store, execution, warnings } = useNode();
			const took = new Map<string, number>();
			let running: Array<Promise<unknown>> = [];
			for (const { key, end, isTogether, refusals } of steps) {
				const { keys } = execution();
				store.refusals.push(...Array.from({ length: refusals }, () => new Error('busy')));
				const outcome = { sent, refused, lost }[end];
				const sending = keys.once(key, false, async () => {
					// A request whose answer is lost may have been taken.
					if (end !== 'refused') took.set(key, (took.get(key) ?? 0) + 1);
					return await Promise.resolve(outcome);
				});
				running.push(sending.then(async () => await keys.written()));
				if (isTogether) continue;
				await Promise.all(running);
				running = [];
			}
			await Promise.all(running);
			expect(Math.max(0, ...took.values())).toBeLessThanOrEqual(1);
			expect(warnings()).toEqual([]);
		}),
		{ numRuns: 30 },
	);
}, 60_000);
