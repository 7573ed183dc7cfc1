import { median, summarize } from '../../../bench/report';

test.each([
	{ values: [3], expected: 3 },
	{ values: [9, 1, 5], expected: 5 },
	{ values: [4, 1, 3, 100], expected: 3.5 },
])('the median of $values is $expected', ({ values, expected }) => {
	expect(median(values)).toBe(expected);
	expect(summarize(values)).toMatchObject({ lowest: Math.min(...values), runs: values.length });
});
