import { spawnSync } from 'node:child_process';
import {
	existsSync,
	mkdirSync,
	mkdtempSync,
	readdirSync,
	readFileSync,
	rmSync,
	writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { z } from 'zod';

const project = join(__dirname, '../..');
const read = (path: string) => readFileSync(join(project, path), 'utf8');

let folder: string;
beforeEach(() => {
	folder = mkdtempSync(join(tmpdir(), 'push-campaign-project-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

/** Runs Node.js in the test's own folder. */
const runNode = (...args: string[]) =>
	spawnSync(process.execPath, args, { cwd: folder, encoding: 'utf8' });

const passed = { numPassedTests: 3, numFailedTests: 0, numRuntimeErrorTestSuites: 0 };

test.each([
	{ what: 'all tests passed', failedSteps: [], last: '6 passed, 0 failed', code: 0 },
	{ what: 'a test failed', changes: { numFailedTests: 2 }, last: '6 passed, 2 failed', code: 1 },
	{
		what: 'a file was not run',
		changes: { numRuntimeErrorTestSuites: 1 },
		last: '6 passed, 1 failed',
		code: 1,
	},
	{ what: 'the linter failed', failedSteps: ['npm test'], last: '6 passed, 1 failed', code: 1 },
	{
		what: 'nothing was installed',
		failedSteps: ['npm install'],
		last: '6 passed, 1 failed',
		code: 1,
	},
	{ what: 'a suite was not run', hostReport: '', last: '3 passed, 1 failed', code: 1 },
])('.ci/run ends with $code if $what', ({ failedSteps = [], changes, hostReport, last, code }) => {
	mkdirSync(join(folder, '.artifacts'));
	const report = JSON.stringify({ ...passed, ...changes });
	writeFileSync(join(folder, '.artifacts/test.json'), report);
	writeFileSync(join(folder, '.artifacts/test-host.json'), hostReport ?? JSON.stringify(passed));
	const { status, stdout } = runNode(join(project, '.ci/summary.mjs'), ...failedSteps);
	expect({ status, last: stdout.trim().split('\n').at(-1) }).toEqual({ status: code, last });
});

test('every test is run by `npm test` or by `npm run test:host`', () => {
	const folders = readdirSync(join(project, 'test')).filter((name) => {
		const files = readdirSync(join(project, 'test', name), { encoding: 'utf8', recursive: true });
		return files.some((file) => file.endsWith('.test.ts'));
	});
	const config = JSON.stringify(join(project, 'jest.config.js'));
	const { stdout } = runNode('-p', `JSON.stringify(require(${config}).projects)`);
	const run = z.array(z.object({ displayName: z.string() })).parse(JSON.parse(stdout));
	expect([...run.map(({ displayName }) => displayName), 'host'].sort()).toEqual(folders.sort());
});

test('a build begins with an empty dist/', () => {
	mkdirSync(join(folder, 'dist'));
	writeFileSync(join(folder, 'dist/old.js'), '');
	const { status } = runNode(
		'-e',
		`require(${JSON.stringify(join(project, 'gulpfile.js'))}).clean()`,
	);
	expect({ status, isThere: existsSync(join(folder, 'dist')) }).toEqual({
		status: 0,
		isThere: false,
	});
	expect(read('package.json')).toContain('"build": "gulp clean && ');
});
