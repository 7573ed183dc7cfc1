import { median, summarize } from '../../../bench/report';

test.each([
	[[3], 3],
	[[9, 1, 5], 5],
	[[4, 1, 3, 100], 3.5],
])('of %j the median is %d', (values, expected) => {
	expect(median(values)).toBe(expected);
	expect(summarize(values)).toMatchObject({ lowest: Math.min(...values), runs: values.length });
});
