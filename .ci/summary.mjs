// Adds up what jest reported of each run. Its arguments are the steps that failed.
import { readFileSync } from 'node:fs';

const failedSteps = process.argv.slice(2);
const reports = { 'npm test': 'test.json', 'npm run test:host': 'test-host.json' };
let passed = 0;
let failed = 0;

for (const [step, file] of Object.entries(reports)) {
	try {
		const report = JSON.parse(readFileSync(`.artifacts/${file}`, 'utf8'));
		passed += report.numPassedTests;
		const skipped = report.numPendingTests + report.numTodoTests;
		if (skipped > 0) console.log(`${step} skipped ${skipped} tests`);
		// A file that can't be run has no test to count.
		const failedHere = report.numFailedTests + report.numRuntimeErrorTestSuites + skipped;
		failed += failedHere;
		// The formatter or the linter, or what was left behind.
		if (failedHere === 0 && failedSteps.includes(step)) failed += 1;
	} catch {
		console.log(`${step} has no results`);
		failed += 1;
	}
}

for (const step of failedSteps) {
	console.log(`Failed: ${step}`);
	if (!(step in reports)) failed += 1;
}
console.log(`${passed} passed, ${failed} failed`);
process.exitCode = failed === 0 ? 0 : 1;
