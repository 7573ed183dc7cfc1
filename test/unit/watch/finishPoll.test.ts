import type { Problem } from '../../../nodes/PushCampaign/service/failures';
import { explain, reasons } from '../../../nodes/PushCampaign/service/failures';
import type { Baselines, Rule } from '../../../nodes/PushCampaign/watch/compare';
import { finishPoll, memoryOf } from '../../../nodes/PushCampaign/watch/finishPoll';
import type { PollState } from '../../../nodes/PushCampaign/watch/triggerState';
import { newWorkflow } from './stateSupport';
import { changesIn, observationOf } from './support';

const rule: Rule = {
	kind: 'changed',
	numbers: ['clicked'],
	isStatusWatched: false,
	minimumChange: 1,
};

/** A trigger whose state stays in memory. */
class Trigger {
	saved: Baselines = new Map();
	saves = 0;
	isStale = false;
	readonly memory = memoryOf(newWorkflow(), 'node');
	private readonly state: PollState = {
		load: () => this.saved,
		isStale: () => this.isStale,
		save: (baselines) => {
			this.saved = baselines;
			this.saves += 1;
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
		const readings = { observations, failures, unread: ['unread'] };
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
		expect(trigger.saves).toBe(2);
	});

	test('of a campaign that can’t be read stay where they are', () => {
		const trigger = new Trigger();
		trigger.poll({ a: 1, b: 1 });
		expect(trigger.poll({ a: gone, b: 2 }).events).toEqual([['b', 1]]);
		expect(trigger.poll({ a: 5, b: 2 }).events).toEqual([['a', 1]]);
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
			expect(trigger.saved.size).toBeLessThanOrEqual(2);
		}
	});
});

describe('a stale poll', () => {
	test('emits, saves and reports nothing, and leaves everything to the next poll', () => {
		const trigger = new Trigger();
		trigger.isStale = true;
		const result = trigger.poll({ a: 1, b: gone }, true);
		expect(result).toEqual({ events: [], reported: [] });
		expect(trigger.saves).toBe(0);
		expect(trigger.memory).toMatchObject({ hasPolled: false, readFirst: [] });
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

test('a poll remembers what the next one reads first', () => {
	const trigger = new Trigger();
	trigger.poll({ a: 1 });
	expect(trigger.memory).toMatchObject({ hasPolled: true, readFirst: ['unread'] });
});
