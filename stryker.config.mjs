import { createRequire } from 'node:module';
import { availableParallelism } from 'node:os';

// A random value that kills a mutant does so among the first ones.
process.env.FUZZ_RUNS ??= '5';

const { projects, ...jestConfig } = createRequire(import.meta.url)('./jest.config.js');

/** @type {import('@stryker-mutator/api/core').PartialStrykerOptions} */
export default {
	testRunner: 'jest',
	plugins: ['@stryker-mutator/jest-runner'],
	mutate: ['nodes/**/*.ts', 'credentials/**/*.ts'],
	jest: {
		projectType: 'custom',
		config: {
			...jestConfig,
			testEnvironment: './test/mutation/environment.js',
			// The unit tests alone have to notice: each mutant takes seconds with them, half a minute with n8n's engine.
			projects: projects
				.filter(({ displayName }) => displayName === 'unit')
				.map((project) => ({ ...project, runner: '<rootDir>/test/mutation/firstFailure.mjs' })),
		},
	},
	coverageAnalysis: 'perTest',
	concurrency: availableParallelism(),
	timeoutMS: 4000,
	// Jest keeps what it has loaded for each run.
	maxTestRunnerReuse: 150,
	// Gigabytes of n8n, and what tests leave behind.
	ignorePatterns: ['host/*/node_modules', '.demo', '.artifacts', 'coverage', 'dist', 'reports'],
	tempDirName: '.stryker-tmp',
	reporters: ['clear-text', 'progress-append-only', 'html', 'json'],
	clearTextReporter: { allowColor: false, logTests: false, reportTests: false },
	thresholds: { high: 95, low: 85, break: 85 },
	allowConsoleColors: false,
};
