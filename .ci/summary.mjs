// Adds up what jest wrote about each suite. Takes the names of the steps that failed.
import { readFileSync } from 'node:fs';

const failedSteps = process.argv.slice(2);
let passed = 0;
let failed = 0;

for (const suite of ['test', 'test-host']) {
	try {
		const report = JSON.parse(readFileSync(`.artifacts/${suite}.json`, 'utf8'));
		passed += report.numPassedTests;
		// A file that could not be run has no test to count.
		failed += report.numFailedTests + report.numRuntimeErrorTestSuites;
	} catch {
		console.log(`No results in .artifacts/${suite}.json`);
		failed += 1;
	}
}

if (failedSteps.length > 0) console.log(`Failed: ${failedSteps.join(', ')}`);
// Formatting, lint, types or coverage: a step can fail without a failing test.
if (failedSteps.length > 0 && failed === 0) failed = failedSteps.length;

console.log(`${passed} passed, ${failed} failed`);
process.exitCode = failed === 0 ? 0 : 1;
