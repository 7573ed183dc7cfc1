const { join, relative } = require('node:path');

const marks = { passed: '✓', failed: '✗' };

/** Tells each test as it ends: a suite's own report comes only minutes later, when all of it is done. */
module.exports = class ProgressReporter {
	constructor({ rootDir }) {
		this.folder = join(rootDir, 'test', 'host');
	}

	onTestFileStart({ path }) {
		this.say(path, 'begins');
	}

	onTestCaseResult({ path }, { status, ancestorTitles, title, duration }) {
		const seconds = typeof duration === 'number' ? ` (${(duration / 1000).toFixed(1)} s)` : '';
		const name = [...ancestorTitles, title].join(' › ');
		this.say(path, `${marks[status] ?? status} ${name}${seconds}`);
	}

	onTestFileResult({ path }, { numFailingTests, testExecError }) {
		this.say(path, numFailingTests > 0 || testExecError ? 'has failed' : 'is done');
	}

	say(path, text) {
		process.stderr.write(`${relative(this.folder, path)}: ${text}\n`);
	}
};
