import type { INodeParameters } from 'n8n-workflow';
import { chain, node, outputOf, pushCampaign, type Major } from '../../host';
import { useStage } from './support';
import { noonTimezone } from './support/clock';
import { content } from './support/fixtures';
import { endsOf, sendWorkflow, sentItems, times, titled } from './support/reliabilityWorkflow';

const majors: Major[] = ['2', '1'];

describe.each(majors)('the options of a send on n8n %s.x', (major) => {
	const stage = useStage({ major, env: { GENERIC_TIMEZONE: noonTimezone } });

	test('Send Only Once sends the same once in all executions, and once a day in those of a day', async () => {
		const accepted = () => stage().simulator.campaigns.size;
		for (const sendOnce of ['ever', 'perDay']) {
			const workflow = await sendWorkflow(stage(), { options: { sendOnce } });
			const before = accepted();
			const items = [...titled('Once', 2), ...titled('Once', 1)];
			const [first, second] = [await workflow.run(items), await workflow.run(items)];
			expect(endsOf(sentItems(first))).toEqual(['success', 'success', 'alreadySent']);
			expect(endsOf(sentItems(second))).toEqual(['alreadySent', 'alreadySent', 'alreadySent']);
			expect(accepted() - before).toBe(2);
		}
	});

	const testing: INodeParameters = { testSubscriberId: '5001', sendOnce: 'ever' };
	/** A workflow that sends five items, started by hand. */
	const fiveByHand = (options: INodeParameters) =>
		chain('By hand', [
			node('Start', 'n8n-nodes-base.manualTrigger'),
			node(
				'List',
				'n8n-nodes-base.set',
				{ mode: 'raw', jsonOutput: '{ "items": [1, 2, 3, 4, 5] }', options: {} },
				{ typeVersion: 3.4 },
			),
			node('Items', 'n8n-nodes-base.splitOut', { fieldToSplitOut: 'items', options: {} }),
			pushCampaign(
				{ ...content, title: '=Item {{ $json.items }}', options },
				{ credential: stage().credential },
			),
		]);
	const sent = () =>
		stage()
			.simulator.requests.filter(({ method }) => method === 'POST')
			.map(({ path, json }) => `${path} ${JSON.stringify(json)}`);
	const toMe = (item: number): unknown =>
		expect.stringMatching(new RegExp(`/send/sid .*"title":"Item ${item}".*"sid":"5001"`));

	test('a Test Subscriber ID sends a manual execution to that subscriber alone', async () => {
		const { id } = await stage().client.createWorkflow(fiveByHand(testing));
		// Tried twice: no key keeps the second one back.
		for (const executed of [1, 2]) {
			const execution = await stage().client.runManually(id, 'Start');
			const items = outputOf(execution, 'Push Campaign').map(({ json }) => json['audience']);
			expect(items).toEqual(['test', 'test', 'test', 'all', 'all']);
			expect(sent()).toHaveLength(3 * executed);
		}
		expect(sent().slice(0, 3).sort()).toEqual([1, 2, 3].map(toMe));
		expect(sent().join('\n')).not.toContain('/send/all');
	});

	test('the Retry of a manual execution with a Test Subscriber ID reaches nobody else', async () => {
		const { id } = await stage().client.createWorkflow(fiveByHand({ ...testing, maxParallel: 1 }));
		stage().simulator.addFault({
			match: { bodyIncludes: '"title":"Item 2"' },
			action: { kind: 'failure', description: 'Something went wrong' },
			times: 1,
		});
		const failed = await stage().client.runManually(id, 'Start');
		expect(failed.status).toBe('error');
		const retried = await stage().client.retryExecution(failed.id);
		expect(retried.status).toBe('success');
		expect(sent()).toEqual([1, 2, 2, 3].map(toMe));
	});

	test('a Test Subscriber ID changes nothing in a production execution', async () => {
		const workflow = await sendWorkflow(stage(), { options: testing });
		const execution = await workflow.run(titled('Real', 5));
		expect(sentItems(execution).map(({ audience }) => audience)).toEqual(times(5, 'all'));
		expect(sent().filter((each) => each.includes('/send/all'))).toHaveLength(5);
		expect(sent()).toHaveLength(5);
	});
});
