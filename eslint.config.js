// All rules: n8n's for what is published, this project's own for everything. ESLint and editors read this file instead
// of eslint.config.mjs, which `n8n-node lint` only compares with the one that n8n made.
const js = require('@eslint/js');
const { config: n8nRules } = require('@n8n/node-cli/eslint');
const { defineConfig, globalIgnores } = require('eslint/config');
const { createNodeResolver, importX } = require('eslint-plugin-import-x');
const jestPlugin = require('eslint-plugin-jest');
const tseslint = require('typescript-eslint');

const development = ['simulator', 'host', 'test', 'bench', 'docs', 'examples'].map(
	(room) => `./${room}`,
);

// Imports point one way, as drawn in docs/architecture.md.
const room = (name, allowed = []) => ({
	target: `./nodes/PushCampaign/${name}`,
	from: './nodes/PushCampaign',
	except: [name, ...allowed].map((part) => `./${part}`),
	message: `${name}/ may import from ${[name, ...allowed].join(', ')} only.`,
});
const directions = [
	{
		target: './nodes/PushCampaign/*.node.ts',
		from: './nodes/PushCampaign',
		except: ['./execution', './operations'],
		message: 'A node file describes the node, and hands over to execution/.',
	},
	room('service'),
	room('delivery', ['service']),
	room('watch', ['service', 'delivery']),
	room('operations', ['watch', 'service']),
	room('send', ['delivery', 'service']),
	room('execution', ['operations', 'send', 'watch', 'delivery', 'service']),
	{
		target: './credentials',
		from: './nodes/PushCampaign',
		except: ['./service'],
		message: 'The credential knows the service alone.',
	},
	{
		target: './nodes',
		from: './credentials',
		message: 'The nodes get the credential from n8n.',
	},
	{
		target: ['./nodes', './credentials'],
		from: development,
		message: 'What is published imports nothing that is not.',
	},
	{
		target: './simulator',
		from: ['./nodes', './credentials'],
		message: 'The simulator is written from the specification alone.',
	},
];

module.exports = defineConfig(
	globalIgnores(['dist/', 'coverage/', 'reports/', '.demo/', '.artifacts/', '.stryker-tmp/']),
	// n8n's scan of a published package does not heed disable comments either.
	{ linterOptions: { noInlineConfig: true, reportUnusedDisableDirectives: 'error' } },
	{
		files: ['package.json', 'nodes/**/*.ts', 'credentials/**/*.ts'],
		extends: [n8nRules],
	},
	{
		files: ['**/*.{cjs,js,mjs,ts}'],
		extends: [js.configs.recommended],
		plugins: { 'import-x': importX },
		settings: {
			'import-x/extensions': ['.ts', '.js', '.mjs'],
			'import-x/parsers': { '@typescript-eslint/parser': ['.ts'] },
			'import-x/resolver-next': [createNodeResolver({ extensions: ['.ts', '.js', '.mjs'] })],
		},
		rules: {
			eqeqeq: 'error',
			// No rule is disabled by a comment, Oxlint's neither.
			'no-warning-comments': ['error', { terms: ['oxlint-disable'], location: 'anywhere' }],
			'no-restricted-properties': [
				'error',
				{
					object: 'URL',
					property: 'canParse',
					message:
						'Node.js 20 denies every URL with an umlaut after some thousand calls: parse it.',
				},
			],
			'import-x/no-cycle': ['error', { ignoreExternal: true }],
			'import-x/no-duplicates': 'error',
			'import-x/no-restricted-paths': ['error', { zones: directions }],
			'import-x/order': [
				'error',
				{
					groups: ['builtin', 'external', 'internal', 'parent', 'sibling', 'index'],
					alphabetize: { order: 'asc', caseInsensitive: true },
					'newlines-between': 'ignore',
				},
			],
		},
	},
	{
		files: ['**/*.{cjs,js,mjs}'],
		languageOptions: { globals: { console: 'readonly', process: 'readonly' } },
	},
	{
		files: ['**/*.{cjs,js}'],
		languageOptions: {
			sourceType: 'commonjs',
			globals: { __dirname: 'readonly', __filename: 'readonly' },
		},
	},
	{
		// What needs types is Oxlint's (.oxlintrc.json): typescript-eslint would take six times as long for it.
		files: ['**/*.ts'],
		extends: [tseslint.configs.recommended],
		rules: {
			'@typescript-eslint/consistent-type-assertions': ['error', { assertionStyle: 'never' }],
			'@typescript-eslint/consistent-type-imports': 'error',
			'@typescript-eslint/no-non-null-assertion': 'error',
			'@typescript-eslint/no-unused-vars': [
				'error',
				{ argsIgnorePattern: '^_', ignoreRestSiblings: true },
			],
		},
	},
	{
		// Every test runs, checks something, and has a title of its own.
		files: ['test/**/*.test.ts'],
		plugins: { jest: jestPlugin },
		rules: {
			'jest/expect-expect': [
				'error',
				{
					// What the browser waits for fails a test, too, if it does not come.
					assertFunctionNames: [
						'expect*',
						'**.expect*',
						'fc.assert',
						'**.waitFor',
						'editor.observed',
					],
					additionalTestBlockFunctions: ['step'],
				},
			],
			'jest/no-commented-out-tests': 'error',
			'jest/no-disabled-tests': 'error',
			'jest/no-focused-tests': 'error',
			'jest/no-identical-title': 'error',
			'jest/valid-expect': 'error',
			// A title that is a constant is fine: the compiler knows that it is a text.
			'jest/valid-title': ['error', { ignoreTypeOfTestName: true }],
		},
	},
);
