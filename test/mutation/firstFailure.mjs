import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import JestRunner from 'jest-runner';

/** What each test file holds and how long it took, from Stryker's dry run; in its copy of the project. */
const notes = join(process.cwd(), 'mutation-tests.json');

/**
 * The names in a pattern of Stryker's: `(first name)|(second name)`, each escaped.
 * @param {string} pattern
 */
const namesIn = (pattern) =>
	new Set(
		pattern
			.slice(1, -1)
			.split(')|(')
			.map((name) => name.replaceAll(/\\(.)/g, '$1')),
	);

/**
 * Runs for a mutant only the files with tests that reach it, the quickest first, and nothing after the first
 * failure: Stryker's runner for jest loads all files that import the mutated one, and runs them to the end.
 */
export default class FirstFailure extends JestRunner {
	/** @type {import('jest-runner').default['runTests']} */
	async runTests(tests, watcher) {
		const { testNamePattern } = this._globalConfig;
		if (!existsSync(notes)) {
			/** @type {Record<string, { milliseconds: number, names: string[] }>} */
			const files = {};
			const stop = this.on('test-file-success', ([test, { perfStats, testResults }]) => {
				const names = testResults.map(({ fullName }) => fullName);
				files[test.path] = { milliseconds: perfStats.runtime, names };
			});
			await super.runTests(tests, watcher, { serial: true });
			stop();
			writeFileSync(notes, JSON.stringify(files));
			return;
		}
		/** @type {Record<string, { milliseconds: number, names: string[] }>} */
		const files = JSON.parse(readFileSync(notes, 'utf8'));
		// Without a pattern the mutant lies in what runs once when a file is loaded: any test may reach it.
		const wanted = testNamePattern === undefined ? undefined : namesIn(testNamePattern);
		const reaching = tests
			.filter(({ path }) => files[path]?.names.some((name) => wanted?.has(name) ?? true))
			.sort((one, other) => files[one.path].milliseconds - files[other.path].milliseconds);
		let hasFailed = false;
		const stops = [
			this.on('test-file-success', ([, { numFailingTests, testExecError }]) => {
				hasFailed ||= numFailingTests > 0 || testExecError !== undefined;
			}),
			this.on('test-file-failure', () => {
				hasFailed = true;
			}),
		];
		for (const test of reaching) {
			if (!hasFailed) await super.runTests([test], watcher, { serial: true });
		}
		for (const stop of stops) stop();
	}
}
