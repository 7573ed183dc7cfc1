const { basename } = require('node:path');
const Sequencer = require('@jest/test-sequencer').default;

/**
 * The suites that take minutes, the longest first. Without the timings of an earlier run, as on a build
 * machine, jest goes by the size of the files: one of these would begin last and run on alone.
 */
const longest = [
	'reliabilityTrigger',
	'triggerKills',
	'editor',
	'triggerEdits',
	'queue',
	'triggerBudget',
	'idempotencyKeys',
	'demo',
	'reliabilitySends',
	'secrets',
	'versions',
	'keyPairs',
	'retryOfStopped',
	'install',
];

/** Keeps n8n itself at its limit, so that nothing else should run beside it: the last of all. */
const alone = 'load';

const rank = ({ path }) => {
	const suite = basename(path, '.test.ts');
	if (suite === alone) return longest.length + 1;
	return longest.includes(suite) ? longest.indexOf(suite) : longest.length;
};

/** Starts the longest suites first, then the others in jest's own order. */
module.exports = class LongestFirst extends Sequencer {
	async sort(tests) {
		const sorted = await super.sort(tests);
		return [...sorted].sort((one, other) => rank(one) - rank(other));
	}
};
