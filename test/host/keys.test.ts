import { randomInt } from 'node:crypto';
import { randomFrom } from '../unit/delivery/simulatedService';
import {
	acceptedTitles,
	byTitle,
	expectSent,
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
	useStage,
	type SendWorkflowOptions,
} from './support';

// A real server is killed at random moments: each run tries others. `SEED=<number>` tries those of an earlier run.
const seed = Number(process.env['SEED'] ?? randomInt(2 ** 31));
const random = randomFrom(seed);

const stage = useStage();

const batch = 300;
const kills = 4;
/** As many requests are in flight at most. */
const mostInFlight = 100;

/** A claim counts as unknown when its request can't be in flight any more: five seconds after the timeout. */
const keyed: SendWorkflowOptions = { options: { ...byTitle, timeout: 5_000 }, settings: goesOn };

const count = (all: readonly unknown[], one: string) => all.filter((each) => each === one).length;

describe(`a batch of 300 items with keys whose n8n is killed while it sends (SEED=${seed})`, () => {
	test.each(Array.from({ length: kills }, (_, index) => index + 1))(
		'executed again, it sends nothing twice, and leaves unknown at most what was in flight (kill %i)',
		async (kill) => {
			const { simulator, crash } = stage();
			const workflow = await sendWorkflow(stage(), keyed);
			const items = titled(`Kill ${kill}, item`, batch);
			simulator.setLatency(100);
			const call = workflow.call(items).catch(() => undefined);
			await untilRequests(stage(), 1 + Math.floor(random() * (batch - 50)));
			await crash();
			await call;
			simulator.setLatency(0);
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

	test('a blank key is refused, and the ID that its words name sends a feed once, whatever is added to the notification', async () => {
		const feed = titled('Post', 7).map((post, index) => ({ ...post, guid: `guid-${index}` }));
		const workflow = await sendWorkflow(stage(), { options: { idempotencyKey: '' } });
		const refused = await workflow.run(feed);
		expect(failureOf(refused).message).toBe("'Send Only Once' is missing");
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
		expectSent(stage(), ...titlesOf('Post', 7));
	});

	test('three segments with one text each week: an ID of both sends all of them, each week once', async () => {
		const segments = ['101', '102', '105'];
		const weekly = (options = {}) => ({
			parameters: {
				operation: 'sendToSegments',
				title: 'News',
				segmentIds: '={{ $json.segment }}',
			},
			options,
		});
		const idempotencyKey = '={{ $json.week }}, {{ $json.segment }}';
		const workflow = await sendWorkflow(stage(), weekly({ idempotencyKey }));
		const week = (number: number) => segments.map((segment) => ({ segment, week: number }));
		for (const number of [1, 2, 3, 4, 4]) await workflow.run(week(number));
		const sent = stage().simulator.requests.map(({ json }) => JSON.stringify(json));
		for (const segment of segments) {
			expect(sent.filter((each) => each.includes(`"${segment}"`))).toHaveLength(4);
		}
		expect(sent).toHaveLength(12);
	});

	test('an ID that is unknown fails once, and is a row in each later execution', async () => {
		stage().simulator.addFault(lostAnswer('Lost 1'));
		const workflow = await sendWorkflow(stage(), keyed);
		const ends = [];
		for (const _ of [1, 2, 3]) {
			const execution = await workflow.run(titled('Lost', 2));
			ends.push(sentItems(execution).map(({ status, error }) => [status, error !== undefined]));
		}
		const later = [
			['unknown', false],
			['alreadySent', false],
		];
		expect(ends).toEqual([
			[
				['unknown', true],
				['success', false],
			],
			later,
			later,
		]);
		expectSent(stage(), ...titlesOf('Lost', 2));
	});

	test('2,000 items of one run are sent once each, and the next run sends none', async () => {
		const workflow = await sendWorkflow(stage(), keyed);
		const items = titled('Many', 2_000);
		expect(count(statusesOf(await workflow.run(items)), 'success')).toBe(2_000);
		expect(count(statusesOf(await workflow.run(items)), 'alreadySent')).toBe(2_000);
		expectSent(stage(), ...titlesOf('Many', 2_000));
	});
});
