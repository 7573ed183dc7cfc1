import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer, type Socket } from 'node:net';
import { join } from 'node:path';
import { ObservableObject, type IDataObject, type INodeParameters } from 'n8n-workflow';
import { z } from 'zod';
import { until } from '../../host/process/until';
import { CredentialsOfTest } from './support/credentials';
import { newWorkflowId, pollerOf, runPoll, type PollOptions } from './support/poll';
import { credentialsFor, useSimulator } from './support/pushCampaign';

const simulator = useSimulator();
const anotherSite = useSimulator();

afterEach(() => void jest.restoreAllMocks());

/** A trigger on one of n8n's contexts: each call is a poll. */
function trigger(parameters: INodeParameters, options: Partial<PollOptions> = {}) {
	const poller = pollerOf(parameters, { credentials: credentialsFor(simulator()), ...options });
	return async () => {
		const { items, errors } = await poller();
		return {
			items: items?.map(({ json }) => json) ?? null,
			reports: errors.map(({ message }) => message),
		};
	};
}

/** What several contexts of one trigger in one process share. */
const newTrigger = () => ({
	workflowId: newWorkflowId(),
	staticData: ObservableObject.create({}),
});

const add = (clicked: number) => simulator().addCampaign({ counters: { clicked } });
const idsOf = (items: IDataObject[] | null) => items?.map(({ campaignId }) => campaignId);
const changesOf = (items: IDataObject[] | null) => items?.map(({ changes }) => changes);

const noCampaign = (names: string) =>
	`${names} can't be read. The push service has no campaign with this ID`;

const matching = (pattern: RegExp): unknown => expect.stringMatching(pattern);
const anyTime = matching(/^\d{4}-\d\d-\d\dT.*Z$/);

const schemaFile = join(__dirname, '../../nodes/PushCampaign/__schema__/v1.0.0.json');
const schema = z
	.object({ properties: z.record(z.string(), z.unknown()) })
	.parse(JSON.parse(readFileSync(schemaFile, 'utf8')));
/** The fields of the output schema that an item has. */
const schemaFieldsOf = (item: IDataObject = {}) =>
	Object.keys(schema.properties).filter((name) => name in item);

describe('an event', () => {
	test('of a campaign holds its numbers in the order of the output schema, and what changed', async () => {
		const counters = { total_attempts: 9, successfully_sent: 8, delivered: 4, clicked: 1 };
		const id = simulator().addCampaign({ status: 'Sent', counters });
		const poll = trigger({ campaignIds: id, watch: ['clicked', 'status'] });
		const { items } = await poll();
		expect(items).toEqual([
			{
				campaignId: id,
				status: 'Sent',
				delivered: 4,
				clicked: 1,
				closed: 0,
				totalAttempts: 9,
				successfullySent: 8,
				failedToSend: 0,
				deliveryRate: 0.5,
				clickRate: 0.25,
				changes: { status: { from: null, to: 'Sent' }, clicked: { from: 0, to: 1, by: 1 } },
				firstSeen: true,
				observedAt: anyTime,
			},
		]);
		expect(Object.keys(items?.[0] ?? {})).toEqual(schemaFieldsOf(items?.[0]));
		expect((await poll()).items).toBeNull();
	});

	test('of the site holds both counts', async () => {
		const { items } = await trigger({ event: 'subscribersReached', number: 10_000 })();
		expect(items).toMatchObject([
			{
				activeSubscribers: 10_000,
				totalLifetimeSubscribers: 12_500,
				changes: { activeSubscribers: { from: 0, to: 10_000, by: 10_000 } },
			},
		]);
		expect(Object.keys(items?.[0] ?? {})).toEqual(schemaFieldsOf(items?.[0]));
	});

	test('comes in the order of the list, and counts from the one before', async () => {
		const ids = [add(1), add(2), add(3)].reverse();
		const poll = trigger({ campaignIds: ids.join(', ') });
		expect(idsOf((await poll()).items)).toEqual(ids);
		simulator().setCounters(ids[1] ?? '', { clicked: 5 });
		expect(changesOf((await poll()).items)).toEqual([{ clicked: { from: 2, to: 5, by: 3 } }]);
	});
});

describe('Fetch Test Event', () => {
	test('shows every campaign as if it were seen first, and changes no baseline', async () => {
		const staticData = { revision: 1, site: 'a', baselines: [] };
		const parameters = { event: 'campaignReached', campaignIds: [add(3), add(0)], number: 9 };
		const poll = trigger(parameters, { mode: 'manual', staticData });
		for (let time = 0; time < 2; time += 1) {
			expect((await poll()).items).toMatchObject([
				{ changes: { clicked: { from: 0, to: 3, by: 3 } }, firstSeen: true },
				{ changes: {}, firstSeen: true },
			]);
		}
		expect(staticData).toEqual({ revision: 1, site: 'a', baselines: [] });
	});

	test('fails with the names of the campaigns that can’t be read', async () => {
		const poll = trigger({ campaignIds: ['7', add(1), '8'] }, { mode: 'manual' });
		await expect(poll()).rejects.toMatchObject({
			message: noCampaign('Campaigns 7, 8'),
			description: matching(/Then try again\.$/),
			httpCode: '404',
		});
	});
});

describe('a first publication', () => {
	test('fails with every campaign and every reason, and the next poll of its context goes on', async () => {
		const [good, bad] = [add(1), add(1)];
		simulator().addFault({
			match: { path: `/id/${bad}` },
			times: 0,
			action: { kind: 'failure', description: 'No', type: 'header_invalid' },
		});
		const poll = trigger({ campaignIds: [good, 'gone', bad] });
		await expect(poll()).rejects.toThrow(
			/Campaign gone can't be read\..*Campaign \d+ can't be read\. The push service did not get/,
		);
		expect(await poll()).toMatchObject({ items: [{ campaignId: good }], reports: [] });
	});

	test.each([
		{ name: 'a field', parameters: {}, baseUrl: 'https://x.example', then: "'Campaign IDs' is" },
		{
			name: 'the credential',
			parameters: { campaignIds: 1 },
			baseUrl: 'ftp://x',
			then: 'Base URL',
		},
	])('fails if $name is not valid', async ({ parameters, baseUrl, then }) => {
		const credentials = credentialsFor({ url: baseUrl });
		await expect(trigger(parameters, { credentials })()).rejects.toThrow(then);
	});

	test('names its campaigns also if the service limits requests until the time is over', async () => {
		shortenTime(4);
		simulator().configure({ rateLimit: { perSecond: 0, burst: 1 } });
		const ids = Array.from({ length: 50 }, () => add(1));
		await expect(trigger({ campaignIds: ids })()).rejects.toMatchObject({
			message: matching(/^Campaigns (\d+, ){40,}\d+ can't be read\. .*too many/),
			httpCode: '429',
		});
	});
});

test('campaigns that are too many for one poll fail no publication, and a later poll reads them', async () => {
	shortenTime(4);
	simulator().configure({ latencyMs: 900 });
	const ids = Array.from({ length: 150 }, () => add(1));
	const poll = trigger({ campaignIds: ids });
	const first = idsOf((await poll()).items) ?? [];
	expect(first.length).toBeGreaterThan(0);
	expect(first.length).toBeLessThan(150);
	simulator().configure({ latencyMs: 0 });
	expect([...first, ...(idsOf((await poll()).items) ?? [])].sort()).toEqual(ids.sort());
});

describe('a failure', () => {
	test.each(['init', 'leadershipChange', 'update'] as const)(
		'in the mode %s throws nothing, holds up nothing, and is reported once, in the second poll',
		async (activation) => {
			const poll = trigger({ campaignIds: ['7', add(1)] }, { activation });
			expect(await poll()).toMatchObject({ items: [{ clicked: 1 }], reports: [] });
			expect(await poll()).toEqual({ items: null, reports: [noCampaign('Campaign 7')] });
			expect(await poll()).toEqual({ items: null, reports: [] });
		},
	);

	test('of a vault is reported once, too, and what changed meanwhile is emitted after it', async () => {
		const id = add(1);
		let isDown = true;
		const onOpen = () => {
			if (isDown) throw new Error('The vault is down');
		};
		const poll = trigger({ campaignIds: id }, { activation: 'init', onOpen });
		const reports = [await poll(), await poll(), await poll()].map((each) => each.reports);
		expect(reports).toEqual([[], [expect.stringContaining('The vault is down')], []]);
		isDown = false;
		expect(idsOf((await poll()).items)).toEqual([id]);
	});

	test('throws nothing when a trigger is published again that has reported, whatever was edited', async () => {
		const known = newTrigger();
		const id = add(1);
		await trigger({ campaignIds: id }, known)();
		const edits: INodeParameters[] = [
			{ campaignIds: [id, '7'] },
			{ campaignIds: '' },
			{ event: 'campaignReached', campaignIds: id },
		];
		for (const parameters of edits) {
			expect(await trigger(parameters, known)()).toMatchObject({ items: null });
		}
		const again = trigger({ campaignIds: '7' }, { ...known, workflowId: newWorkflowId() });
		expect(await again()).toEqual({ items: null, reports: [] });
		expect(await again()).toEqual({ items: null, reports: [noCampaign('Campaign 7')] });
	});

	test('in the durable engine, whose polls have a context each, is reported once', async () => {
		const known = { ...newTrigger(), activation: 'update', budgetMs: 36_000 } as const;
		const reports: string[][] = [];
		for (let count = 0; count < 3; count += 1) {
			reports.push((await trigger({ campaignIds: '7' }, known)()).reports);
		}
		expect(reports).toEqual([[], [noCampaign('Campaign 7')], []]);
	});

	test('that may pass is asked for again in the same poll', async () => {
		const id = add(1);
		simulator().addFault({ times: 2, action: { kind: 'reset-before' } });
		expect(idsOf((await trigger({ campaignIds: id })()).items)).toEqual([id]);
	});
});

test('at another site every campaign counts as never emitted', async () => {
	const known = newTrigger();
	const id = add(5);
	anotherSite().addCampaign({ id, counters: { clicked: 2 } });
	const changes: unknown[] = [];
	for (const at of [simulator(), anotherSite(), anotherSite(), simulator()]) {
		const credentials = credentialsFor(at);
		const { items } = await trigger({ campaignIds: id }, { ...known, credentials })();
		changes.push(changesOf(items)?.[0] ?? null);
	}
	const first = (to: number) => ({ clicked: { from: 0, to, by: to } });
	expect(changes).toEqual([first(5), first(2), null, first(5)]);
});

test('of polls that overlap on one context the second asks nothing and returns nothing', async () => {
	simulator().configure({ latencyMs: 50 });
	const poll = trigger({ campaignIds: add(1) });
	const polls = await Promise.all([poll(), poll()]);
	expect(polls.map(({ items }) => items?.length)).toEqual([1, undefined]);
	expect(simulator().requestCount).toBe(1);
});

/** Lets a poll have a tenth of its time, and a request of a first publication all of it; gives the times. */
function shortenTime(by = 10): number[] {
	const timeout = AbortSignal.timeout.bind(AbortSignal);
	const times: number[] = [];
	jest.spyOn(AbortSignal, 'timeout').mockImplementation((milliseconds) => {
		times.push(milliseconds);
		return timeout(milliseconds < 12_000 ? milliseconds : milliseconds / by);
	});
	return times;
}

describe('the time of a poll', () => {
	test.each([
		{ name: 'a first publication', options: {}, then: [12_000, 240_000] },
		{ name: 'a start of n8n', options: { activation: 'init' }, then: [24_000, 240_000] },
		{
			name: 'a poll of the durable engine',
			options: { activation: 'update', budgetMs: 20_000 },
			then: [16_000, 16_000],
		},
	] as const)('is limited: $name, and the next poll of its context', async ({ options, then }) => {
		const times = shortenTime();
		const poll = trigger({ campaignIds: add(1) }, options);
		const longest: unknown[] = [];
		for (let count = 0; count < 2; count += 1) {
			await poll().catch(() => undefined);
			longest.push(times.splice(0)[0]);
		}
		expect(longest).toEqual(then);
	});

	test('is not that of what hangs: the others are emitted', async () => {
		const ids = Array.from({ length: 60 }, () => add(1));
		const [hanging, others] = [ids.slice(0, 30), ids.slice(30)];
		for (const id of hanging) {
			simulator().addFault({
				match: { path: `/id/${id}` },
				times: 0,
				action: { kind: 'hang', process: false },
			});
		}
		const poll = trigger({ campaignIds: ids }, { activation: 'update', budgetMs: 8_000 });
		expect(idsOf((await poll()).items)).toEqual(others);
	});

	test('ends if n8n does not open the credential', async () => {
		jest
			.spyOn(CredentialsOfTest.prototype, 'getDecrypted')
			.mockImplementation(async () => await new Promise<never>(() => undefined));
		const poll = trigger({ campaignIds: 1 }, { activation: 'init', budgetMs: 100 });
		await poll();
		const message = 'n8n did not open the credential in the time of this poll';
		expect((await poll()).reports).toEqual([message]);
	});

	test('ends whatever hangs, and no socket outlives it', async () => {
		const open = new Set<Socket>();
		const server = createServer((socket) => {
			open.add(socket);
			socket.on('error', () => undefined).resume();
			socket.once('close', () => open.delete(socket));
		});
		server.listen(0, '127.0.0.1');
		await once(server, 'listening');
		const address = server.address();
		if (address === null || typeof address === 'string') throw new Error('Not on a TCP port');
		const credentials = credentialsFor({ url: `http://127.0.0.1:${address.port}` });
		const ids = Array.from({ length: 30 }, (_, index) => index);
		const options = { credentials, activation: 'init', budgetMs: 500 } as const;
		expect(await runPoll({ campaignIds: ids }, options)).toEqual({ items: null, errors: [] });
		try {
			const late = (count: number) => `${count} sockets stay open`;
			const isNone = (count: number) => count === 0;
			await until(() => open.size, isNone, { within: 20_000, every: 10, late });
		} finally {
			for (const socket of open) socket.destroy();
			server.close();
		}
	});
});
