import { createRequire } from 'node:module';

const { projects, ...jestConfig } = createRequire(import.meta.url)('./jest.config.js');

/** Which tests kill mutants: those that need no build and no server. */
const killers = new Set(['unit', 'engine']);

/** @type {import('@stryker-mutator/api/core').PartialStrykerOptions} */
export default {
	testRunner: 'jest',
	plugins: ['@stryker-mutator/jest-runner'],
	mutate: ['nodes/**/*.ts', 'credentials/**/*.ts'],
	jest: {
		projectType: 'custom',
		config: {
			...jestConfig,
			projects: projects
				.filter(({ displayName }) => killers.has(displayName))
				.map((project) => ({ ...project, testTimeout: 60_000 })),
		},
	},
	coverageAnalysis: 'perTest',
	// What runs once when a file is loaded (panels, tables, schemas) would need all tests for each mutant.
	ignoreStatic: true,
	concurrency: 2,
	timeoutMS: 20_000,
	// Gigabytes of n8n, and what tests leave behind.
	ignorePatterns: ['host/*/node_modules', '.demo', '.artifacts', 'coverage', 'dist', 'reports'],
	tempDirName: '.stryker-tmp',
	reporters: ['clear-text', 'progress-append-only', 'html', 'json'],
	clearTextReporter: { allowColor: false, logTests: false, reportTests: false },
	thresholds: { high: 95, low: 85, break: 85 },
	allowConsoleColors: false,
};
