import * as fc from 'fast-check';
import type { RunEnd } from '../../../nodes/PushCampaign/execution/tally';
import { describeEnd, mayHaveSent } from '../../../nodes/PushCampaign/execution/tally';
import type { Problem } from '../../../nodes/PushCampaign/service/failures';

const problemOf = (message: string, outcome: Problem['outcome'] = 'notSent'): Problem => ({
	type: 'validation',
	outcome,
	message,
	description: '',
	cause: 'configuration-invalid',
});
const failed = (itemIndex: number, message: string) => ({ itemIndex, problem: problemOf(message) });
const unknown = (itemIndex: number) => ({ itemIndex, problem: problemOf('Lost', 'unknown') });
const none = { sent: 0, scheduled: 0, sentEarlier: 0, dryRun: 0 };

interface Row extends Pick<RunEnd, 'items' | 'failures'> {
	readonly name: string;
	readonly counts?: Partial<typeof none>;
	readonly said: string;
}

test.each<Row>([
	{
		name: 'with what was sent earlier beside what was sent now',
		items: 13,
		counts: { sent: 4, sentEarlier: 8 },
		failures: [failed(7, 'Subscriber ID is missing')],
		said: '4 sent, 8 sent earlier, 1 not sent (item 7: Subscriber ID is missing)',
	},
	{
		name: 'with scheduled sends as scheduled',
		items: 3,
		counts: { scheduled: 2 },
		failures: [unknown(1)],
		said: '2 scheduled, 1 unknown (item 1)',
	},
	{
		name: 'with the items of each reason',
		items: 6,
		failures: [failed(0, 'A'), failed(1, 'B'), failed(2, 'A')],
		said: '0 sent, 6 not sent (items 0, 2: A; item 1: B; 3 not started)',
	},
	{
		name: 'with three reasons and ten items of each at most',
		items: 15,
		counts: { dryRun: 1 },
		failures: [
			...Array.from({ length: 11 }, (_, itemIndex) => failed(itemIndex, 'A')),
			...['B', 'C', 'D'].map((message, index) => failed(11 + index, message)),
		],
		said: '0 sent, 1 in a dry run, 14 not sent (items 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, …: A; item 11: B; item 12: C; 1 more reason)',
	},
])('a run of sends is summed up in one sentence $name', ({ items, counts, failures, said }) => {
	expect(describeEnd({ kind: 'send', items, counts: { ...none, ...counts }, failures })).toBe(said);
});

test('a run of reads says how many failed, and why', () => {
	const failures = [failed(1, 'A'), unknown(2)];
	expect(describeEnd({ kind: 'read', items: 3, failures })).toBe(
		'2 of 3 failed (item 1: A; item 2: Lost)',
	);
});

test('the numbers of the sentence add up to the items, and nothing counts as sent that was not', () => {
	const few = fc.nat(20);
	fc.assert(
		fc.property(
			fc.record({ sent: few, scheduled: few, sentEarlier: few, dryRun: few }),
			fc.array(fc.boolean(), { maxLength: 20 }),
			few,
			(counts, areUnknown, notStarted) => {
				const failures = areUnknown.map((isUnknown, index) =>
					isUnknown ? unknown(index) : failed(index, 'A'),
				);
				const sum = Object.values(counts).reduce((one, other) => one + other, 0);
				const items = sum + failures.length + notStarted;
				const run = { kind: 'send', items, counts, failures } as const;
				const numbers = describeEnd(run)
					.replace(/\([^)]*\)/g, '')
					.match(/\d+/g);
				expect(numbers?.map(Number).reduce((one, other) => one + other, 0)).toBe(items);
				const isChanged = sum - counts.dryRun > 0 || areUnknown.some(Boolean);
				expect(mayHaveSent(run)).toBe(isChanged);
			},
		),
	);
});
