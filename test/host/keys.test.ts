import { createHash, randomInt } from 'node:crypto';
import { useStage, type Stage } from './support';
import {
	acceptedTitles,
	byTitle,
	failureOf,
	goesOn,
	hintsOf,
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

// A real server is killed at random moments: each run tries others. `SEED=<number>` tries those of an earlier run.
const seed = Number(process.env['SEED'] ?? randomInt(2 ** 31));
let drawn = 0;

/** A number from 0 up to, but not including, 1: always the same ones with the same seed. */
const random = (): number => {
	drawn += 1;
	const digest = createHash('sha256').update(`${seed}, ${drawn}`).digest();
	return digest.readUInt32BE() / 2 ** 32;
};

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
	const came = 1 + Math.floor(random() * (batch - 50));
	const answered = call().catch(() => undefined);
	await untilRequests({ simulator }, came);
	await crash();
	await answered;
	simulator.setLatency(0);
}

describe(`a batch of 300 items with keys whose n8n is killed while it sends (SEED=${seed})`, () => {
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

	test('a blank key is refused, and the ID that its words name sends a feed once, whatever is added to the notification', async () => {
		const feed = titled('Post', 7).map((post, index) => ({ ...post, guid: `guid-${index}` }));
		const workflow = await sendWorkflow(stage(), { options: { idempotencyKey: '' } });
		const refused = await workflow.run(feed);
		expect(failureOf(refused).message).toMatch(/^'Send Only Once' is .*None of 7 was sent\.$/);
		expect(failureOf(refused).description).toContain('{{ $json.guid }}');
		expect(acceptedTitles(stage())).toEqual([]);
		const options = { idempotencyKey: '={{ $json.guid }}' };
		await workflow.change({ options });
		await workflow.run(feed);
		const additionalFields = {
			iconUrl: 'https://shop.example/icon.png',
			utmParameters: { parameters: { source: 'push' } },
			expireAfter: { duration: { amount: 2, unit: 'h' } },
		};
		const actionButtons = { button: [{ title: 'Read', url: 'https://shop.example' }] };
		await workflow.change({ options, parameters: { additionalFields, actionButtons } });
		expect(statusesOf(await workflow.run(feed))).toEqual(feed.map(() => 'alreadySent'));
		expect(acceptedTitles(stage()).sort()).toEqual(titlesOf('Post', 7));
	});

	test('three segments with one text each week: an ID of both, as the hint names it, sends all of them, each week once', async () => {
		const segments = ['101', '102', '105'];
		const weekly = (options = {}) => ({
			parameters: {
				operation: 'sendToSegments',
				title: 'News',
				segmentIds: '={{ $json.segment }}',
			},
			options,
		});
		const workflow = await sendWorkflow(stage(), weekly());
		const week = (number: number) => segments.map((segment) => ({ segment, week: number }));
		const first = await workflow.run(week(1));
		expect(hintsOf(first)).toContain("An ID under 'Send Only Once' prevents that.");
		const idempotencyKey = '={{ $json.week }}, {{ $json.segment }}';
		await workflow.change(weekly({ idempotencyKey }));
		for (const number of [2, 3, 4, 4]) await workflow.run(week(number));
		const sent = stage().simulator.requests.map(({ json }) => JSON.stringify(json));
		segments.forEach((segment) =>
			expect(
				count(
					sent.map((each) => String(each.includes(`"${segment}"`))),
					'true',
				),
			).toBe(4),
		);
		expect(sent).toHaveLength(12);
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
