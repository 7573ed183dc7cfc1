import type { Client, Result } from '../../../nodes/PushCampaign/service/client';
import type { Problem } from '../../../nodes/PushCampaign/service/problems';
import type { Reading } from '../../../nodes/PushCampaign/trigger/compare';
import { fetchAll, timeIsOver } from '../../../nodes/PushCampaign/trigger/fetch';
import { readingOf } from './support';

afterEach(() => void jest.restoreAllMocks());

const client: Client = {
	async request() {
		throw new Error('The subject of a test asks nobody');
	},
};
const { signal } = new AbortController();
// Far longer than any machine stands still.
const timeoutMs = 1_000_000;

const answer = (id: string): Result<Reading> => ({
	answered: true,
	value: readingOf({}, { id }),
	raw: {},
});
const lost: Problem = {
	type: 'network',
	outcome: 'unknown',
	message: 'The connection was lost',
	cause: 'temporarily-unavailable',
};

test('a poll begins with any of its campaigns, and gives them in the order of the list', async () => {
	jest.spyOn(Math, 'random').mockReturnValue(0.5);
	const asked: string[] = [];
	const subject = async (_client: Client, id: string) => {
		asked.push(id);
		return answer(id);
	};
	const ids = ['1', '2', '3', '4'];
	const { readings } = await fetchAll(client, { subject, ids }, timeoutMs, signal);
	expect(asked).toEqual(['3', '4', '1', '2']);
	expect(readings.map(({ id }) => id)).toEqual(ids);
});

const crowded: Problem = {
	...lost,
	type: 'rate_limit',
	outcome: 'notSent',
	cause: 'rate-limited',
};

test.each([
	{ name: 'that fails at once is asked again', problem: lost, afterMs: 400_000, requests: 2 },
	{
		name: 'that hangs is not: it would hold up the poll',
		problem: lost,
		afterMs: 600_000,
		requests: 1,
	},
	{ name: 'that is refused late is asked again', problem: crowded, afterMs: 600_000, requests: 2 },
])('a campaign $name', async ({ problem, afterMs, requests }) => {
	let lateMs = 0;
	const now = performance.now.bind(performance);
	jest.spyOn(performance, 'now').mockImplementation(() => now() + lateMs);
	let asked = 0;
	const subject = async (_client: Client, id: string): Promise<Result<Reading>> => {
		asked += 1;
		if (asked > 1) return answer(id);
		lateMs = afterMs;
		return { answered: false, problem };
	};
	const { readings } = await fetchAll(client, { subject, ids: ['1'] }, timeoutMs, signal);
	expect({ requests: asked, read: readings.length }).toEqual({ requests, read: requests - 1 });
});

test('a request that the end of a poll cuts short says nothing of its own', async () => {
	const time = new AbortController();
	const subject = async (): Promise<Result<Reading>> => {
		time.abort();
		return { answered: false, problem: lost };
	};
	const { failures } = await fetchAll(client, { subject, ids: ['1'] }, timeoutMs, time.signal);
	expect(failures).toEqual(new Map([['1', timeIsOver]]));
});

test('no pause holds up the end of a poll, and what is left counts as refused, too', async () => {
	const time = new AbortController();
	const problem = { ...crowded, retryAfterMs: 300_000 };
	const subject = async (): Promise<Result<Reading>> => ({ answered: false, problem });
	const ids = Array.from({ length: 30 }, (_, index) => String(index));
	const reading = fetchAll(client, { subject, ids }, timeoutMs, time.signal);
	setImmediate(() => time.abort());
	expect((await reading).failures).toEqual(new Map(ids.map((id) => [id, problem])));
});
