const { mkdirSync } = require('node:fs');
const { availableParallelism } = require('node:os');
const { join } = require('node:path');

// Where `--outputFile` puts the results; jest does not make the folder.
mkdirSync(join(__dirname, '.artifacts'), { recursive: true });

/** The suites of a folder of `test/`. */
const suites = (name) => ({
	displayName: name,
	testMatch: [`<rootDir>/test/${name}/**/*.test.ts`],
	transform: {
		'^.+\\.ts$': [
			'@swc/jest',
			{
				jsc: { target: 'es2022', parser: { syntax: 'typescript' } },
				module: { type: 'commonjs' },
			},
		],
	},
	modulePathIgnorePatterns: [
		'<rootDir>/dist',
		'<rootDir>/\\.demo',
		'<rootDir>/\\.artifacts',
		'<rootDir>/\\.stryker-tmp',
		'<rootDir>/host/.*/node_modules',
	],
});

const setupFiles = ['useOnceLoaded', 'properties'].map(
	(name) => `<rootDir>/test/support/${name}.ts`,
);

/** @type {import('jest').Config} */
const inProcess = {
	// The engine tests mostly wait: for servers, for pauses between retries.
	maxWorkers: 2 * availableParallelism() + 1,
	// A busy machine takes seconds for what is done in milliseconds otherwise. Jest heeds it here alone.
	testTimeout: 60_000,
	// Nor does it let a worker end within the half second after which Jest kills it with a warning.
	workerGracefulExitTimeout: 30_000,
	projects: [
		{
			...suites('unit'),
			testEnvironment: '<rootDir>/test/support/onceLoaded.ts',
			setupFiles,
		},
		{
			...suites('engine'),
			testEnvironment: '<rootDir>/test/engine/support/environment.ts',
			setupFiles,
			// The unit tests alone have to reach everything; to count here too takes a tenth of all time.
			coveragePathIgnorePatterns: ['/'],
		},
		{ ...suites('verify'), coveragePathIgnorePatterns: ['/'] },
	],
	collectCoverageFrom: ['nodes/**/*.ts', 'credentials/**/*.ts'],
	coverageReporters: ['text-summary', 'lcovonly'],
	coverageThreshold: { global: { statements: 95, branches: 95 } },
};

/** @type {import('jest').Config} */
const realServers = {
	...suites('host'),
	// The temporary folder, where jest would keep it, is another one in each run.
	cacheDirectory: '<rootDir>/.artifacts/jest-cache',
	testSequencer: '<rootDir>/test/host/support/longestFirst.js',
	// The suites mostly wait: for polls, for pauses between retries. Four at a time make n8n slow on two processors.
	maxWorkers: 3,
	testTimeout: 600_000,
	// Which tests have passed, as each suite ends.
	verbose: true,
};

// `npm run test:host` packs what the real servers install, and names it here.
module.exports = process.env.PUSH_CAMPAIGN_TARBALL === undefined ? inProcess : realServers;
