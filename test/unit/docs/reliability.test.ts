import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import {
	fill,
	readResults,
	saysTheSame,
	suitesIn,
	type TestResult,
} from '../../../docs/reliability';

const project = join(__dirname, '../../..');

// Whether all of its tests passed is checked after a run, by `npm run docs:reliability -- --check`.
test('docs/reliability.md lists suites that are there, each once', () => {
	const suites = suitesIn(readFileSync(join(project, 'docs/reliability.md'), 'utf8'));
	expect(suites.length).toBeGreaterThan(10);
	expect(new Set(suites).size).toBe(suites.length);
	const missing = suites.filter((suite) => !existsSync(join(project, `test/${suite}.test.ts`)));
	expect(missing).toEqual([]);
});

describe('the tables of docs/reliability.md', () => {
	const page = (table = '') =>
		`Before\n\n<!-- tests: host/queue -->${table}\n<!-- end -->\n\nAfter`;
	const table = (...rows: string[]) =>
		['\n', '| What a test shows | n8n |', '| --- | --- |', ...rows, ''].join('\n');
	const result = (changes: Partial<TestResult> = {}): TestResult => ({
		suite: 'host/queue',
		groups: ['queue mode on n8n 2.x'],
		title: 'it sends once',
		status: 'passed',
		...changes,
	});

	test('hold the titles of the tests, with the versions and engines that they ran on', () => {
		const results = [
			result(),
			result({ groups: ['queue mode on n8n 1.x'] }),
			result({ title: 'nothing is lost', groups: ['in the durable engine'] }),
			result({ title: 'nothing is lost', groups: ['in the classic engine of n8n 1.x'] }),
			result({ title: 'a | b', groups: [] }),
			result({ suite: 'host/other', title: 'something else' }),
		];
		const rows = [
			'| It sends once | 2.x, 1.x |',
			'| Nothing is lost | 1.x (classic, durable) |',
			'| A \\| b | 2.x |',
		];
		const written = fill(page(), results);
		expect(written).toEqual({
			page: page(table(...rows)).replace('\n\n<!-- end', '\n\n<!-- end'),
			faults: [],
		});
		expect(fill(written.page, results)).toEqual(written);
	});

	test.each([
		{ name: 'a suite that did not run', results: [], fault: 'Not run: host/queue' },
		{
			name: 'a skipped test',
			results: [result({ status: 'pending' })],
			fault: 'pending: host/queue: it sends once',
		},
		{
			name: 'one of two tests of a title that failed',
			results: [result(), result({ status: 'failed' })],
			fault: 'failed: host/queue: it sends once',
		},
	])('are not written because of $name', ({ results, fault }) => {
		expect(fill(page(), results).faults).toEqual([fault]);
	});

	test('say the same however they are aligned, and something else if a word differs', () => {
		const narrow = table('| It sends once | 2.x |');
		const wide = narrow.replace('once |', 'once    |').replace('| ---', '| --------');
		expect(saysTheSame(narrow, wide)).toBe(true);
		expect(saysTheSame(narrow, wide.replace('once', 'twice'))).toBe(false);
	});
});

test('the results are read from what jest writes', () => {
	const json = JSON.stringify({
		testResults: [
			{
				name: '/project/test/host/queue.test.ts',
				assertionResults: [
					{ ancestorTitles: ['on n8n 2.x'], title: 'it sends', status: 'passed', duration: 7 },
				],
			},
		],
	});
	expect(readResults(json)).toEqual([
		{ suite: 'host/queue', groups: ['on n8n 2.x'], title: 'it sends', status: 'passed' },
	]);
});
