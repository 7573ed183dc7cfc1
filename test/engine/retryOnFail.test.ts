import type { INodeParameters } from 'n8n-workflow';
import type { Fault } from '../../simulator';
import {
	credentialsFor,
	failureOf,
	inputOf,
	NODE,
	outputOf,
	push,
	titlesAt,
	useSimulator,
} from './support/pushCampaign';
import { runWorkflow } from './support/run';
import { chain, connect, nodeFrom, START } from './support/workflow';

// What the node remembers while n8n tries it again: it is n8n that keeps it from one try to the next.

const simulator = useSimulator();
const failure: Fault['action'] = { kind: 'failure', description: 'No luck', status: 500 };

const workflowOf = (options: INodeParameters = {}) =>
	chain([
		push(
			{ title: '={{ $json.title }}', options: { maxParallel: 1, ...options } },
			{ retryOnFail: true, maxTries: 3, waitBetweenTries: 1 },
		),
	]);
const run = async (workflow: ReturnType<typeof workflowOf>, titles: string[]) =>
	await runWorkflow(workflow, {
		credentials: credentialsFor(simulator()),
		input: inputOf(...titles.map((title) => ({ title }))),
	});

const failing = '1 sent, 2 not sent (item 1: ';
const lost = '2 sent, 1 unknown (item 1). ';
const lostAnswer: Fault['action'] = { kind: 'reset-after' };

/** Item b of a, b and c is answered so, so many times (0: always). */
interface Row {
	readonly name: string;
	readonly action: Fault['action'];
	readonly times: number;
	readonly options?: INodeParameters;
	/** The titles that the service got. */
	readonly arrived: string;
	/** The tally of the error that is left; none where all were sent in the end. */
	readonly tally?: string;
}
const rows: Row[] = [
	{
		name: 'an item that fails twice is sent by the third try',
		action: failure,
		times: 2,
		arrived: 'abbbc',
	},
	{
		name: 'an item that always fails is tried three times and holds back the next',
		action: failure,
		times: 0,
		arrived: 'abbb',
		tally: failing,
	},
	{
		name: 'an item whose answer is lost goes out once, and the rest follows',
		action: lostAnswer,
		times: 0,
		arrived: 'abc',
		tally: lost,
	},
	{
		name: 'an item whose answer is lost goes out once with Resend Unknown, too',
		action: lostAnswer,
		times: 0,
		options: { resendUnknown: true },
		arrived: 'abc',
		tally: lost,
	},
];
test.each(rows)('$name', async ({ action, times, options, arrived, tally }) => {
	simulator().addFault({ match: { bodyIncludes: '"b"' }, times, action });
	const done = await run(workflowOf(options), ['a', 'b', 'c']);
	expect(titlesAt(simulator()).join('')).toBe(arrived);
	if (tally === undefined) {
		expect(outputOf(done)).toMatchObject(
			['1001', '1002', '1003'].map((campaignId) => ({ campaignId, status: 'success' })),
		);
	} else {
		expect(failureOf(done)).toMatchObject({ itemIndex: 1 });
		expect(failureOf(done).description).toContain(tally);
	}
});

test('in a loop each run of the node sends once', async () => {
	const workflow = workflowOf();
	// A second way to the same node, as in a loop.
	workflow.nodes.push(nodeFrom({ name: 'Again', type: 'n8n-nodes-base.noOp' }));
	connect(workflow, START, 'Again');
	connect(workflow, 'Again', NODE);
	simulator().addFault({ skip: 1, action: failure });
	const done = await run(workflow, ['a']);
	expect(titlesAt(simulator())).toEqual(['a', 'a', 'a']);
	expect([0, 1].map((index) => outputOf(done, index)[0]?.['campaignId'])).toEqual(['1001', '1002']);
});

test('n8n saves less than 120 bytes for each item that was sent', async () => {
	const titles = Array.from({ length: 100 }, (_, index) => `No ${index}`);
	const done = await run(workflowOf({ maxParallel: 100 }), titles);
	const context = done.data.executionData?.contextData[`node:${NODE}`];
	const bytes = Buffer.byteLength(JSON.stringify(context));
	expect(bytes / titles.length).toBeGreaterThan(30);
	expect(bytes / titles.length).toBeLessThan(120);
});
