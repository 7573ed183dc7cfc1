import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const project = join(__dirname, '..', '..', '..');
const page = readFileSync(join(project, 'docs', 'reliability.md'), 'utf8');

const rows = page
	.split('\n')
	.filter((line) => line.startsWith('| ') && !/^\| (-|What goes wrong)/.test(line))
	.map((line) => line.split('|').slice(1, -1).at(-1)?.trim() ?? '');

/** `host/queue`: "the title" */
const reference = /^`([\w/]+)`: "(.+)"$/;

test('docs/reliability.md has its rows', () => {
	expect(rows.length).toBeGreaterThan(30);
});

test.each(rows)('the test that a row names exists: %s', (cell) => {
	const [, suite = '', title = ''] = reference.exec(cell) ?? [];
	expect(title).not.toBe('');
	const file = join(project, 'test', `${suite}.test.ts`);
	expect(existsSync(file)).toBe(true);
	const source = readFileSync(file, 'utf8');
	const literals = [`'${title}'`, `"${title}"`];
	expect(literals.filter((literal) => source.includes(literal))).toHaveLength(1);
});
