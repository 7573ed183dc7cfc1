import { existsSync } from 'node:fs';
import { join } from 'node:path';
import {
	chapters,
	readResults,
	readSource,
	saysTheSame,
	type TestResult,
	writePage,
} from '../../../docs/reliability';

const project = join(__dirname, '../../..');

// Whether all of its tests passed is checked after a run, by `npm run docs:reliability -- --check`.
test('docs/reliability-tests.md lists suites that are there, each once', () => {
	const suites = chapters.flatMap((chapter) => chapter.suites);
	expect(new Set(suites).size).toBe(suites.length);
	const missing = suites.filter(
		(source) => !existsSync(join(project, `test/${readSource(source).suite}.test.ts`)),
	);
	expect(missing).toEqual([]);
});

describe('docs/reliability-tests.md', () => {
	const parts = [{ title: 'Queue mode', suites: ['host/queue'] }];
	const table = (...rows: string[]) =>
		['## Queue mode', '', '| What a test shows | n8n |', '| --- | --- |', ...rows, ''].join('\n');
	const result = (changes: Partial<TestResult> = {}): TestResult => ({
		suite: 'host/queue',
		groups: ['queue mode on n8n 2.x'],
		title: 'it sends once',
		status: 'passed',
		...changes,
	});

	test('holds the titles of the tests, with the versions and engines that they ran on', () => {
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
		const { page, faults } = writePage(parts, results);
		expect(page.slice(page.indexOf('##'))).toBe(table(...rows));
		expect(faults).toEqual([]);
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
	])('is not written because of $name', ({ results, fault }) => {
		expect(writePage(parts, results).faults).toEqual([fault]);
	});

	test('lists the groups of a suite in different chapters, and misses none of its tests', () => {
		const groups = [
			{ title: 'Sends', suites: ['host/queue > a send'] },
			{ title: 'The trigger', suites: ['host/queue > the trigger'] },
		];
		const results = [
			result({ groups: ['on n8n 1.x', 'the trigger'], title: 'it polls' }),
			result({ groups: ['on n8n 1.x', 'a send'] }),
			result({ groups: ['on n8n 1.x'], title: 'it waits' }),
		];
		const { page, faults } = writePage(groups, results);
		expect(page).toMatch(
			/## Sends[^#]+\| It sends once \| 1\.x \|[^|]+## The trigger[^#]+\| It polls \| 1\.x \|\n$/,
		);
		expect(faults).toEqual(['In no chapter: host/queue: it waits']);
	});

	test('says the same however its tables are aligned, and something else if a word differs', () => {
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
