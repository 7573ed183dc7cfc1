import { median, summarize, toLines, toMarkdown, type Result } from '../../../bench/report';

test.each([
	[[3], 3],
	[[9, 1, 5], 5],
	[[4, 1, 3, 100], 3.5],
])('of %j the median is %d', (values, expected) => {
	expect(median(values)).toBe(expected);
	expect(summarize(values)).toMatchObject({ lowest: Math.min(...values), runs: values.length });
});

const judged: Result = {
	title: 'One',
	ours: { median: 500, lowest: 450, highest: 600, runs: 5 },
	other: { median: 1500, lowest: 1400, highest: 1700, runs: 5 },
	limit: { name: 'plain requests', ms: 9.5 },
	measure: 'of HTTP Request',
	value: '0.33 ×',
	target: '≤ 0.50 ×',
	passed: true,
	notes: ['a note'],
};
const ours = { median: 3, lowest: 3, highest: 3, runs: 7 };
const told: Result = { title: 'Two', ours, measure: 'a poll', value: '3 ×', notes: [] };

test('the page has a row for each case, with its verdict where it is judged', () => {
	const results = [judged, told, { ...told, target: '2', passed: false }];
	const page = toMarkdown(results, '2 cores', new Date('2026-01-02'));
	expect(page).toContain('Measured 2026-01-02 on 2 cores. Median of 5 to 7 runs');
	expect(page).toContain(
		'| One | 500 ms (450 ms to 600 ms) | 1.50 s (1.40 s to 1.70 s) | 9.5 ms, plain requests | 0.33 × of HTTP Request | ≤ 0.50 × | met |',
	);
	expect(page).toContain('| 3 × a poll | none |  |');
	expect(page).toContain('| 3 × a poll | 2 | **missed** |');
	expect(page).toContain('- One: a note.');
	expect(toLines(judged)).toContain('0.33 × of HTTP Request (target: ≤ 0.50 × met)');
});
