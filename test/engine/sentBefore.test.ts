import type { INodeParameters } from 'n8n-workflow';
import {
	continuing,
	credentialsFor,
	failure,
	failureOf,
	faultFor,
	hintsOf,
	NODE,
	outputOf,
	push,
	titled,
	titlesAt,
	useDatabase,
	useSimulator,
} from './support/pushCampaign';
import { retryRun, runWorkflow } from './support/run';
import { chain, connect } from './support/workflow';

// What the same execution has sent before this run of the node: running the workflow again would send it again.

const simulator = useSimulator();
useDatabase();

const options = () => ({ credentials: credentialsFor(simulator()), input: titled('a') });
const keyed = { options: { idempotencyKey: '={{ $json.title }}' } };

/** A send, and behind it another one that is not valid. */
const twoSends = (first: INodeParameters = {}, second: INodeParameters = {}, more = {}) =>
	chain([
		push(first, { name: 'First send', id: 'first', ...continuing }),
		push({ title: '={{ $json.missing }}', ...second }, more),
	]);

const nothingByThis = /^Nothing was sent by this run of the node\. /;
const again = 'Running the workflow again would send again what was sent. ';
const alone = 'run the workflow with the items alone that were not sent';

describe('a failure names what would be sent again', () => {
	test('if another node has sent', async () => {
		const { description } = failureOf(await runWorkflow(twoSends(), options()));
		expect(titlesAt(simulator())).toEqual(['Summer sale']);
		expect(description).toMatch(nothingByThis);
		expect(description).toContain(again);
		expect(description).toContain(alone);
	});

	test('with Continue, in the row and in the hint', async () => {
		const done = await runWorkflow(twoSends({}, {}, continuing), options());
		const [{ error } = {}] = outputOf(done);
		for (const text of [JSON.stringify(error), hintsOf(done).join()]) {
			expect(text).toContain(again);
			expect(text).toContain(alone);
		}
	});

	test('if another node has sent without keys, though this one has keys', async () => {
		const { description } = failureOf(await runWorkflow(twoSends({}, keyed), options()));
		expect(description).toContain(again);
		expect(description).not.toContain('is not sent again');
	});

	test('unless all had keys', async () => {
		const { description } = failureOf(await runWorkflow(twoSends(keyed, keyed), options()));
		expect(description).toMatch(/ Then run the workflow again: what was sent is not sent again\.$/);
	});

	test('in the second round of a loop', async () => {
		const json = chain([{ name: 'Loop', type: 'test.loopTwice' }]);
		const title = "={{ $runIndex === 0 ? 'first' : '' }}";
		json.nodes.push(...chain([push({ title })]).nodes.slice(1));
		connect(json, 'Loop', NODE, 1);
		connect(json, NODE, 'Loop');
		const { description } = failureOf(await runWorkflow(json, options()));
		expect(titlesAt(simulator())).toEqual(['first']);
		expect(description).toMatch(nothingByThis);
		expect(description).toContain(again);
	});

	test('if it is unknown whether another node has sent', async () => {
		simulator().addFault({ ...faultFor(undefined, { kind: 'reset-after' }), times: 1 });
		const { description } = failureOf(await runWorkflow(twoSends(), options()));
		expect(description).toContain(again);
	});
});

test('a failure says that nothing was sent if what another node asked for was refused', async () => {
	simulator().addFault({ ...faultFor(undefined, failure('invalid_value')), times: 1 });
	const { description } = failureOf(await runWorkflow(twoSends(), options()));
	expect(description).toMatch(/^Nothing was sent\. .* Then run the workflow again, as 'Retry' /);
});

test('a Retry that fails again says what its own execution sent before', async () => {
	const json = twoSends({}, { title: 'second' });
	simulator().addFault(faultFor('second', failure()));
	const failed = await runWorkflow(json, options());
	const { description } = failureOf(await retryRun(failed, json, options()));
	expect(description).toMatch(nothingByThis);
	expect(description).toMatch(/ 'Retry' .* Running the workflow again would send all again\.$/);
});
