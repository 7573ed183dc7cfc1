import { randomInt } from 'node:crypto';
import { randomFrom } from '../unit/delivery/simulatedService';
import {
	acceptedTitles,
	byTitle,
	expectSent,
	goesOn,
	repeated,
	sendWorkflow,
	sentItems,
	statusesOf,
	titled,
	titlesOf,
	untilRequests,
	useStage,
	type SendWorkflowOptions,
} from './support';

// A real server is killed at random moments: each run tries others. `SEED=<number>` tries those of an earlier run.
const seed = Number(process.env['SEED'] ?? randomInt(2 ** 31));
const random = randomFrom(seed);

const stage = useStage();

const batch = 300;
/** As many requests are in flight at most. */
const mostInFlight = 100;

/** A claim counts as unknown when its request can't be in flight any more: five seconds after the timeout. */
const keyed: SendWorkflowOptions = { options: { ...byTitle, timeout: 5_000 }, settings: goesOn };

const count = (all: readonly unknown[], one: string) => all.filter((each) => each === one).length;

describe(`a batch of 300 items with keys whose n8n is killed while it sends (SEED=${seed})`, () => {
	test.each([
		{ kill: 1, how: 'executed again', isRetry: false },
		{ kill: 2, how: 'executed again', isRetry: false },
		{ kill: 3, how: 'retried', isRetry: true },
		{ kill: 4, how: 'retried', isRetry: true },
	])(
		'$how, it sends exactly the rest, and leaves unknown at most what was in flight (kill $kill)',
		async ({ isRetry }) => {
			const { client, simulator, crash } = stage();
			const workflow = await sendWorkflow(stage(), keyed);
			const items = titled('Item', batch);
			simulator.setLatency(100);
			const call = workflow.call(items).catch(() => undefined);
			await untilRequests(stage(), 1 + Math.floor(random() * (batch - 50)));
			await crash();
			await call;
			simulator.setLatency(0);
			const [crashed] = await client.waitForExecutions({ workflowId: workflow.id });
			const execution = isRetry
				? await client.retryExecution(crashed?.id ?? '')
				: await workflow.run(items);
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
		await Promise.all([1, 2, 3, 4, 5].map(() => workflow.call(items)));
		const ended = await stage().client.waitForExecutions({ workflowId: workflow.id, count: 5 });
		const saved = await Promise.all(ended.map(({ id }) => stage().client.waitForExecution(id)));
		const ends = items.map((_, index) => saved.map((each) => statusesOf(each)[index]).sort());
		const once = [...Array.from({ length: 4 }, () => 'alreadySent'), 'success'];
		expect(ends).toEqual(items.map(() => once));
		expectSent(stage(), ...titlesOf('At once', 20));
	});

	test('a later execution sends what is new, after a restart of n8n, too', async () => {
		const workflow = await sendWorkflow(stage(), keyed);
		await workflow.run(titled('Later', 2));
		await stage().restart();
		expect(statusesOf(await workflow.run(titled('Later', 3)))).toEqual([
			...['alreadySent', 'alreadySent', 'success'],
		]);
		expectSent(stage(), ...titlesOf('Later', 3));
	});

	test('2,000 items of one run are sent once each, and the next run sends none', async () => {
		const workflow = await sendWorkflow(stage(), keyed);
		const items = titled('Many', 2_000);
		expect(count(statusesOf(await workflow.run(items)), 'success')).toBe(2_000);
		expect(count(statusesOf(await workflow.run(items)), 'alreadySent')).toBe(2_000);
		expectSent(stage(), ...titlesOf('Many', 2_000));
	});
});
