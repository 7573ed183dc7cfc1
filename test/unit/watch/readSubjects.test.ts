import { createClient } from '../../../nodes/PushCampaign/service/client';
import { readSubjects } from '../../../nodes/PushCampaign/watch/readSubjects';
import type { Subject } from '../../../nodes/PushCampaign/watch/subjects';
import { subjects } from '../../../nodes/PushCampaign/watch/subjects';
import { optionsOf, SimulatedClock } from '../delivery/support';
import { failure, statusAnswer, type Answer } from '../execution/support';

const answer = (record: Answer) => ({ statusCode: 200, headers: {}, ...record });
const read = (id: string, clicked: number) =>
	answer(statusAnswer(id, { total_attempts: 6, delivered: 3, clicked, closed: 1 }));
const failed = (type: string) => answer(failure(type));

interface Options {
	readonly first?: readonly string[];
	readonly timeoutMs?: number;
	/** One request after another, so that their order can be seen. */
	readonly isOrdered?: boolean;
	readonly subject?: Subject;
}

/** A push service in simulated time, which knows how often it was asked for an ID before. */
class Service {
	readonly clock = new SimulatedClock();
	readonly asked: string[] = [];
	private readonly timeOver = new AbortController();

	constructor(private readonly respond: (id: string, before: number) => object | Promise<object>) {}

	/** The poll's time is over. */
	end(): void {
		this.timeOver.abort();
	}

	async read(ids: readonly string[], options: Options = {}) {
		const { first = [], timeoutMs = 30_000, isOrdered = false } = options;
		const { clock, asked } = this;
		const { signal } = this.timeOver;
		const client = createClient({
			settings: { baseUrl: 'https://push.example', headers: {} },
			transport: async ({ url, method, timeout }) => {
				const id = url.split('/').at(-1) ?? '';
				expect([method, timeout]).toEqual(['GET', timeoutMs]);
				const before = asked.filter((each) => each === id).length;
				asked.push(id);
				return await this.respond(id, before);
			},
			signal,
			sleep: clock.sleep,
			now: () => 0,
		});
		const { subject = subjects.campaign } = options;
		const reading = readSubjects({ subject, ids, first: new Set(first), timeoutMs }, client, {
			...optionsOf(clock),
			maxConcurrency: isOrdered ? 1 : 100,
			signal,
		});
		return await clock.run(reading);
	}
}

test('each campaign is read once, and returned in the order of the list', async () => {
	const service = new Service((id) => read(id, 2));
	jest.spyOn(Date, 'now').mockReturnValue(5_000);
	const { observations, failures, unread } = await service.read(['c', 'b', 'a']);
	jest.restoreAllMocks();
	expect(service.asked).toEqual(['c', 'b', 'a']);
	expect(observations.map(({ id }) => id)).toEqual(['c', 'b', 'a']);
	expect(observations[0]).toEqual({
		id: 'c',
		status: 'Sent',
		counters: {
			delivered: 3,
			clicked: 2,
			closed: 1,
			totalAttempts: 6,
			successfullySent: 0,
			failedToSend: 0,
		},
		fields: {
			campaignId: 'c',
			status: 'Sent',
			delivered: 3,
			clicked: 2,
			closed: 1,
			totalAttempts: 6,
			successfullySent: 0,
			failedToSend: 0,
			deliveryRate: null,
			clickRate: 0.6667,
		},
		observedAt: 5_000,
	});
	expect([failures.size, unread]).toEqual([0, []]);
});

test('the campaigns that the last poll did not reach are read before the others', async () => {
	const service = new Service((id) => read(id, 2));
	const first = ['a', 'b', 'no longer on the list'];
	const { observations } = await service.read(['c', 'b', 'a'], { first, isOrdered: true });
	expect(service.asked).toEqual(['b', 'a', 'c']);
	expect(observations.map(({ id }) => id)).toEqual(['c', 'b', 'a']);
});

test('the site is read as its two subscriber counts, without a status', async () => {
	const counts = { total_life_time_subscribers: '90', active_subscribers: '40' };
	const service = new Service(() => answer({ body: JSON.stringify(counts) }));
	const { observations } = await service.read(['the site'], { subject: subjects.site });
	const fields = { activeSubscribers: 40, totalLifetimeSubscribers: 90 };
	expect(observations).toMatchObject([{ id: 'the site', status: null, counters: fields, fields }]);
	expect(service.asked).toEqual(['subscriber_count']);
});

interface RetryRow {
	readonly name: string;
	readonly type: string;
	readonly retries: number;
	/** What the next poll reads first. */
	readonly unread: string[];
}
const retryRows: RetryRow[] = [
	{
		name: 'an unknown campaign is not asked for again',
		type: 'invalid_value',
		retries: 0,
		unread: [],
	},
	{
		name: 'a campaign that is refused for too many requests is tried again five times, and first in the next poll',
		type: 'rate_limit',
		retries: 5,
		unread: ['a'],
	},
	{
		name: 'a failure without a reason is tried again twice',
		type: 'unspecified',
		retries: 2,
		unread: [],
	},
];
describe.each(retryRows)('$name', ({ type, retries, unread }) => {
	test('and is read if that helps', async () => {
		const heals = new Service((id, before) => (before < retries ? failed(type) : read(id, 2)));
		expect((await heals.read(['a'])).observations).toHaveLength(1);
	});

	test('and fails if it does not', async () => {
		const fails = new Service(() => failed(type));
		const readings = await fails.read(['a']);
		expect(fails.asked).toHaveLength(retries + 1);
		expect([...readings.failures].map(([id, problem]) => [id, problem.type])).toEqual([
			['a', type],
		]);
		expect([readings.observations, readings.unread]).toEqual([[], unread]);
	});
});

test('the record of another campaign is not an answer', async () => {
	const { failures } = await new Service(() => read('another', 2)).read(['asked']);
	expect([...failures].map(([id, { type }]) => [id, type])).toEqual([
		['asked', 'unexpected_answer'],
	]);
});

test('when the time is over, what was read is returned, and what hangs or is cut off is read first next time', async () => {
	const service: Service = new Service((id) => {
		if (id === 'good') return read(id, 2);
		service.clock.at(1_000, () => service.end());
		return id === 'hangs'
			? new Promise<object>(() => {})
			: new Promise<object>((_resolve, reject) => {
					service.clock.at(1_000, () => reject(new Error('This operation was aborted')));
				});
	});
	const { observations, failures, unread } = await service.read(['good', 'hangs', 'cut off']);
	expect(observations.map(({ id }) => id)).toEqual(['good']);
	expect([failures.size, unread]).toEqual([0, ['hangs', 'cut off']]);
});

interface SlowRow {
	readonly name: string;
	readonly type: string;
	readonly answersAfterMs: number;
	readonly requests: number;
}
const slowRows: SlowRow[] = [
	{
		name: 'a campaign that fails after half of the timeout is tried again twice',
		type: 'unspecified',
		answersAfterMs: 625,
		requests: 3,
	},
	{
		name: 'a campaign that fails after more than half of the timeout is not tried again',
		type: 'unspecified',
		answersAfterMs: 626,
		requests: 1,
	},
	{
		name: 'a campaign that is refused for too many requests is tried again however slow the refusal is',
		type: 'rate_limit',
		answersAfterMs: 626,
		requests: 6,
	},
];
test.each(slowRows)('$name', async ({ type, answersAfterMs, requests }) => {
	const service: Service = new Service(async () => {
		await service.clock.sleep(answersAfterMs);
		return failed(type);
	});
	const { failures } = await service.read(['bad'], { timeoutMs: 1250 });
	expect([...failures.keys()]).toEqual(['bad']);
	expect(service.asked).toHaveLength(requests);
});
