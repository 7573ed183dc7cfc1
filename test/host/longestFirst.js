const { default: Sequencer } = require('@jest/test-sequencer');

/** The triggers' suites begin first: they wait for polls for minutes, and jest goes by how long a file is. */
module.exports = class extends Sequencer {
	sort(tests) {
		const isLong = ({ path }) => path.includes('trigger');
		const sorted = super.sort(tests);
		return [...sorted.filter(isLong), ...sorted.filter((test) => !isLong(test))];
	}
};
