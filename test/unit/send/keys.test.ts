import * as fc from 'fast-check';
import { Keys, type KeyedSend } from '../../../nodes/PushCampaign/send/keys';
import type { KeyRows } from '../../../nodes/PushCampaign/send/rows';
import { anyProcess, rowsIn, runProcesses, type RowsFor } from './keyModel';

const processes = (...choices: Array<'report' | 'resend' | 'countAsSent'>) =>
	fc.array(anyProcess(fc.constantFrom(...choices)), { minLength: 2, maxLength: 4 });

type IsRight = (history: Awaited<ReturnType<typeof runProcesses>>) => boolean;

const historiesOf = (
	all: ReturnType<typeof processes>,
	isRight: IsRight,
	rowsFor = () => rowsIn(new Set()),
	keysFor?: (rows: KeyRows, now: () => number) => Keys,
) =>
	fc.asyncProperty(all, fc.scheduler(), async (chosen, scheduler) =>
		isRight(await runProcesses(chosen, scheduler, rowsFor(), keysFor)),
	);

// The same histories each time, so that what is found is found always.
const seed = 1;
const runs = { seed, numRuns: 150 };

/** Whether something is wrong in one of many more histories. */
const isFound = async (...parts: Parameters<typeof historiesOf>) =>
	(await fc.check(historiesOf(...parts), { seed, numRuns: 1_000, endOnFailure: true })).failed;

describe('under one key, any number of processes that end anywhere', () => {
	test('send at most once, and report as sent only what was', async () => {
		await fc.assert(
			historiesOf(
				processes('report'),
				({ accepted, mostInFlight, lies }) => accepted <= 1 && mostInFlight <= 1 && lies === 0,
			),
			runs,
		);
	});

	test('send one at a time if they may send again what is unknown', async () => {
		await fc.assert(
			historiesOf(
				processes('report', 'resend'),
				({ mostInFlight, lies }) => mostInFlight <= 1 && lies === 0,
			),
			runs,
		);
	});

	test('send nothing more once it counts as sent', async () => {
		await fc.assert(
			historiesOf(
				processes('report', 'countAsSent'),
				({ accepted, mostInFlight }) => accepted <= 1 && mostInFlight <= 1,
			),
			runs,
		);
	});
});

describe('the model finds', () => {
	const isSentOnce = ({ accepted }: { accepted: number }) => accepted <= 1;

	test('an insert that is not atomic', async () => {
		const rowsFor = (): RowsFor => {
			const table = new Set<string>();
			const rows = rowsIn(table);
			return (query) => ({
				...rows(query),
				async insert(name) {
					await query();
					const isNew = !table.has(name);
					await query();
					table.add(name);
					return isNew;
				},
			});
		};
		expect(await isFound(processes('report'), isSentOnce, rowsFor)).toBe(true);
	});

	test('an asker that does not wait for the claim of somebody else', async () => {
		const impatient = (rows: KeyRows, now: () => number) => {
			// Each look is later than any wait.
			let looks = 0;
			return new Keys(rows, () => now() + 1_000_000 * (looks += 1));
		};
		const isOneAtATime = ({ mostInFlight }: { mostInFlight: number }) => mostInFlight <= 1;
		const all = processes('resend');
		expect(await isFound(all, isOneAtATime, undefined, impatient)).toBe(true);
	});

	test('a claim that is made before the wait', async () => {
		class Early extends Keys {
			private readonly made = new Map<string, number>();

			override async look(send: KeyedSend, mayGuess: boolean) {
				const state = await super.look(send, mayGuess);
				const made = this.made.get(send.key);
				if (made !== undefined)
					return state.is === 'sent' ? state : ({ is: 'free', lastClaim: made } as const);
				if (state.is !== 'held' || send.unknownOutcome !== 'resend') return state;
				const claim = await super.claim(send.key, 1);
				if (claim > 0) this.made.set(send.key, 1);
				return state;
			}

			override async claim(key: string, lastClaim: number) {
				return this.made.has(key) ? lastClaim + 1 : await super.claim(key, lastClaim);
			}
		}
		const early = (rows: KeyRows, now: () => number) => new Early(rows, now);
		const isOneAtATime = ({ mostInFlight }: { mostInFlight: number }) => mostInFlight <= 1;
		expect(await isFound(processes('resend'), isOneAtATime, undefined, early)).toBe(true);
	});
});

describe('a key', () => {
	const send: KeyedSend = { key: 'key', unknownOutcome: 'report', timeoutMs: 1_000 };
	const table = new Set<string>();
	const queries = { count: 0 };
	let nowMs = 0;
	const keysOfRun = () =>
		new Keys(
			rowsIn(table)(async () => void (queries.count += 1)),
			() => nowMs,
		);

	beforeEach(() => {
		table.clear();
		nowMs = 0;
	});

	test('that was refused is free for the next claim, and one that was sent never is', async () => {
		const keys = keysOfRun();
		expect(await keys.claim('key', 0)).toBe(1);
		await keys.end('key', 1, 'free');
		expect(await keysOfRun().look(send, false)).toEqual({ is: 'free', lastClaim: 1 });
		expect(await keys.claim('key', 1)).toBe(2);
		await keys.end('key', 2, 'sent');
		expect(await keysOfRun().look(send, false)).toEqual({ is: 'sent' });
		expect([...table]).toEqual(['key:claim:1', 'key:free:1', 'key:claim:2', 'key:sent']);
	});

	test('that somebody else claimed is held until the time of its request is over, and unknown from then on', async () => {
		await keysOfRun().claim('key', 0);
		const keys = keysOfRun();
		expect(await keys.look(send, false)).toEqual({ is: 'held' });
		nowMs = 5_999;
		expect(await keys.look(send, false)).toEqual({ is: 'held' });
		nowMs = 6_000;
		expect(await keys.look(send, false)).toEqual({ is: 'unknown' });
	});

	test('whose request was lost is unknown at once, and Send Again may claim it once', async () => {
		const first = keysOfRun();
		await first.claim('key', 0);
		await first.end('key', 1, 'lost');
		const resend = { ...send, unknownOutcome: 'resend' } as const;
		const [one, other] = [keysOfRun(), keysOfRun()];
		expect(await keysOfRun().look(send, false)).toEqual({ is: 'unknown' });
		expect(await one.look(resend, false)).toEqual({ is: 'free', lastClaim: 1 });
		expect(await other.look(resend, false)).toEqual({ is: 'free', lastClaim: 1 });
		expect([await one.claim('key', 1), await other.claim('key', 1)]).toEqual([2, 0]);
		await one.end('key', 2, 'lost');
		// It was sent again by the other run, and once is enough.
		expect(await other.look(resend, false)).toEqual({ is: 'unknown' });
		expect(await keysOfRun().look(resend, false)).toEqual({ is: 'free', lastClaim: 2 });
	});

	test('that is unknown is sent from then on with Count as Sent', async () => {
		const keys = keysOfRun();
		await keys.claim('key', 0);
		await keys.end('key', 1, 'lost');
		const count = { ...send, unknownOutcome: 'countAsSent' } as const;
		expect(await keysOfRun().look(count, false)).toEqual({ is: 'sent' });
		expect(await keysOfRun().look(send, false)).toEqual({ is: 'sent' });
	});

	test('finds the last of any number of claims', async () => {
		for (let last = 0; last <= 40; last += 1) {
			expect(await keysOfRun().look(send, false)).toEqual({ is: 'free', lastClaim: last });
			table.add(`key:claim:${last + 1}`).add(`key:free:${last + 1}`);
		}
	});

	test('that was sent takes one query to ask, and a free one no look after another free one', async () => {
		const keys = keysOfRun();
		await keys.claim('other', 0);
		queries.count = 0;
		expect(await keys.look(send, true)).toEqual({ is: 'free', lastClaim: 0 });
		expect(queries.count).toBe(0);
		table.add('key:sent');
		expect(await keysOfRun().look(send, true)).toEqual({ is: 'sent' });
		expect(queries.count).toBe(1);
		// One that is free again behind a refusal says nothing of the next one.
		await keys.claim('other', 1);
		expect(await keys.look(send, true)).toEqual({ is: 'sent' });
	});
});
