import type { Problem } from '../../../nodes/PushCampaign/service/failures';
import { explain, reasons } from '../../../nodes/PushCampaign/service/failures';
import { failPoll, finishPoll, memoryOf } from '../../../nodes/PushCampaign/watch/finishPoll';
import type { PollState, TriggerState } from '../../../nodes/PushCampaign/watch/triggerState';
import { newState, nextState } from '../../../nodes/PushCampaign/watch/triggerState';
import type { TriggerRule } from '../../../nodes/PushCampaign/watch/watched';
import { newWorkflow } from './stateSupport';
import { changesIn, observationOf } from './support';

const rule: TriggerRule = {
	startsOn: 'change',
	counters: ['clicked'],
	isStatusWatched: false,
	minimumChange: 1,
};

/** A trigger whose state stays in memory. */
class Trigger {
	saved: TriggerState = newState;
	site = 'one site';
	isStale = false;
	readonly memory = memoryOf(newWorkflow(), 'node');
	private readonly state: PollState = {
		load: () => this.saved,
		isStale: () => this.isStale,
		save: (site, baselines) => {
			this.saved = nextState(site, baselines, this.saved.revision + 1);
		},
	};

	/**
	 * @param clicks the counter of each campaign on the list, or why it can't be read
	 * @returns the ID of each event, and where its change begins
	 */
	poll(clicks: Readonly<Record<string, number | Problem>>, isReportedAtOnce = false) {
		const observations = [];
		const failures = new Map<string, Problem>();
		for (const [id, clicked] of Object.entries(clicks)) {
			if (typeof clicked === 'number') observations.push(observationOf({ clicked }, { id }));
			else failures.set(id, clicked);
		}
		const readings = { site: this.site, observations, failures, unread: ['unread'] };
		const watched = { ids: Object.keys(clicks), rule };
		const result = finishPoll(this.state, this.memory, watched, readings, isReportedAtOnce);
		return {
			events: result.items.map((item) => [item['campaignId'], changesIn(item)['clicked']?.from]),
			reported: [...result.toReport.keys()],
		};
	}
}

const gone = explain(reasons.timeout(1000), 'poll');

describe('the baselines', () => {
	test('move with an event, and are not saved without one', () => {
		const trigger = new Trigger();
		expect(trigger.poll({ a: 1 }).events).toEqual([['a', 0]]);
		expect(trigger.poll({ a: 1 }).events).toEqual([]);
		expect(trigger.poll({ a: 2 }).events).toEqual([['a', 1]]);
		expect(trigger.saved.revision).toBe(2);
	});

	test('of a campaign that can’t be read stay where they are', () => {
		const trigger = new Trigger();
		trigger.poll({ a: 1, b: 1 });
		expect(trigger.poll({ a: gone, b: 2 }).events).toEqual([['b', 1]]);
		expect(trigger.poll({ a: 5, b: 2 }).events).toEqual([['a', 1]]);
	});
});

describe('another site', () => {
	test('counts from zero, and so does the first one after an event of the other', () => {
		const trigger = new Trigger();
		trigger.poll({ a: 5, b: 5 });
		trigger.site = 'another site';
		expect(trigger.poll({ a: 7 }).events).toEqual([['a', 0]]);
		expect(trigger.poll({ a: 7 }).events).toEqual([]);
		trigger.site = 'one site';
		expect(trigger.poll({ a: 5, b: 5 }).events).toEqual([
			['a', 0],
			['b', 0],
		]);
	});

	test('changes nothing of the first one while it has no event', () => {
		const trigger = new Trigger();
		trigger.poll({ a: 5, b: 5 });
		trigger.site = 'another site';
		expect(trigger.poll({ a: gone }).events).toEqual([]);
		trigger.site = 'one site';
		// The list of the other site was without b.
		expect(trigger.poll({ a: 6, b: 5 }).events).toEqual([
			['a', 5],
			['b', 0],
		]);
	});
});

describe('a campaign that is taken off the list', () => {
	test('counts from zero if it comes back, though nothing was saved in between', () => {
		const trigger = new Trigger();
		trigger.poll({ a: 1, b: 1 });
		expect(trigger.poll({ a: 1 }).events).toEqual([]);
		expect(trigger.poll({ a: 1, b: 1 }).events).toEqual([['b', 0]]);
		expect(trigger.poll({ a: 1, b: 2 }).events).toEqual([['b', 1]]);
	});

	test('counts from zero though it can’t be read when it comes back', () => {
		const trigger = new Trigger();
		trigger.poll({ a: 1, b: 1 });
		trigger.poll({ a: 1 });
		trigger.poll({ a: 1, b: gone });
		expect(trigger.poll({ a: 1, b: 1 }).events).toEqual([['b', 0]]);
	});

	test('is not remembered once the saved baselines are without it', () => {
		const trigger = new Trigger();
		for (let round = 1; round <= 50; round += 1) {
			trigger.poll({ kept: round, [`campaign ${round}`]: 1 });
			expect(trigger.memory.removed.size).toBeLessThanOrEqual(1);
			expect(Object.keys(trigger.saved.baselines).length).toBeLessThanOrEqual(2);
		}
	});
});

describe('a stale poll', () => {
	test('emits, saves and reports nothing, and leaves everything to the next poll', () => {
		const trigger = new Trigger();
		trigger.isStale = true;
		const result = trigger.poll({ a: 1, b: gone }, true);
		expect(result).toEqual({ events: [], reported: [] });
		expect(trigger.saved.revision).toBe(0);
		expect(trigger.memory).toMatchObject({ isWatching: false, readFirst: [] });
		trigger.isStale = false;
		expect(trigger.poll({ a: 1, b: gone }, true)).toEqual({ events: [['a', 0]], reported: ['b'] });
	});

	test('does not count as the first of two polls in which a campaign fails', () => {
		const trigger = new Trigger();
		trigger.isStale = true;
		trigger.poll({ a: gone, b: 1 });
		trigger.isStale = false;
		expect(trigger.poll({ a: gone, b: 1 }).reported).toEqual([]);
		expect(trigger.poll({ a: gone, b: 1 }).reported).toEqual(['a']);
	});
});

test.each([
	{ name: 'read something', given: { a: 1 } },
	{ name: 'read nothing', given: { a: gone } },
])('a poll that $name remembers what the next one reads first', ({ given }) => {
	const trigger = new Trigger();
	trigger.poll(given);
	expect(trigger.memory).toMatchObject({ isWatching: true, readFirst: ['unread'] });
});

describe('a poll that could not begin to read', () => {
	test('is reported if it is the second in a row, once until another poll reads', () => {
		const memory = memoryOf(newWorkflow(), 'node');
		const polls = [1, 2, 3].map(() => failPoll(memory, gone, false));
		expect(polls).toEqual([false, true, false]);
	});

	test('is reported at once if the workflow was published, and makes the trigger one that watches', () => {
		const memory = memoryOf(newWorkflow(), 'node');
		expect(failPoll(memory, gone, true)).toBe(true);
		expect(memory.isWatching).toBe(true);
	});

	test('does not heal a campaign that fails, and is healed by one that reads', () => {
		const trigger = new Trigger();
		trigger.poll({ a: gone, b: 1 });
		expect(trigger.poll({ a: gone, b: 1 }).reported).toEqual(['a']);
		const both = [1, 2].map(() => failPoll(trigger.memory, gone, false));
		expect(both).toEqual([false, true]);
		expect([1, 2].flatMap(() => trigger.poll({ a: gone, b: 1 }).reported)).toEqual([]);
		expect(failPoll(trigger.memory, gone, false)).toBe(false);
	});
});
