const { mkdirSync } = require('node:fs');
const { availableParallelism } = require('node:os');
const { join } = require('node:path');

// Jest writes its results there (`--outputFile`), and does not make the folder.
mkdirSync(join(__dirname, '.artifacts'), { recursive: true });

/** The tests of a folder of `test/`. Those on real servers have a config of their own: test/host/jest.config.js. */
const project = (name, options) => ({
	displayName: name,
	testMatch: [`<rootDir>/test/${name}/**/*.test.ts`],
	transform: {
		'^.+\\.ts$': ['@swc/jest', { jsc: { target: 'es2022', parser: { syntax: 'typescript' } } }],
	},
	modulePathIgnorePatterns: ['<rootDir>/(dist|\\.demo|\\.artifacts|host/.*/node_modules)'],
	...options,
});

const setupFiles = ['useOnceLoaded', 'properties'].map(
	(name) => `<rootDir>/test/support/${name}.ts`,
);

/** @type {import('jest').Config} */
module.exports = {
	projects: [
		project('unit', { setupFiles, testEnvironment: '<rootDir>/test/support/onceLoaded.ts' }),
		project('engine', {
			setupFiles,
			testEnvironment: '<rootDir>/test/engine/support/environment.ts',
		}),
	],
	// The engine tests often wait: for servers, for pauses between retries.
	maxWorkers: availableParallelism() + 1,
	// A busy machine takes seconds for what is done in milliseconds otherwise.
	testTimeout: 60_000,
	workerGracefulExitTimeout: 30_000,
	collectCoverageFrom: ['nodes/**/*.ts', 'credentials/**/*.ts'],
};
