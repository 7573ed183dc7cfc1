import * as fc from 'fast-check';
import { Keys } from '../../../nodes/PushCampaign/send/keys';
import { anyProcess, rowsIn, runProcesses } from './keyModel';

test('under one key, any number of processes that end anywhere send at most once, and report as sent only what was', async () => {
	const processes = fc.array(anyProcess, { minLength: 2, maxLength: 4 });
	const property = fc.asyncProperty(processes, fc.scheduler(), async (chosen, scheduler) => {
		const { accepted, mostInFlight, lies } = await runProcesses(chosen, scheduler);
		return accepted <= 1 && mostInFlight <= 1 && lies === 0;
	});
	// The same histories each time, so that what is found is found always.
	await fc.assert(property, { seed: 1, numRuns: 150 });
});

describe('a key', () => {
	const table = new Set<string>();
	const queries = { count: 0 };
	let nowMs = 0;
	const keysOfRun = () =>
		new Keys(
			rowsIn(table)(async () => void (queries.count += 1)),
			() => nowMs,
		);
	const claim = async (keys = keysOfRun()) => await keys.claim('key', 1_000);

	beforeEach(() => {
		table.clear();
		nowMs = 0;
	});

	test('that was refused is free for the next claim, and one that was sent never is', async () => {
		const keys = keysOfRun();
		expect(await claim(keys)).toEqual({ is: 'ours', claim: 1 });
		await keys.end('key', 1, 'free');
		expect(await keysOfRun().look('key')).toEqual({ is: 'free', lastClaim: 1 });
		expect(await claim()).toEqual({ is: 'ours', claim: 2 });
		await keys.end('key', 2, 'sent');
		expect(await claim()).toEqual({ is: 'sent' });
		expect([...table]).toEqual(['key:claim:1', 'key:free:1', 'key:claim:2', 'key:sent']);
	});

	test('that somebody else claimed is held until the time of its request is over, and is lost then', async () => {
		await claim();
		const keys = keysOfRun();
		expect(await claim(keys)).toEqual({ is: 'held' });
		nowMs = 5_999;
		expect(await claim(keys)).toEqual({ is: 'held' });
		nowMs = 6_000;
		expect(await keysOfRun().look('key')).toEqual({ is: 'claimed', lastClaim: 1 });
		expect(await claim(keys)).toEqual({ is: 'lost', isFound: true });
		expect([...table]).toEqual(['key:claim:1', 'key:lost:1']);
		// For ever, and found by one of all who ask.
		expect(await claim()).toEqual({ is: 'lost', isFound: false });
		expect(await keysOfRun().look('key')).toEqual({ is: 'lost' });
	});

	test('whose time is over is found to be lost by one of two who ask at once', async () => {
		await claim();
		const both = [keysOfRun(), keysOfRun()];
		await Promise.all(both.map(claim));
		nowMs = 6_000;
		const answers = await Promise.all(both.map(claim));
		expect(answers.map((answer) => answer.is === 'lost' && answer.isFound).sort()).toEqual([
			...[false, true],
		]);
	});

	test('finds the last of any number of claims', async () => {
		for (let last = 0; last <= 40; last += 1) {
			expect(await keysOfRun().look('key')).toEqual({ is: 'free', lastClaim: last });
			table.add(`key:claim:${last + 1}`).add(`key:free:${last + 1}`);
		}
	});

	test('that was sent takes one query to ask, and a free one no look after another free one', async () => {
		const keys = keysOfRun();
		await keys.claim('other', 1_000);
		queries.count = 0;
		expect(await claim(keys)).toEqual({ is: 'ours', claim: 1 });
		expect(queries.count).toBe(1);
		table.add('key:sent');
		queries.count = 0;
		expect(await claim()).toEqual({ is: 'sent' });
		expect(queries.count).toBe(1);
	});

	test('is looked at if the one before was free only behind a refusal', async () => {
		table.add('other:claim:1').add('other:free:1').add('key:claim:1').add('key:sent');
		const keys = keysOfRun();
		expect(await keys.claim('other', 1_000)).toEqual({ is: 'ours', claim: 2 });
		expect(await claim(keys)).toEqual({ is: 'sent' });
	});
});
