import * as fc from 'fast-check';
import { sleep } from 'n8n-workflow';
import type * as keysModule from '../../../nodes/PushCampaign/send/idempotencyKeys';
import { IdempotencyKeys } from '../../../nodes/PushCampaign/send/idempotencyKeys';
import { keyStoreOf } from '../../../nodes/PushCampaign/send/keyStore';
import type { SendOutcome } from '../../../nodes/PushCampaign/send/sendOutcome';
import {
	claimedEarlierProblem,
	explain,
	reasons,
} from '../../../nodes/PushCampaign/service/failures';
import { DeduplicationStore, executeFunctions } from '../execution/support';

// One of this file's own, whose `sleep` heeds fake timers.
jest.unmock('n8n-workflow');

const sent: SendOutcome = { kind: 'done', value: { campaignId: '1', description: 'Created' } };
const lost: SendOutcome = { kind: 'failed', problem: explain(reasons.connectionLost, 'send') };
const refused: SendOutcome = {
	kind: 'failed',
	problem: explain(reasons.failure({ status: 'failure', type: 'bad_request' }), 'send'),
};
const notStarted: SendOutcome = { kind: 'notStarted' };
const alreadySent = { kind: 'done', value: 'alreadySent', wasRequested: false };
/** As it is told without asking the service: such a failure stops nothing. */
const unknownBefore = (problem = explain(reasons.connectionLost, 'send')) => ({
	kind: 'failed',
	problem,
	wasRequested: false,
});

interface NodeOptions {
	signal?: AbortSignal;
	store?: DeduplicationStore;
	/** Another process has its own. */
	Keys?: typeof IdempotencyKeys;
}

/** A node of its own, and executions of it that share n8n's store. */
function useNode({
	signal,
	store = new DeduplicationStore(),
	Keys = IdempotencyKeys,
}: NodeOptions = {}) {
	const requested: string[] = [];
	const warnings: string[][] = [];
	const execution = () => {
		const functions = executeFunctions({ store, ...(signal && { signal }) });
		warnings.push(functions.warnings);
		const keys = new Keys(functions.context, 'send');
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

// Looks at keys go on when a test is over: they end with its timers.
beforeEach(() => jest.useFakeTimers({ advanceTimers: 1, doNotFake: ['setImmediate'] }));
afterEach(() => jest.useRealTimers());

describe('a key', () => {
	test('is claimed before the request leaves: what is killed then is unknown afterwards', async () => {
		const { store, execution, sendOnce } = useNode();
		await new Promise<void>((hasLeft) => {
			const never = new Promise<never>(() => undefined);
			void execution().keys.once('a', false, async () => {
				hasLeft();
				return await never;
			});
		});
		const killed = useNode();
		killed.store.entries = [...store.entries];
		expect(await killed.sendOnce('a')).toEqual(unknownBefore(claimedEarlierProblem('a', 'send')));
		expect(killed.requested).toEqual([]);
		expect(await sendOnce('b')).toEqual(sent);
	});

	test('that was forgotten while its send was not known to be done counts as unknown', async () => {
		const { store, sendOnce } = useNode();
		await sendOnce('a', lost);
		store.entries = store.entries.slice(1);
		expect(await sendOnce('a')).toEqual(unknownBefore(claimedEarlierProblem('a', 'send')));
	});

	test('is among at least the newest 10,000 that are remembered', async () => {
		const { store, requested, sendOnce } = useNode();
		await sendOnce('first');
		store.entries.push(...Array.from({ length: 19_999 }, (_, index) => `key:${index}`));
		expect(await sendOnce('first')).toEqual(alreadySent);
		await sendOnce('x', lost);
		expect(store.entries).toHaveLength(20_000);
		expect(await sendOnce('9000')).toEqual(alreadySent);
		expect(requested).toEqual(['first', 'x']);
	});

	test('of another node is another key, also at the same moment', async () => {
		const ends = [useNode(), useNode()].map(async ({ sendOnce }) => await sendOnce('a'));
		expect(await Promise.all(ends)).toEqual([sent, sent]);
	});
});

describe('at the same moment', () => {
	test.each<[what: string, ends: SendOutcome[], came: unknown[], requests: number]>([
		['one sends, the others wait', [sent, sent, sent], [sent, alreadySent, alreadySent], 1],
		['what is unknown to one is so to all', [lost, sent], [lost, unknownBefore()], 1],
		['what one was refused the next tries', [refused, sent, sent], [refused, sent, alreadySent], 2],
	])('of several executions: %s', async (_what, ends, came, requests) => {
		const { requested, sendOnce } = useNode();
		const outcomes = ends.map(async (end, index) => await sendOnce('a', end, index > 0));
		expect(await Promise.all(outcomes)).toEqual(came);
		expect(requested).toHaveLength(requests);
	});

	// n8n loses what two writes at once change.
	test('n8n’s entries are written by one write at a time, many together, and none writes nothing', async () => {
		const { store, execution } = useNode();
		const executions = [execution(), execution()];
		const all = Array.from({ length: 50 }, (_, index) => `key ${10 + index}`);
		const sends = executions.flatMap(({ send }) =>
			all.map(async (key) => await send(key, key.endsWith('0') ? refused : sent)),
		);
		await Promise.all(sends);
		await Promise.all(executions.map(async ({ keys }) => await keys.written()));
		const remembered = all.filter((key) => !key.endsWith('0')).map((key) => `key:${key}`);
		expect([...store.entries].sort()).toEqual(remembered);
		expect(store.writes).toBe(5);
	});

	test('a user who stops keeps from leaving what waits for its claim', async () => {
		const stop = new AbortController();
		const { store, requested, sendOnce } = useNode({ signal: stop.signal });
		const sending = sendOnce('a');
		stop.abort();
		expect(await sending).toEqual(notStarted);
		expect(requested).toEqual([]);
		expect(store.entries).toEqual([]);
	});
});

describe('a store that refuses', () => {
	test.each<[what: string, said: string, refuse: (store: DeduplicationStore) => void]>([
		[
			'a claim',
			'database or disk is full',
			(store) => (store.refusals = [new Error('database or disk is full')]),
		],
		[
			'to record all of it',
			'n8n did not record all of it',
			(store) =>
				(store.checkProcessedAndRecord = async () =>
					await Promise.resolve({ new: [], processed: [] })),
		],
	])('%s lets nothing leave', async (_what, said, refuse) => {
		const { store, requested, sendOnce } = useNode();
		refuse(store);
		const outcome = await sendOnce('a');
		const invalid = outcome.kind === 'invalid' ? outcome.invalid : undefined;
		expect(invalid?.message).toBe(`Idempotency Key could not be saved in n8n's database: ${said}`);
		expect(invalid?.advice).toMatch(/^It was not sent/);
		expect(requested).toEqual([]);
	});

	test.each([
		['what was sent', sent, 2, ['key:a']],
		['what was not sent', refused, 2, []],
		['what is unknown', lost, 2, ['key:a', 'unsettled:a']],
		['what was sent, and not for ever', sent, 3, ['key:a', 'unsettled:a']],
		['what was not sent, and not for ever', refused, 3, ['key:a', 'unsettled:a']],
	])('is asked again for %s', async (_what, end, refusals, entries) => {
		jest.useFakeTimers();
		const { store, execution, warnings } = useNode();
		const sending = execution().keys.once('a', false, async () => {
			store.refusals = Array.from({ length: refusals }, () => new Error('full'));
			return await Promise.resolve(end);
		});
		await jest.advanceTimersByTimeAsync(5000);
		jest.useRealTimers();
		expect(await sending).toEqual(end);
		expect(store.entries).toEqual(entries);
		const stays =
			'The idempotency key of a send in workflow workflow-1 stays claimed, because its outcome could not be saved: full';
		expect(warnings()).toEqual(refusals === 2 ? [] : [stays]);
	});

	test('to remove a mark does not make a claim fail that is written with it', async () => {
		const { store, execution } = useNode();
		store.removeProcessed = async () => await Promise.reject(new Error('busy'));
		const { send } = execution();
		expect([await send('a'), await send('b')]).toEqual([sent, sent]);
	});
});

describe('after a run its keys are looked at again', () => {
	beforeEach(() => jest.useFakeTimers());

	/** Ends a run that sent `a`, lost the answer to `b`, and was refused `c`. */
	async function afterRun() {
		const node = useNode();
		const { keys, send } = node.execution();
		const sends = [send('a'), send('b', lost), send('c', refused)];
		await jest.advanceTimersByTimeAsync(20);
		await Promise.all(sends);
		// As where several runs end at once.
		for (let run = 0; run < 3; run += 1) await keys.written();
		const remembered = ['key:a', 'key:b', 'unsettled:b'];
		expect(node.store.entries).toEqual(remembered);
		return { ...node, remembered };
	}

	test.each([
		['all that it wrote', []],
		['what was sent', ['key:b', 'unsettled:b']],
		['a mark', ['key:a', 'key:b']],
		['nothing, but wrote a mark back', ['key:a', 'unsettled:a', 'key:b', 'unsettled:b']],
	])('and are there again where another process wrote over %s', async (_what, entries) => {
		const { store, remembered } = await afterRun();
		// Some looks have found all there by then.
		await jest.advanceTimersByTimeAsync(3000);
		const ofAnother = ['key:c', 'unsettled:c'];
		store.entries = [...entries, ...ofAnother];
		await jest.advanceTimersByTimeAsync(9000);
		expect([...store.entries].sort()).toEqual([...remembered, ...ofAnother].sort());
	});

	test.each<[what: string, isLost: (look: number) => boolean, looks: number]>([
		['five times where they are found', () => false, 5],
		['until they are found', (look) => look < 7, 7],
		['but not for ever, though another process writes over them each time', () => true, 10],
	])('%s', async (_what, isLost, count) => {
		const { store } = await afterRun();
		const begun = Date.now();
		const after: number[] = [];
		store.beforeRecord = () => {
			after.push(Date.now() - begun);
			if (isLost(after.length)) store.entries = store.entries.filter((entry) => entry !== 'key:a');
		};
		await jest.advanceTimersByTimeAsync(600_000);
		expect(after).toHaveLength(count);
		for (const [look, ms] of after.entries()) {
			const earliest = 250 * (2 ** (look + 1) - 1);
			expect(ms).toBeGreaterThanOrEqual(earliest);
			expect(ms).toBeLessThan(1.6 * earliest);
		}
		expect(jest.getTimerCount()).toBe(0);
	});

	test('less often where a write takes long', async () => {
		const { store } = await afterRun();
		const times: number[] = [];
		store.beforeRecord = async () => {
			times.push(Date.now());
			await sleep(2000);
		};
		await jest.advanceTimersByTimeAsync(30_000);
		const [first = NaN, second] = times;
		expect(second).toBeGreaterThanOrEqual(first + 2000 + 2 * 3 * 2000);
	});

	test('as far as they are remembered, and some at a time', async () => {
		const store = new DeduplicationStore();
		const batches: unknown[][] = [];
		store.checkProcessedAndRecord = async (items) => {
			batches.push(items);
			// What is written of it meanwhile must not be written over.
			if (batches.length === 1) keys.watch('10000', 'sent');
			return await Promise.resolve({ new: [], processed: items });
		};
		const { context } = executeFunctions({ store });
		const keys = keyStoreOf(context);
		for (let key = 0; key <= 10_000; key += 1) keys.watch(String(key), 'sent');
		void keys.lookAgain(context);
		await jest.advanceTimersByTimeAsync(500);
		expect(batches.map(({ length }) => length)).toEqual([...Array<number>(19).fill(500), 499]);
		expect(batches[0]?.[0]).toBe('key:1');
	});

	test('together with those of a run that ends meanwhile', async () => {
		const { store, sendOnce } = await afterRun();
		let records = 0;
		store.beforeRecord = () => (records += 1);
		await jest.advanceTimersByTimeAsync(400);
		void sendOnce('d');
		await jest.advanceTimersByTimeAsync(50);
		expect(records).toBe(1 + 2);
		store.entries = [];
		await jest.advanceTimersByTimeAsync(60_000);
		expect([...store.entries].sort()).toEqual(['key:a', 'key:b', 'key:d', 'unsettled:b']);
		expect(records).toBe(3 + 5);
	});

	test('but not claimed again when they were sent meanwhile', async () => {
		const { store, sendOnce } = await afterRun();
		const remove = store.removeProcessed;
		store.removeProcessed = async (...entries) => {
			await sleep(1000);
			await remove(...entries);
		};
		let isSent = false;
		void sendOnce('b', sent, true).then(() => (isSent = true));
		for (let waited = 0; waited < 10_000; waited += 20) {
			await jest.advanceTimersByTimeAsync(20);
			if (isSent) expect(store.entries).not.toContain('unsettled:b');
		}
		expect(isSent).toBe(true);
	});

	test('and that ends with a word in the log where n8n’s store refuses', async () => {
		const { store, sendOnce, warnings } = await afterRun();
		store.refusals = [new Error('connection closed')];
		await jest.advanceTimersByTimeAsync(400);
		const { writes } = store;
		expect(warnings()).toEqual([
			'Idempotency keys of workflow workflow-1 could not be looked at again, so those that another process wrote over at the same moment may be lost: connection closed',
		]);
		await jest.advanceTimersByTimeAsync(10_000);
		expect(store.writes).toBe(writes);
		void sendOnce('d');
		await jest.advanceTimersByTimeAsync(20_000);
		expect(store.writes).toBe(writes + 3 + 5 * 2);
	});

	test('so that two processes that send at once remember all they sent', async () => {
		const one = useNode();
		await jest.isolateModulesAsync(async () => {
			const module = '../../../nodes/PushCampaign/send/idempotencyKeys';
			const Keys = jest.requireActual<typeof keysModule>(module).IdempotencyKeys;
			const other = useNode({ store: one.store, Keys });
			const key = (name: string, index: number) => `${name} ${index}`;
			const runs = Array.from({ length: 20 }, (_, index) => [
				one.sendOnce(key('one', index)),
				other.sendOnce(key('other', index), index % 4 === 0 ? lost : sent),
			]);
			await jest.advanceTimersByTimeAsync(20_000);
			await Promise.all(runs.flat());
			const again = Array.from({ length: 20 }, (_, index) => [
				one.sendOnce(key('other', index)),
				other.sendOnce(key('one', index)),
			]);
			await jest.advanceTimersByTimeAsync(20_000);
			const outcomes = await Promise.all(again.flat());
			const unknown = outcomes.filter(({ kind }) => kind === 'failed');
			expect(unknown).toHaveLength(5);
			expect(outcomes.filter(({ kind }) => kind === 'done')).toEqual(
				Array.from({ length: 35 }, () => alreadySent),
			);
		});
	});
});

test('says of one execution after another what a plain map would', async () => {
	const step = fc.record({
		key: fc.constantFrom('a', 'b'),
		end: fc.constantFrom(sent, lost, refused, notStarted),
		resendUnknown: fc.boolean(),
	});
	await fc.assert(
		fc.asyncProperty(fc.array(step, { maxLength: 12 }), async (steps) => {
			const { requested, sendOnce } = useNode();
			const model = new Map<string, SendOutcome>();
			for (const { key, end, resendUnknown } of steps) {
				const known = model.get(key);
				const isMade = known === undefined || (known === lost && resendUnknown);
				const before = requested.length;
				const outcome = await sendOnce(key, end, resendUnknown);
				expect(requested.length - before).toBe(isMade ? 1 : 0);
				const told =
					known === sent ? alreadySent : unknownBefore(claimedEarlierProblem(key, 'send'));
				expect(outcome).toEqual(isMade ? end : told);
				// What may have been sent before stays so until it was sent.
				if (isMade && (end === sent || end === lost)) model.set(key, end);
			}
		}),
		{
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
			expect(warnings().filter((warning) => warning.includes('stays claimed'))).toEqual([]);
		}),
	);
});
