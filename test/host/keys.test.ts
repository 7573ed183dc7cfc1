import { useStage, type Stage } from './support';
import {
	acceptedTitles,
	byTitle,
	failureOf,
	goesOn,
	lostAnswer,
	repeated,
	sendWorkflow,
	sentItems,
	statusesOf,
	titled,
	titlesOf,
	untilRequests,
	type SendWorkflowOptions,
} from './support/sends';

// A real server is killed at moments that nobody can repeat: each run tries others.

const stage = useStage();

const batch = 300;
const kills = 4;
/** As many requests are in flight at most. */
const mostInFlight = 100;

/** A claim counts as unknown when its request can't be in flight any more: five seconds after the timeout. */
const keyed: SendWorkflowOptions = { options: { ...byTitle, timeout: 5_000 }, settings: goesOn };

const count = (all: readonly unknown[], one: string) => all.filter((each) => each === one).length;

/** Starts a batch and kills n8n when a random number of its requests have come. */
async function killWhileSending(
	{ simulator, crash }: Stage,
	call: () => Promise<unknown>,
): Promise<void> {
	simulator.setLatency(100);
	const came = 1 + Math.floor(Math.random() * (batch - 50));
	const answered = call().catch(() => undefined);
	await untilRequests({ simulator }, came);
	await crash();
	await answered;
	simulator.setLatency(0);
}

describe('a batch of 300 items with keys whose n8n is killed while it sends', () => {
	test.each(Array.from({ length: kills }, (_, index) => index + 1))(
		'executed again, it sends nothing twice, and leaves unknown at most what was in flight (kill %i)',
		async (kill) => {
			const workflow = await sendWorkflow(stage(), keyed);
			const items = titled(`Kill ${kill}, item`, batch);
			await killWhileSending(stage(), async () => await workflow.call(items));
			const execution = await workflow.run(items);
			const statuses = statusesOf(execution);
			const accepted = acceptedTitles(stage());
			expect(repeated(accepted)).toEqual([]);
			const unknown = count(statuses, 'unknown');
			expect(unknown).toBeLessThanOrEqual(mostInFlight);
			expect(count(statuses, 'success') + count(statuses, 'alreadySent')).toBe(batch - unknown);
			for (const { title, status } of sentItems(execution)) {
				if (status !== 'unknown') expect(accepted).toContain(title);
			}
		},
	);
});

describe('items with keys', () => {
	test('five executions with the same keys at the same time send each item once', async () => {
		const workflow = await sendWorkflow(stage(), keyed);
		stage().simulator.setLatency(300);
		const items = titled('At once', 20);
		const executions = await Promise.all([1, 2, 3, 4, 5].map(() => workflow.call(items)));
		expect(executions).toHaveLength(5);
		const ended = await stage().client.waitForExecutions({ workflowId: workflow.id, count: 5 });
		const saved = await Promise.all(ended.map(({ id }) => stage().client.waitForExecution(id)));
		const ends = items.map((_, index) => saved.map((each) => statusesOf(each)[index]).sort());
		const once = [...Array.from({ length: 4 }, () => 'alreadySent'), 'success'];
		expect(ends).toEqual(items.map(() => once));
		expect(acceptedTitles(stage()).sort()).toEqual(titlesOf('At once', 20).sort());
	});

	test('a later execution sends what is new, after a restart of n8n, too', async () => {
		const workflow = await sendWorkflow(stage(), keyed);
		await workflow.run(titled('Later', 2));
		await stage().restart();
		expect(statusesOf(await workflow.run(titled('Later', 3)))).toEqual([
			...['alreadySent', 'alreadySent', 'success'],
		]);
		expect(acceptedTitles(stage()).sort()).toEqual(titlesOf('Later', 3));
	});

	test('a blank key sends the same content once, and other content again', async () => {
		const workflow = await sendWorkflow(stage(), { options: { idempotencyKey: '' } });
		expect(statusesOf(await workflow.run(titled('Same', 1)))).toEqual(['success']);
		expect(statusesOf(await workflow.run(titled('Same', 1)))).toEqual(['alreadySent']);
		await workflow.change({ parameters: { message: 'Thirty percent off' } });
		expect(statusesOf(await workflow.run(titled('Same', 1)))).toEqual(['success']);
	});

	test('an unknown outcome stays unknown, until Unknown Outcome says what it was', async () => {
		stage().simulator.addFault(lostAnswer('Lost 1'));
		stage().simulator.addFault(lostAnswer('Lost 2'));
		const workflow = await sendWorkflow(stage(), keyed);
		const runs: unknown[] = [statusesOf(await workflow.run(titled('Lost', 2)))];
		runs.push(statusesOf(await workflow.run(titled('Lost', 2))));
		await workflow.change({ options: { ...byTitle, unknownOutcome: 'countAsSent' } });
		runs.push(statusesOf(await workflow.run(titled('Lost', 1))));
		await workflow.change({ options: { ...byTitle, unknownOutcome: 'resend' } });
		runs.push(statusesOf(await workflow.run(titled('Lost', 2))));
		runs.push(statusesOf(await workflow.run(titled('Lost', 2))));
		expect(runs).toEqual([
			['unknown', 'unknown'],
			['unknown', 'unknown'],
			['alreadySent'],
			['alreadySent', 'success'],
			['alreadySent', 'alreadySent'],
		]);
		expect(acceptedTitles(stage()).sort()).toEqual(['Lost 1', 'Lost 2', 'Lost 2']);
	});

	test('2,000 items of one run are sent once each, and the next run sends none', async () => {
		const workflow = await sendWorkflow(stage(), keyed);
		const items = titled('Many', 2_000);
		expect(count(statusesOf(await workflow.run(items)), 'success')).toBe(2_000);
		expect(count(statusesOf(await workflow.run(items)), 'alreadySent')).toBe(2_000);
		expect(new Set(acceptedTitles(stage())).size).toBe(2_000);
		expect(stage().simulator.campaigns.size).toBe(2_000);
	});

	test('one key for two audiences is refused before anything is sent', async () => {
		const workflow = await sendWorkflow(stage(), {
			parameters: { operation: 'sendToSubscriber', subscriberId: '={{ $json.to }}' },
			options: { idempotencyKey: 'welcome' },
		});
		const items = ['5001', '5002'].map((to) => ({ title: 'Welcome', to }));
		const { message, description } = failureOf(await workflow.run(items));
		expect(`${message} ${description}`).toContain('welcome');
		expect(stage().simulator.requestCount).toBe(0);
	});
});
