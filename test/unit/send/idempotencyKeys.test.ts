import * as fc from 'fast-check';
import { IdempotencyKeys } from '../../../nodes/PushCampaign/send/idempotencyKeys';
import { KeyStore, keyStoreOf } from '../../../nodes/PushCampaign/send/keyStore';
import type { SendOutcome } from '../../../nodes/PushCampaign/send/sendOutcome';
import {
	claimedEarlierProblem,
	explain,
	reasons,
} from '../../../nodes/PushCampaign/service/failures';
import { DeduplicationStore, executeFunctions } from '../execution/support';
import { useSimulatedTime } from './simulatedTime';

const time = useSimulatedTime();

jest.mock('n8n-workflow', () => ({
	...jest.requireActual<object>('n8n-workflow'),
	sleep: async (milliseconds: number) => await time.sleep(milliseconds),
}));

const sent: SendOutcome = { kind: 'done', value: { campaignId: '1', description: 'Created' } };
const lost: SendOutcome = { kind: 'failed', problem: explain(reasons.connectionLost, 'send') };
const failed = (type: string): SendOutcome => ({
	kind: 'failed',
	problem: explain(reasons.failure({ status: 'failure', type }), 'send'),
});
const refused = failed('bad_request');
const notStarted: SendOutcome = { kind: 'notStarted' };
const alreadySent = { kind: 'done', value: 'alreadySent', wasRequested: false };
const lostBefore = { ...lost, wasRequested: false };
const unknownBefore = (key: string) => ({
	kind: 'failed',
	problem: claimedEarlierProblem(key, 'send'),
	wasRequested: false,
});

const entriesOfSent = (key: string) => [`key:${key}`, `sent:${key}`, `sent again:${key}`];
const withoutStamps = (entries: readonly string[]) =>
	entries.filter((entry) => !entry.startsWith('stamp:'));

interface ProcessOptions {
	readonly signal?: AbortSignal;
	/** n8n's store; another process has the same. */
	readonly store?: DeduplicationStore;
}

/** One process of n8n, with its executions of a node. */
function startProcess({ signal, store = new DeduplicationStore() }: ProcessOptions = {}) {
	const requested: string[] = [];
	const warnings: string[][] = [];
	const keyStore = new KeyStore();
	const execution = (stop = signal) => {
		const functions = executeFunctions({ store, ...(stop && { signal: stop }) });
		warnings.push(functions.warnings);
		const keys = new IdempotencyKeys(functions.context, 'send', () => keyStore);
		const send = async (key: string, outcome: SendOutcome = sent, resendUnknown = false) =>
			await keys.once(key, resendUnknown, async () => {
				requested.push(key);
				await time.sleep(50);
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
	return { store, keyStore, requested, execution, sendOnce, warnings: () => warnings.flat() };
}

/** A copy of n8n's store, as a crash leaves it. */
function copyOf({ entries }: DeduplicationStore): DeduplicationStore {
	const copy = new DeduplicationStore();
	copy.entries = [...entries];
	return copy;
}

/** A store of a process that dies right after so many writes. */
function dyingStore({ entries }: DeduplicationStore, writes: number): DeduplicationStore {
	const store = new DeduplicationStore();
	store.entries = [...entries];
	const { checkProcessedAndRecord, removeProcessed } = store;
	const untilDeath = async () => {
		if (store.writes >= writes) await new Promise<never>(() => undefined);
	};
	store.checkProcessedAndRecord = async (...given) => {
		await untilDeath();
		return await checkProcessedAndRecord(...given);
	};
	store.removeProcessed = async (...given) => {
		await untilDeath();
		await removeProcessed(...given);
	};
	return store;
}

describe('a key', () => {
	test('is claimed before its request leaves, so a crash leaves its send unknown', async () => {
		const first = startProcess();
		void first
			.execution()
			.keys.once('a', false, async () => await new Promise<never>(() => undefined));
		await time.run(1000);
		const { sendOnce, requested } = startProcess({ store: copyOf(first.store) });
		expect(await time.until(sendOnce('a'))).toEqual(unknownBefore('a'));
		expect(requested).toEqual([]);
	});

	test('that was sent stays sent, wherever a process that asks for it dies', async () => {
		const first = startProcess();
		await time.until(first.sendOnce('a'));
		for (let writes = 0; writes < 6; writes += 1) {
			const store = dyingStore(first.store, writes);
			void startProcess({ store }).sendOnce('a');
			await time.run(20_000);
			const after = startProcess({ store: copyOf(store) });
			expect(await time.until(after.sendOnce('a'))).toEqual(alreadySent);
		}
	});

	test('whose send is unknown never counts as sent, wherever two processes that ask for it die', async () => {
		const first = startProcess();
		await time.until(first.sendOnce('a', lost));
		for (let writes = 0; writes < 8; writes += 1) {
			const store = dyingStore(first.store, writes);
			void startProcess({ store }).sendOnce('a');
			await time.run(20_000);
			const after = startProcess({ store: copyOf(store) });
			expect(await time.until(after.sendOnce('a'))).toEqual(unknownBefore('a'));
			expect(await time.until(after.sendOnce('a'))).toEqual(unknownBefore('a'));
		}
	});

	test('is remembered as long as it is among the newest 10,000', async () => {
		const { store, sendOnce } = startProcess();
		await time.until(sendOnce('first'));
		store.entries.push(
			...Array.from({ length: 9_999 }, (_, index) => entriesOfSent(`${index}`)).flat(),
		);
		expect(await time.until(startProcess({ store }).sendOnce('first'))).toEqual(alreadySent);
	});

	test('of a copied workflow is another key, though the copy has the same node IDs', () => {
		const { context } = executeFunctions({});
		const copy = executeFunctions({ node: { id: context.getNode().id } }).context;
		copy.getWorkflow = () => ({ id: 'workflow-2', name: 'Copy', active: true });
		const own = keyStoreOf(context);
		// A store that has nothing left to do is forgotten.
		own.sending.set('a', new Promise(() => undefined));
		expect(keyStoreOf(context)).toBe(own);
		expect(keyStoreOf(copy)).not.toBe(own);
		expect(keyStoreOf(executeFunctions({}).context)).not.toBe(own);
		own.sending.clear();
		expect(keyStoreOf(context)).not.toBe(own);
	});

	test('takes no room in memory once nothing of it is left to do', async () => {
		const { keyStore, sendOnce } = startProcess();
		expect(keyStore.isIdle).toBe(true);
		await time.until(sendOnce('a'));
		expect(keyStore.isIdle).toBe(false);
		await time.run();
		expect(keyStore.isIdle).toBe(true);
	});

	test('takes no room in memory of a process that found it sent', async () => {
		const { store, sendOnce } = startProcess();
		await time.until(sendOnce('a'));
		const second = startProcess({ store });
		expect(await time.until(second.sendOnce('a'))).toEqual(alreadySent);
		await time.run();
		expect(second.keyStore.isIdle).toBe(true);
	});
});

describe('sends of one process under one key at the same moment', () => {
	test.each([
		{
			name: 'one sends, the others come out as already sent',
			ends: [sent, sent, sent],
			then: [sent, alreadySent, alreadySent],
			requests: 1,
		},
		{
			name: 'if the first is unknown, it is unknown to all, also with Resend Unknown',
			ends: [lost, sent],
			then: [lost, lostBefore],
			requests: 1,
		},
		{
			name: 'if the first is refused, the next one sends',
			ends: [refused, sent, sent],
			then: [refused, sent, alreadySent],
			requests: 2,
		},
	])('$name', async ({ ends, then, requests }) => {
		const { requested, sendOnce } = startProcess();
		const outcomes = ends.map(async (end, index) => await sendOnce('a', end, index > 0));
		expect(await time.until(Promise.all(outcomes))).toEqual(then);
		expect(requested).toHaveLength(requests);
	});

	test('an attempt that throws leaves its key claimed, and keeps nobody waiting', async () => {
		const { execution, sendOnce } = startProcess();
		const { keys } = execution();
		const thrown = keys.once('a', false, async () => await Promise.reject(new Error('a defect')));
		await expect(time.until(thrown)).rejects.toThrow('a defect');
		expect(await time.until(sendOnce('a'))).toEqual(unknownBefore('a'));
		expect(await time.until(sendOnce('a', sent, true))).toEqual(sent);
		expect(await time.until(sendOnce('a'))).toEqual(alreadySent);
	});
});

describe('two processes that resend one unknown send at the same time', () => {
	test('send it once', async () => {
		const first = startProcess();
		await time.until(first.sendOnce('a', lost));
		const processes = [1, 2].map(() => startProcess({ store: first.store }));
		const outcomes = processes.map(async ({ sendOnce }) => await sendOnce('a', sent, true));
		const ends = await time.until(Promise.all(outcomes));
		expect(ends).toContainEqual(sent);
		expect(ends).toContainEqual(alreadySent);
		expect(processes.flatMap(({ requested }) => requested)).toEqual(['a']);
	});
});

describe('the keys of one run', () => {
	test.each([
		{
			name: 'as few as keep sends from waiting, if they go out one after another',
			atOnce: 1,
			atLeast: 2,
			atMost: 20,
			withinMs: 500 * 50 + 2_000,
		},
		{
			name: 'a hundred at most, if they go out at once',
			atOnce: 100,
			atLeast: 80,
			atMost: 100,
			withinMs: 5 * 500,
		},
	])('are claimed ahead: $name', async ({ atOnce, atLeast, atMost, withinMs }) => {
		const { store, requested, execution } = startProcess();
		const { keys, send } = execution();
		const all = Array.from({ length: 500 }, (_, index) => `key ${index}`);
		for (const key of all) keys.expect(key);
		let most = 0;
		store.beforeRecord = () => {
			const claimed = store.entries.filter((entry) => entry.startsWith('key:')).length;
			most = Math.max(most, claimed - requested.length);
		};
		const waiting = [...all];
		const sendNext = async (): Promise<void> => {
			const key = waiting.shift();
			if (key === undefined) return;
			await send(key);
			await sendNext();
		};
		const sending = Promise.all(Array.from({ length: atOnce }, sendNext));
		await time.until(sending.then(async () => await keys.written()));
		expect(requested.sort()).toEqual([...all].sort());
		expect(most).toBeGreaterThanOrEqual(atLeast);
		expect(most).toBeLessThanOrEqual(atMost);
		expect(time.now).toBeLessThan(withinMs);
	});

	test('that were claimed ahead and not used are free again when the run ends', async () => {
		const { store, execution } = startProcess();
		const { keys, send } = execution();
		for (const key of ['a', 'b', 'c']) keys.expect(key);
		await time.until(send('a', refused));
		await time.until(keys.written());
		// A claim that is being made at this moment is freed when it is there.
		await time.run(1000);
		expect(withoutStamps(store.entries)).toEqual([]);
	});

	test('stay claimed while the service refuses a send for now, and are used when it is tried again', async () => {
		const { store, requested, execution } = startProcess();
		const { keys, send } = execution();
		expect(await time.until(send('a', failed('rate_limit')))).toMatchObject({ kind: 'failed' });
		await time.run(1000);
		expect(withoutStamps(store.entries)).toEqual(['key:a']);
		expect(await time.until(send('a'))).toEqual(sent);
		await time.until(keys.written());
		expect(requested).toEqual(['a', 'a']);
		expect(withoutStamps(store.entries)).toEqual(entriesOfSent('a'));
	});

	test('stay claimed for a hundred refused sends at most', async () => {
		const { store, execution } = startProcess();
		const { keys, send } = execution();
		const all = Array.from({ length: 101 }, (_, index) => `key ${index}`);
		await time.until(Promise.all(all.map(async (key) => await send(key, failed('rate_limit')))));
		await time.run(1000);
		expect(withoutStamps(store.entries)).toHaveLength(100);
		await time.until(keys.written());
		expect(withoutStamps(store.entries)).toEqual([]);
	});

	test.each([
		{
			name: 'a process that holds the key, once the run is stopped',
			entries: ['key:a'],
			isSending: false,
			stopAtMs: 500,
		},
		{
			name: 'a run that sends under the key, once their own is stopped',
			entries: [],
			isSending: true,
			stopAtMs: 50,
		},
		{ name: 'anybody, if the run was stopped before', entries: [], isSending: true, stopAtMs: 0 },
	])('do not wait for $name', async ({ entries, isSending, stopAtMs }) => {
		const stop = new AbortController();
		const { store, execution } = startProcess();
		store.entries = [...entries];
		const other = isSending ? execution().send('a') : undefined;
		if (stopAtMs === 0) stop.abort();
		let outcome: SendOutcome | undefined;
		void execution(stop.signal)
			.send('a')
			.then((end) => {
				outcome = end;
			});
		await time.run(stopAtMs);
		stop.abort();
		await time.run(0);
		expect(outcome).toEqual(notStarted);
		await time.run();
		expect(await other).toEqual(isSending ? sent : undefined);
	});

	test('are not claimed once the run is stopped', async () => {
		const { store, sendOnce } = startProcess({ signal: AbortSignal.abort() });
		expect(await time.until(sendOnce('a'))).toEqual(notStarted);
		await time.run();
		expect(store.writes).toBe(0);
	});

	test('are not sent when the user stops the run while they wait for their claim', async () => {
		const stop = new AbortController();
		const { store, requested, execution } = startProcess({ signal: stop.signal });
		const { keys, send } = execution();
		const sending = send('a');
		await time.run(50);
		stop.abort();
		expect(await time.until(sending)).toEqual(notStarted);
		await time.until(keys.written());
		await time.run();
		expect(requested).toEqual([]);
		expect(withoutStamps(store.entries)).toEqual([]);
	});
});

describe('if n8n’s store fails', () => {
	test.each([
		{
			name: 'a claim that can not be written lets nothing leave',
			said: 'database or disk is full',
			fail: (store: DeduplicationStore) => {
				store.refusals = [new Error('database or disk is full')];
			},
		},
		{
			name: 'a claim that is recorded in part lets nothing leave',
			said: 'n8n did not record all of it',
			fail: (store: DeduplicationStore) => {
				store.checkProcessedAndRecord = async () =>
					await Promise.resolve({ new: [], processed: [] });
			},
		},
	])('$name', async ({ said, fail }) => {
		const { store, requested, sendOnce } = startProcess();
		fail(store);
		const outcome = await time.until(sendOnce('a'));
		const problem = outcome.kind === 'failed' ? outcome.problem : undefined;
		expect(problem).toMatchObject({
			type: 'network',
			outcome: 'notDone',
			cause: 'temporarily-unavailable',
			message: `Idempotency Key could not be saved in n8n's database: ${said}`,
		});
		expect(problem?.description).toMatch(/^It was not sent\. /);
		expect(requested).toEqual([]);
	});

	test('the first write of a node is made once more when another process inserts the row first', async () => {
		const { store, sendOnce } = startProcess();
		store.refusals = [new Error('duplicate key value violates unique constraint')];
		expect(await time.until(sendOnce('a'))).toEqual(sent);
	});

	test.each([
		{ name: 'that it was sent', end: sent, refusals: 2, entries: entriesOfSent('a') },
		{ name: 'that it was not sent', end: refused, refusals: 2, entries: [] },
		{
			name: 'that it was sent, but not for ever',
			end: sent,
			refusals: 9,
			entries: ['key:a'],
		},
	])('it is asked again to write $name', async ({ end, refusals, entries }) => {
		const { store, execution, warnings } = startProcess();
		const { keys } = execution();
		const sending = keys.once('a', false, async () => {
			store.refusals = Array.from({ length: refusals }, () => new Error('full'));
			return await Promise.resolve(end);
		});
		expect(await time.until(sending)).toEqual(end);
		await time.until(keys.written());
		expect(withoutStamps(store.entries)).toEqual(entries);
		const staysClaimed = warnings().filter((warning) => warning.includes('stays claimed'));
		expect(staysClaimed).toHaveLength(refusals === 2 ? 0 : 1);
	});
});

describe('after a run', () => {
	/** Ends a run that sent `a`, lost the answer to `b`, and was refused `c`. */
	async function afterRun() {
		const started = startProcess();
		const { keys, send } = started.execution();
		await time.until(Promise.all([send('a'), send('b', lost), send('c', refused)]));
		await time.until(keys.written());
		const remembered = [...entriesOfSent('a'), 'key:b'].sort();
		expect(withoutStamps(started.store.entries).sort()).toEqual(remembered);
		return { ...started, remembered };
	}

	test.each([
		{ name: 'all that it wrote', left: [] },
		{ name: 'what was sent', left: ['key:b'] },
		{ name: 'that it was sent', left: ['key:a', 'sent:a', 'key:b'] },
		{ name: 'a claim', left: entriesOfSent('a') },
	])('another process that overwrites $name loses nothing', async ({ left }) => {
		const { store, remembered } = await afterRun();
		await time.run(3000);
		store.entries = [...left, 'key:c'];
		await time.run(9000);
		expect(withoutStamps(store.entries).sort()).toEqual([...remembered, 'key:c'].sort());
	});

	test('rechecks come less and less often, and end after a minute', async () => {
		const { store } = await afterRun();
		const from = time.now;
		const at: number[] = [];
		store.beforeRecord = () => at.push(time.now - from);
		await time.run();
		expect(at.length).toBeGreaterThanOrEqual(7);
		expect(at.length).toBeLessThanOrEqual(12);
		expect(at.at(-1)).toBeLessThan(140_000);
		expect(store.entries.filter((entry) => entry.startsWith('stamp:'))).toEqual([]);
	});

	test('a run every 200 ms does not make rechecks come more often', async () => {
		const { store, sendOnce } = startProcess();
		const before = store.writes;
		const runs = (async () => {
			for (let run = 0; run < 50; run += 1) {
				void sendOnce(`run ${run}`);
				await time.sleep(200);
			}
		})();
		await time.until(runs);
		// A claim, a look at it and an outcome for each of 50 runs in 10 s, and not three rechecks a second.
		expect(store.writes - before).toBeLessThan(150 + 45);
	});

	test('a store that fails at rechecks brings one warning, and they go on when it works again', async () => {
		const { store, remembered, warnings } = await afterRun();
		store.refusals = [new Error('connection closed'), new Error('connection closed')];
		await time.run(3000);
		expect(store.refusals).toEqual([]);
		expect(warnings()).toEqual([
			'Idempotency keys of workflow workflow-1 could not be rechecked, so those that another process overwrote may be lost: connection closed',
		]);
		store.entries = [];
		await time.run(9000);
		expect(withoutStamps(store.entries).sort()).toEqual(remembered);
	});

	test('rechecks end after a minute also if the store fails at each of them', async () => {
		const { store, keyStore } = await afterRun();
		store.beforeRecord = () => {
			throw new Error('connection closed');
		};
		await time.run(200_000);
		expect(keyStore.isIdle).toBe(true);
	});
});

test('executions one after another end as a map of keys would have them end', async () => {
	const step = fc.record({
		key: fc.constantFrom('a', 'b'),
		end: fc.constantFrom(sent, lost, refused, notStarted),
		resendUnknown: fc.boolean(),
	});
	await fc.assert(
		fc.asyncProperty(fc.array(step, { maxLength: 8 }), async (steps) => {
			time.reset();
			const { requested, sendOnce } = startProcess();
			const model = new Map<string, SendOutcome>();
			for (const { key, end, resendUnknown } of steps) {
				const known = model.get(key);
				const isMade = known === undefined || (known === lost && resendUnknown);
				const before = requested.length;
				const outcome = await time.until(sendOnce(key, end, resendUnknown));
				expect(requested.length - before).toBe(isMade ? 1 : 0);
				const notMade = known === sent ? alreadySent : unknownBefore(key);
				expect(outcome).toEqual(isMade ? end : notMade);
				// What may have been sent before stays so until it was sent.
				if (isMade && (end === sent || end === lost)) model.set(key, end);
			}
		}),
		{
			numRuns: 30,
			examples: [
				[
					[
						{ key: 'a', end: lost, resendUnknown: false },
						{ key: 'a', end: refused, resendUnknown: true },
						{ key: 'a', end: sent, resendUnknown: false },
					],
				],
			],
		},
	);
});

test('nothing is sent twice under a key, whatever runs at the same time and however it ends', async () => {
	const step = fc.record({
		key: fc.constantFrom('a', 'b', 'c'),
		end: fc.constantFrom('sent', 'refused', 'lost'),
		isTogether: fc.boolean(),
		refusals: fc.nat(1),
	});
	await fc.assert(
		fc.asyncProperty(fc.array(step, { maxLength: 8 }), async (steps) => {
			time.reset();
			const { store, execution } = startProcess();
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
				await time.until(Promise.all(running));
				running = [];
			}
			await time.until(Promise.all(running));
			expect(Math.max(0, ...took.values())).toBeLessThanOrEqual(1);
		}),
		{ numRuns: 30 },
	);
});
