import { until, type Major } from '../../host';
import { useStage } from './support';
import {
	acceptedTitles,
	byTitle,
	failureOf,
	forTitle,
	repeated,
	sendWorkflow,
	sentItems,
	stopNewest,
	titled,
	titlesOf,
	untilRequests,
	type SendWorkflowOptions,
} from './support/reliabilityWorkflow';

const inOrder: SendWorkflowOptions = { options: { maxParallel: 1 } };
const keyed: SendWorkflowOptions = { options: { ...byTitle, maxParallel: 1 } };
const all = titlesOf('Item', 5);
const isUnknown = 'It is unknown whether this was sent';

describe.each<Major>(['2', '1'])('Retry of an execution that was stopped, on n8n %s.x', (major) => {
	const stage = useStage({ major });

	const untilSaved = async (id: string) =>
		await until(
			async () => await stage().client.execution(id),
			({ data }) => Object.keys(data.resultData.runData).length > 0,
			{ within: 60_000, late: () => 'n8n has not saved what ran' },
		);

	/** Stops an execution of five items in the middle of the third, which the service accepts. */
	async function stopAtThird(options: SendWorkflowOptions) {
		const workflow = await sendWorkflow(stage(), options);
		stage().simulator.addFault(forTitle('Item 3', { kind: 'hang', process: true }));
		const call = workflow.call(titled('Item', 5)).catch(() => undefined);
		await untilRequests(stage(), 3);
		await stopNewest(stage(), workflow);
		await call;
		expect(acceptedTitles(stage())).toEqual(titlesOf('Item', 3));
		const [stopped] = await stage().client.executions({ workflowId: workflow.id });
		// n8n 1 says that it was stopped before it has saved what ran: a Retry starts from the beginning then.
		if (major === '1') await untilSaved(stopped?.id ?? '');
		return { workflow, retry: async () => await stage().client.retryExecution(stopped?.id ?? '') };
	}

	if (major === '1') {
		// n8n 1 saves no node that is still to run.
		test('Retry of a stopped execution runs no node, and sends nothing', async () => {
			const { retry } = await stopAtThird(inOrder);
			// Whether n8n calls that a success depends on which of its two writes about the stop came last.
			expect(sentItems(await retry())).toEqual([]);
			expect(acceptedTitles(stage())).toEqual(titlesOf('Item', 3));
		});
	} else {
		test('Retry of a stopped execution sends the rest, and nothing that went out before', async () => {
			const { retry } = await stopAtThird(inOrder);
			const { message, description } = failureOf(await retry());
			expect(message).toContain(isUnknown);
			expect(description).toMatch(/^(4 sent|2 sent, 2 sent earlier), 1 unknown \(item 2\)\./);
			expect(acceptedTitles(stage())).toEqual(all);
			expect(failureOf(await retry()).message).toContain(isUnknown);
			expect(acceptedTitles(stage())).toEqual(all);
		});

		test('Retry of a stopped execution sends the rest after a restart of n8n, too, and a further Retry nothing', async () => {
			const { retry } = await stopAtThird(inOrder);
			await stage().restart();
			expect(failureOf(await retry()).message).toContain(isUnknown);
			expect(acceptedTitles(stage())).toEqual(all);
			await stage().restart();
			expect(failureOf(await retry()).message).toContain(isUnknown);
			expect(acceptedTitles(stage())).toEqual(all);
		});

		test('with keys, Retry of a stopped execution sends nothing twice after a restart of n8n', async () => {
			const { retry } = await stopAtThird(keyed);
			await stage().restart();
			expect(failureOf(await retry()).message).toContain('under the idempotency key "Item 3"');
			expect(acceptedTitles(stage())).toEqual(all);
		});
	}

	test('with keys, a stopped workflow that is executed again sends the rest', async () => {
		const { workflow } = await stopAtThird(keyed);
		const { message } = failureOf(await workflow.run(titled('Item', 5)));
		expect(message).toContain('under the idempotency key "Item 3"');
		expect(repeated(acceptedTitles(stage()))).toEqual([]);
		expect(acceptedTitles(stage())).toEqual(all);
	});
});
