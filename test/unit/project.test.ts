import { spawnSync } from 'node:child_process';
import {
	cpSync,
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
const manifest: unknown = JSON.parse(read('package.json'));

let folder: string;
beforeEach(() => {
	folder = mkdtempSync(join(tmpdir(), 'push-campaign-project-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

/** Runs Node.js in the test's own folder. */
const runNode = (...args: string[]) =>
	spawnSync(process.execPath, args, { cwd: folder, encoding: 'utf8' });

const passed = {
	numPassedTests: 3,
	numFailedTests: 0,
	numPendingTests: 0,
	numTodoTests: 0,
	numRuntimeErrorTestSuites: 0,
};

test.each([
	{ what: 'all tests passed', failedSteps: [], last: '6 passed, 0 failed', code: 0 },
	{ what: 'a test failed', changes: { numFailedTests: 2 }, last: '6 passed, 2 failed', code: 1 },
	{
		what: 'a file was not run',
		changes: { numRuntimeErrorTestSuites: 1 },
		last: '6 passed, 1 failed',
		code: 1,
	},
	{
		what: 'tests were skipped',
		changes: { numPendingTests: 2, numTodoTests: 1 },
		last: '6 passed, 3 failed',
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

test('.ci/run installs, checks and tests everything, and ends what hangs before the job on GitHub does', () => {
	// Each step only says how it would be run.
	const programs = join(folder, 'programs');
	for (const path of ['.ci', '.artifacts', 'programs']) mkdirSync(join(folder, path));
	for (const name of ['run', 'summary.mjs']) {
		cpSync(join(project, '.ci', name), join(folder, '.ci', name));
	}
	writeFileSync(join(folder, '.artifacts/test.json'), JSON.stringify(passed));
	const script = (name: string, code: string) =>
		writeFileSync(join(programs, name), `#!/bin/sh\n${code}\n`, { mode: 0o755 });
	script('dpkg', 'exit 1');
	script('timeout', 'echo "$@"');
	const PATH = `${programs}:${process.env['PATH']}`;
	const { status, stdout } = spawnSync(join(folder, '.ci/run'), {
		env: { PATH },
		encoding: 'utf8',
	});
	const steps = [...stdout.matchAll(/^--kill-after=30 (\d+)m (\w.*)$/gm)];
	const packages = 'chromium redis-server postgresql python3 make g++';
	expect(steps.map(([, , command]) => command)).toEqual([
		'apt-get update -qq',
		`apt-get install -qq --no-install-recommends ${packages}`,
		'npm install',
		'npm test',
		'npm run test:host',
	]);
	const minutes = steps.reduce((sum, [, given]) => sum + Number(given), 0);
	expect(read('.github/workflows/ci.yml')).toContain(`after ${minutes} minutes`);
	expect(minutes).toBeLessThanOrEqual(80);
	// What an earlier run reported is no result of this one.
	expect({ status, last: stdout.trim().split('\n').at(-1) }).toEqual({
		status: 1,
		last: '0 passed, 2 failed',
	});
});

test('package.json says what n8n and npm ask of a package, and has one command for each check', () => {
	expect(manifest).toMatchObject({
		license: 'MIT',
		engines: { node: '>=20.19' },
		files: ['dist', '!dist/*.tgz'],
		publishConfig: { access: 'public', 'ignore-scripts': false },
		peerDependencies: { 'n8n-workflow': '*' },
		scripts: {
			build: 'gulp clean && tsc -p tsconfig.build.json && gulp assets',
			prepack: 'npm run build',
			'format:check': 'oxfmt --check',
			lint: 'eslint --max-warnings 0 package.json nodes credentials && oxlint',
			test: 'npm run format:check && npm run lint && npm run test:jest',
			'test:jest': 'jest --ci --json --outputFile=.artifacts/test.json',
		},
		n8n: { n8nNodesApiVersion: 1, strict: true },
	});
	expect(manifest).not.toHaveProperty('dependencies');
});

test('what is published has been tested, is what was tested, and carries its provenance', () => {
	const runs = [...read('.github/workflows/publish.yml').matchAll(/^ +- run: (.*)$/gm)];
	expect(runs.map(([, command]) => command)).toEqual([
		'npm ci',
		'npm test',
		'npx jest --config test/host/jest.config.js package',
		'npm run package',
		'npm publish ./*.tgz --provenance',
	]);
});

test('no linter rule is off but those that say why, and warnings fail', () => {
	const rules = read('.oxlintrc.json');
	expect([...rules.matchAll(/"([\w/-]+)": "(?:off|warn)"/g)].map(([, rule]) => rule)).toEqual([
		'typescript/no-misused-spread',
		'typescript/require-array-sort-compare',
		'typescript/unbound-method',
		'max-lines',
		'no-loss-of-precision',
		'jest/no-conditional-expect',
		'jest/no-standalone-expect',
	]);
	for (const strict of [
		'"denyWarnings": true',
		'"typeCheck": true',
		'"correctness": "error"',
		'"max-lines": ["error", 250]',
		'"import/no-cycle": ["error"',
		'"no-warning-comments": ["error"',
		'"typescript/consistent-type-assertions": ["error", { "assertionStyle": "never" }]',
		'"typescript/no-explicit-any": "error"',
		'"typescript/no-non-null-assertion": "error"',
	]) {
		expect(rules).toContain(strict);
	}
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
});
