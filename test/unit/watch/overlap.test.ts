import type { Baseline } from '../../../nodes/PushCampaign/watch/baseline';
import { zeroCounters } from '../../../nodes/PushCampaign/watch/changes';
import {
	isEmittedElsewhere,
	mergeEmitted,
	OverlappingPolls,
} from '../../../nodes/PushCampaign/watch/overlap';

const at = (readAt: number): Baseline => ({ counters: zeroCounters, readAt });

describe('polls of one trigger', () => {
	/** A poll that ends when it is told to. */
	function startPoll(polls: OverlappingPolls, trigger: string) {
		let end: (problem?: Error) => void = () => undefined;
		let seen: Map<string, Baseline> | undefined;
		const done = polls.run(trigger, async (emitted) => {
			seen = emitted;
			return await new Promise<string>((resolve, reject) => {
				end = (problem) => (problem === undefined ? resolve('done') : reject(problem));
			});
		});
		if (seen === undefined) throw new Error('The poll did not start at once');
		return { done, emitted: seen, end };
	}

	test('that overlap know what the others emitted, those of other triggers do not', async () => {
		const polls = new OverlappingPolls();
		const first = startPoll(polls, 'a');
		first.emitted.set('1001', at(1));
		const second = startPoll(polls, 'a');
		const other = startPoll(polls, 'b');
		expect([...second.emitted.keys()]).toEqual(['1001']);
		expect(other.emitted.size).toBe(0);
		for (const poll of [first, second, other]) {
			poll.end();
			expect(await poll.done).toBe('done');
		}
	});

	test('are forgotten with the last that ends, also where it fails', async () => {
		const polls = new OverlappingPolls();
		const first = startPoll(polls, 'a');
		const second = startPoll(polls, 'a');
		first.emitted.set('1001', at(1));
		first.end(new Error('no answer'));
		await expect(first.done).rejects.toThrow('no answer');
		const third = startPoll(polls, 'a');
		expect(third.emitted.size).toBe(1);
		second.end();
		third.end();
		await Promise.all([second.done, third.done]);
		const later = startPoll(polls, 'a');
		expect(later.emitted.size).toBe(0);
		later.end();
		await later.done;
	});
});

test.each([
	['no other poll', undefined, at(5), false],
	['another poll, and no baseline', at(5), undefined, true],
	['another poll that read before the baseline', at(4), at(5), false],
	['the poll of the baseline', at(5), at(5), false],
	['another poll that read after the baseline', at(6), at(5), true],
])('emitted by %s', (_name, other, baseline, isElsewhere) => {
	const emitted = new Map<string, Baseline>([['1002', at(9)]]);
	if (other !== undefined) emitted.set('1001', other);
	expect(isEmittedElsewhere({ campaignId: '1001' }, baseline, emitted)).toBe(isElsewhere);
});

test('of each campaign the baseline that was read last is kept, and what is given stays as it is', () => {
	const own = { older: at(1), same: at(2), newer: at(5), alone: at(6) };
	const before = structuredClone(own);
	const same = at(2);
	const emitted = new Map([
		['older', at(3)],
		['same', same],
		['newer', at(4)],
		['unknown', at(7)],
	]);
	const merged = mergeEmitted(own, emitted);
	expect(merged).toEqual({
		older: at(3),
		same: at(2),
		newer: at(5),
		alone: at(6),
		unknown: at(7),
	});
	expect(merged['same']).toBe(own.same);
	expect(own).toEqual(before);
});
