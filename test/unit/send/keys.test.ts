import * as fc from 'fast-check';
import { Keys } from '../../../nodes/PushCampaign/send/keys';
import type { KeyRows } from '../../../nodes/PushCampaign/send/rows';
import { anyProcess, rowsIn, runProcesses, type RowsFor } from './keyModel';

const processes = fc.array(anyProcess, { minLength: 2, maxLength: 4 });

type IsRight = (history: Awaited<ReturnType<typeof runProcesses>>) => boolean;

const historiesOf = (
	isRight: IsRight,
	rowsFor = () => rowsIn(new Set()),
	keysFor?: (rows: KeyRows, now: () => number) => Keys,
) =>
	fc.asyncProperty(processes, fc.scheduler(), async (chosen, scheduler) =>
		isRight(await runProcesses(chosen, scheduler, rowsFor(), keysFor)),
	);

// The same histories each time, so that what is found is found always.
const seed = 1;

/** Whether something is wrong in one of many histories. */
const isFound = async (...parts: Parameters<typeof historiesOf>) =>
	(await fc.check(historiesOf(...parts), { seed, numRuns: 300, endOnFailure: true })).failed;

const isSentOnce: IsRight = ({ accepted, mostInFlight }) => accepted <= 1 && mostInFlight <= 1;

test('under one key, any number of processes that end anywhere send at most once, and report as sent only what was', async () => {
	const isRight: IsRight = (history) => isSentOnce(history) && history.lies === 0;
	await fc.assert(historiesOf(isRight), { seed, numRuns: 150 });
});

describe('the model finds', () => {
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
		expect(await isFound(isSentOnce, rowsFor)).toBe(true);
	});

	test('a claim that is made although nobody knows how the one before it ended', async () => {
		class Bold extends Keys {
			override async look(...asked: Parameters<Keys['look']>) {
				const state = await super.look(...asked);
				return state.is === 'ended' ? { ...state, is: 'free' as const } : state;
			}
		}
		const bold = (rows: KeyRows, now: () => number) => new Bold(rows, now);
		expect(await isFound(isSentOnce, undefined, bold)).toBe(true);
	});
});

describe('a key', () => {
	const send = ['key', 1_000] as const;
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
		expect(await keysOfRun().look(...send, false)).toEqual({ is: 'free', lastClaim: 1 });
		expect(await keys.claim('key', 1)).toBe(2);
		await keys.end('key', 2, 'sent');
		expect(await keysOfRun().look(...send, false)).toEqual({ is: 'sent' });
		expect([...table]).toEqual(['key:claim:1', 'key:free:1', 'key:claim:2', 'key:sent']);
	});

	test('that somebody else claimed is held until the time of its request is over', async () => {
		await keysOfRun().claim('key', 0);
		const keys = keysOfRun();
		expect(await keys.look(...send, false)).toEqual({ is: 'held' });
		nowMs = 5_999;
		expect(await keys.look(...send, false)).toEqual({ is: 'held' });
		nowMs = 6_000;
		expect(await keys.look(...send, false)).toEqual({ is: 'ended', lastClaim: 1 });
	});

	test('whose request is noted as lost is lost at once, for ever, and by one of those who note it', async () => {
		const [one, other] = [keysOfRun(), keysOfRun()];
		await one.claim('key', 0);
		expect([await one.end('key', 1, 'lost'), await other.end('key', 1, 'lost')]).toEqual([
			...[true, false],
		]);
		expect(await keysOfRun().look(...send, false)).toEqual({ is: 'lost' });
	});

	test('finds the last of any number of claims', async () => {
		for (let last = 0; last <= 40; last += 1) {
			expect(await keysOfRun().look(...send, false)).toEqual({ is: 'free', lastClaim: last });
			table.add(`key:claim:${last + 1}`).add(`key:free:${last + 1}`);
		}
	});

	test('that was sent takes one query to ask, and a free one no look after another free one', async () => {
		const keys = keysOfRun();
		await keys.claim('other', 0);
		queries.count = 0;
		expect(await keys.look(...send, true)).toEqual({ is: 'free', lastClaim: 0 });
		expect(queries.count).toBe(0);
		table.add('key:sent');
		expect(await keysOfRun().look(...send, true)).toEqual({ is: 'sent' });
		expect(queries.count).toBe(1);
		// One that is free again behind a refusal says nothing of the next one.
		await keys.claim('other', 1);
		expect(await keys.look(...send, true)).toEqual({ is: 'sent' });
	});
});
