/**
 * Suites that start real servers. `npm run test:host` runs them: it makes sure first that everything
 * they need is there.
 *
 * @type {import('jest').Config}
 */
module.exports = {
	rootDir: '../..',
	cacheDirectory: '<rootDir>/.artifacts/jest-cache',
	testEnvironment: 'node',
	testMatch: ['<rootDir>/test/host/**/*.test.ts'],
	modulePathIgnorePatterns: [
		'<rootDir>/dist',
		'<rootDir>/\\.demo',
		'<rootDir>/\\.artifacts',
		'<rootDir>/\\.stryker-tmp',
		'<rootDir>/host/.*/node_modules',
	],
	transform: {
		'^.+\\.ts$': [
			'@swc/jest',
			{
				jsc: { target: 'es2022', parser: { syntax: 'typescript' } },
				module: { type: 'commonjs' },
			},
		],
	},
	testSequencer: '<rootDir>/test/host/support/longestFirst.js',
	maxWorkers: 2,
	testTimeout: 600_000,
	reporters: ['default', '<rootDir>/test/host/support/progressReporter.js'],
};
