const { join } = require('node:path');

/** The suites on real servers, and on the packed package; `run.ts` starts them. */
module.exports = {
	rootDir: join(__dirname, '../..'),
	roots: ['<rootDir>/test/host'],
	testMatch: ['**/*.test.ts'],
	transform: {
		'^.+\\.ts$': [
			'@swc/jest',
			{
				jsc: { target: 'es2022', parser: { syntax: 'typescript' } },
				module: { type: 'commonjs' },
			},
		],
	},
	// The temporary folder, where jest would keep it, is another one in each run.
	cacheDirectory: '<rootDir>/.artifacts/jest-cache',
	// The suites mostly wait: for polls, for pauses between retries.
	maxWorkers: 3,
	testSequencer: '<rootDir>/test/host/longestFirst.js',
	// Nothing takes that long: a test ends when it has seen what it waits for.
	testTimeout: 1_200_000,
	// A busy machine does not let a worker end within the half second after which jest warns and kills it.
	workerGracefulExitTimeout: 30_000,
	// Which tests have passed, as each suite ends.
	verbose: true,
};
