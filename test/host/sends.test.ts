import { outputOf } from '../../host';
import type { Fault } from '../../simulator';
import { useStage } from './support';
import { testOperations } from './support/operations';
import {
	acceptedTitles,
	failureOf,
	lostAnswer,
	refusal,
	repeated,
	sendWorkflow,
	sentItems,
	statusesOf,
	stopNewest,
	titled,
	titlesOf,
	untilRequests,
} from './support/sends';

const stage = useStage();

const isUnknown = 'It is unknown whether this was sent';
const retryOnFail = { retryOnFail: true, maxTries: 3 };
/** Every send arrives, and none is answered. */
const everySend: Fault = {
	match: { method: 'POST' },
	times: 0,
	action: { kind: 'hang', process: true },
};

describe('a production execution', () => {
	testOperations(stage);

	test('a dry run returns the very request, and sends nothing', async () => {
		const { simulator } = stage();
		const workflow = await sendWorkflow(stage(), { options: { dryRun: true } });
		const [item] = sentItems(await workflow.run(titled('Dry', 1)));
		const body = {
			title: 'Dry 1',
			message: 'Twenty percent off',
			target_url: 'https://shop.example/sale',
		};
		const url = `${simulator.url}/v1/notification/send/all`;
		expect(item).toEqual({
			audience: 'all',
			title: 'Dry 1',
			dryRun: true,
			request: { method: 'POST', url, body },
		});
		expect(simulator.requests.map(({ method }) => method)).toEqual(['GET']);
	});

	test('an item on the error output keeps its fields beside the reason', async () => {
		stage().simulator.addFault(refusal('Mixed 2'));
		const workflow = await sendWorkflow(stage(), { settings: { onError: 'continueErrorOutput' } });
		const execution = await workflow.run(
			titled('Mixed', 3).map((item, index) => ({ ...item, order: `A-${index + 1}` })),
		);
		expect(execution.status).toBe('success');
		expect(outputOf(execution, 'Sent').map(({ json }) => json['title'])).toEqual([
			...['Mixed 1', 'Mixed 3'],
		]);
		expect(outputOf(execution, 'Not sent').map(({ json }) => json)).toMatchObject([
			{ title: 'Mixed 2', order: 'A-2', error: { type: 'unspecified', outcome: 'notSent' } },
		]);
	});
});

describe('an execution that failed', () => {
	test('says how many were sent, and Retry sends the rest and nothing twice', async () => {
		const { client, simulator } = stage();
		simulator.addFault(refusal('Item 30'));
		const workflow = await sendWorkflow(stage());
		const failed = await workflow.run(titled('Item', 60));
		expect(failed.status).toBe('error');
		const sent = acceptedTitles(stage()).length;
		expect(failureOf(failed).description).toMatch(new RegExp(`^${sent} of 60 were sent\\b`));
		const retried = await client.retryExecution(failed.id);
		expect(retried.status).toBe('success');
		expect(statusesOf(retried)).toEqual(titled('Item', 60).map(() => 'success'));
		expect(acceptedTitles(stage()).sort()).toEqual(titlesOf('Item', 60).sort());
		for (const { title, campaignId } of sentItems(retried)) {
			expect(simulator.campaigns.get(String(campaignId))?.body['title']).toBe(title);
		}
	});

	test('Retry On Fail sends the rest of a batch, and nothing twice', async () => {
		stage().simulator.addFault({ ...refusal('Item 30'), times: 2 });
		const workflow = await sendWorkflow(stage(), { settings: retryOnFail });
		expect((await workflow.run(titled('Item', 60))).status).toBe('success');
		expect(acceptedTitles(stage()).sort()).toEqual(titlesOf('Item', 60).sort());
	});

	test('two Retries of the same execution send each item once between them', async () => {
		const { client, simulator } = stage();
		const items = titled('Item', 40);
		for (const title of ['Item 10', 'Item 20']) {
			simulator.addFault({ ...refusal(title), times: title === 'Item 10' ? 1 : 2 });
		}
		const workflow = await sendWorkflow(stage());
		const failed = await workflow.run(items);
		const first = await client.retryExecution(failed.id);
		expect(first.status).toBe('error');
		const second = await client.retryExecution(failed.id);
		expect(second.status).toBe('success');
		expect(acceptedTitles(stage()).sort()).toEqual(titlesOf('Item', 40).sort());
	});

	test('what was edited before a Retry sends nothing again that was sent, and the rest as edited', async () => {
		const { client, simulator } = stage();
		simulator.addFault(refusal('Item 2'));
		const workflow = await sendWorkflow(stage());
		const failed = await workflow.run(titled('Item', 3));
		await workflow.change({ parameters: { title: '=Edited {{ $json.title }}' } });
		const retried = await client.retryExecution(failed.id, { loadWorkflow: true });
		expect(retried.status).toBe('success');
		expect(acceptedTitles(stage()).sort()).toEqual(['Edited Item 2', 'Item 1', 'Item 3']);
	});

	test('a send whose answer was lost stays unknown, also with Retry On Fail and Retry', async () => {
		const { client, simulator } = stage();
		simulator.addFault(lostAnswer('Item 2'));
		const workflow = await sendWorkflow(stage(), { settings: retryOnFail });
		const failed = await workflow.run(titled('Item', 3));
		expect(failureOf(failed).message).toContain(isUnknown);
		const retried = await client.retryExecution(failed.id);
		expect(failureOf(retried).message).toContain(isUnknown);
		expect(acceptedTitles(stage()).sort()).toEqual(titlesOf('Item', 3));
	});

	test.each([
		{ unknownOutcome: 'resend', statuses: ['success'], sends: 2 },
		{ unknownOutcome: 'countAsSent', statuses: ['alreadySent'], sends: 1 },
	])(
		'with Unknown Outcome $unknownOutcome, a Retry with the saved workflow ends as $statuses',
		async ({ unknownOutcome, statuses, sends }) => {
			stage().simulator.addFault(lostAnswer('Item 1'));
			const workflow = await sendWorkflow(stage());
			const failed = await workflow.run(titled('Item', 1));
			await workflow.change({ options: { unknownOutcome } });
			const retried = await stage().client.retryExecution(failed.id, { loadWorkflow: true });
			expect(statusesOf(retried)).toEqual(statuses);
			expect(acceptedTitles(stage())).toHaveLength(sends);
		},
	);

	test('nothing is sent if one item of a batch is not valid', async () => {
		const workflow = await sendWorkflow(stage());
		const failed = await workflow.run([...titled('Item', 2), { title: 'x'.repeat(101) }]);
		expect(failed.status).toBe('error');
		expect(failureOf(failed).description).toMatch(/^Nothing was sent\./);
		expect(stage().simulator.requestCount).toBe(0);
	});
});

describe('an execution that is stopped', () => {
	test('starts no further item', async () => {
		const { simulator } = stage();
		simulator.addFault(everySend);
		const workflow = await sendWorkflow(stage());
		const call = workflow.call(titled('Stopped', 60)).catch(() => undefined);
		await untilRequests(stage(), 20);
		await stopNewest(stage(), workflow.id);
		await call;
		simulator.clearFaults();
		// What comes after it is through the whole way that the stopped one would still go.
		const later = await sendWorkflow(stage());
		await later.run(titled('Later', 60));
		expect(repeated(acceptedTitles(stage()))).toEqual([]);
		expect(simulator.requestCount).toBe(20 + 60);
	});
});
