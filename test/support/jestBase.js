/**
 * What the suites of jest.config.js and test/host/jest.config.js share.
 *
 * @type {import('jest').Config}
 */
module.exports = {
	testEnvironment: 'node',
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
};
