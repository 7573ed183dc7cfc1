import { toChart } from '../../../bench/chart';
import type { Report } from '../../../bench/result';
import { median, summarize } from '../../../bench/statistics';
import { toMarkdown } from '../../../bench/table';

describe('a summary', () => {
	it.each([
		[[3], 3],
		[[9, 1, 5], 5],
		[[4, 1, 3, 100], 3.5],
	])('of %j has the median %d', (values, expected) => {
		expect(median(values)).toBe(expected);
	});

	it('tells the spread', () => {
		expect(summarize([3, 1, 2])).toEqual({ median: 2, lowest: 1, highest: 3, runs: 3 });
	});
});

const report: Report = {
	machine: '2 cores <test>',
	date: '2026-01-02',
	results: [
		{
			id: 'one',
			title: 'One & only',
			ours: { median: 500, lowest: 450, highest: 600, runs: 5 },
			other: { median: 1500, lowest: 1400, highest: 1700, runs: 5 },
			limit: { name: 'plain requests', ms: 9.5 },
			measure: 'of HTTP Request',
			value: '0.33 ×',
			target: '≤ 0.50 ×',
			passed: true,
			notes: ['a note'],
		},
		{
			id: 'two',
			title: 'Two',
			ours: { median: 3, lowest: 3, highest: 3, runs: 7 },
			measure: 'requests',
			value: '3',
			target: '1',
			passed: false,
			notes: [],
		},
	],
};

describe('the page', () => {
	it('has a row for each case, with its verdict', () => {
		const page = toMarkdown(report);

		expect(page).toContain('Measured 2026-01-02 on 2 cores <test>. Median of 5 to 7 runs');
		expect(page).toContain(
			'| One & only | 500 ms (450 ms to 600 ms) | 1.50 s (1.40 s to 1.70 s) | 9.5 ms, plain requests | 0.33 × of HTTP Request | ≤ 0.50 × | met |',
		);
		expect(page).toContain('| 3 requests | 1 | **missed** |');
		expect(page).toContain('- One & only: a note.');
	});

	it('has a chart with a bar for each time', () => {
		const chart = toChart(report);

		expect(chart.match(/<rect x=/g)).toHaveLength(4);
		expect(chart).toContain('One &amp; only');
		expect(chart).toContain('2 cores &lt;test&gt;');
	});
});
