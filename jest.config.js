const { mkdirSync } = require('node:fs');
const { availableParallelism } = require('node:os');
const { join } = require('node:path');

const jestBase = require('./test/support/jestBase.js');

// Where `--outputFile` puts the results; jest does not make the folder.
mkdirSync(join(__dirname, '.artifacts'), { recursive: true });

const setupFiles = ['useOnceLoaded', 'properties'].map(
	(name) => `<rootDir>/test/support/${name}.ts`,
);

/** @type {import('jest').Config} */
module.exports = {
	// The engine tests mostly wait: for servers, for pauses between retries.
	maxWorkers: 2 * availableParallelism() + 1,
	// A busy machine takes seconds for what is done in milliseconds otherwise. Jest heeds it here alone.
	testTimeout: 60_000,
	// Nor does it let a worker end within the half second after which Jest kills it with a warning.
	workerGracefulExitTimeout: 30_000,
	projects: [
		{
			...jestBase,
			displayName: 'unit',
			testMatch: ['<rootDir>/test/unit/**/*.test.ts'],
			testEnvironment: '<rootDir>/test/support/onceLoaded.ts',
			setupFiles,
		},
		{
			...jestBase,
			displayName: 'engine',
			testMatch: ['<rootDir>/test/engine/**/*.test.ts'],
			testEnvironment: '<rootDir>/test/engine/support/environment.ts',
			setupFiles,
			// The unit tests alone have to reach everything; to count here too takes a tenth of all time.
			coveragePathIgnorePatterns: ['/'],
		},
		{
			...jestBase,
			displayName: 'verify',
			testMatch: ['<rootDir>/test/verify/**/*.test.ts'],
			coveragePathIgnorePatterns: ['/'],
		},
	],
	collectCoverageFrom: ['nodes/**/*.ts', 'credentials/**/*.ts'],
	coverageReporters: ['text-summary', 'lcovonly'],
	coverageThreshold: { global: { statements: 95, branches: 95 } },
};
