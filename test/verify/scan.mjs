// Lints folders as n8n's verification of a community package does, and prints what it found as JSON.
// A process of its own: n8n's rules for syntax trees do not work inside jest.
import { buildScanConfig } from '@n8n/scan-community-package/scanner/scanner.mjs';
import { ESLint } from 'eslint';

const overrideConfig = await buildScanConfig();

const found = [];
for (const { folder, patterns } of JSON.parse(process.argv[2])) {
	const eslint = new ESLint({
		cwd: folder,
		allowInlineConfig: false,
		overrideConfigFile: true,
		overrideConfig,
	});
	const results = await eslint.lintFiles(patterns);
	found.push({
		files: results.length,
		messages: results.flatMap(({ filePath, messages }) =>
			messages.map(({ ruleId, line, message }) => `${filePath}:${line} ${ruleId} ${message}`),
		),
	});
}
process.stdout.write(JSON.stringify(found));
