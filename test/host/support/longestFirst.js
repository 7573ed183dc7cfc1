const { basename } = require('node:path');
const Sequencer = require('@jest/test-sequencer').default;

/**
 * The suites that take minutes, the longest first. Without the timings of an earlier run, as on a build
 * machine, jest goes by the size of the files: one of these would begin last and run on alone.
 */
const longest = [
	'triggerKills',
	'load',
	'reliabilityTrigger',
	'editor',
	'queue',
	'idempotencyKeys',
	'reliabilitySends',
];

const rank = ({ path }) => {
	const place = longest.indexOf(basename(path, '.test.ts'));
	return place < 0 ? longest.length : place;
};

/** Starts the longest suites first, the others in jest's own order. */
module.exports = class LongestFirst extends Sequencer {
	async sort(tests) {
		const sorted = await super.sort(tests);
		return [...sorted].sort((one, other) => rank(one) - rank(other));
	}
};
