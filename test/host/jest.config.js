const jestBase = require('../support/jestBase.js');

/**
 * Suites that start real servers. `npm run test:host` runs them: it makes sure first that everything
 * they need is there.
 *
 * @type {import('jest').Config}
 */
module.exports = {
	...jestBase,
	rootDir: '../..',
	cacheDirectory: '<rootDir>/.artifacts/jest-cache',
	testMatch: ['<rootDir>/test/host/**/*.test.ts'],
	testSequencer: '<rootDir>/test/host/support/longestFirst.js',
	// The suites mostly wait: for polls, for pauses between retries.
	maxWorkers: 3,
	testTimeout: 600_000,
	reporters: ['default', '<rootDir>/test/host/support/progressReporter.js'],
};
