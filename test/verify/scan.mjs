// Lints folders as n8n's verification of a community package does, and prints what it found as JSON.
// A process of its own: n8n's rules for syntax trees do not work inside jest.
import { n8nCommunityNodesPlugin } from '@n8n/eslint-plugin-community-nodes';
import { buildScanConfig } from '@n8n/scan-community-package/scanner/scanner.mjs';
import { ESLint } from 'eslint';
import { defineConfig } from 'eslint/config';
import tseslint from 'typescript-eslint';

const lints = JSON.parse(process.argv[2]);

// The scanner brings an older version of the rules than the newest that is published.
const newest = defineConfig(
	n8nCommunityNodesPlugin.configs.recommended,
	{ rules: { 'no-console': 'error' } },
	{ files: ['**/*.{json,ts}'], languageOptions: { parser: tseslint.parser } },
);

const lint = async ({ folder, patterns }, overrideConfig) => {
	const eslint = new ESLint({
		cwd: folder,
		allowInlineConfig: false,
		overrideConfigFile: true,
		overrideConfig,
	});
	const results = await eslint.lintFiles(patterns);
	return {
		files: results.length,
		messages: results.flatMap(({ filePath, messages }) =>
			messages.map(({ ruleId, line, message }) => `${filePath}:${line} ${ruleId} ${message}`),
		),
	};
};

const scanner = await buildScanConfig();
const found = [];
for (const each of lints) {
	found.push({ scanner: await lint(each, scanner), newest: await lint(each, newest) });
}
process.stdout.write(JSON.stringify(found));
