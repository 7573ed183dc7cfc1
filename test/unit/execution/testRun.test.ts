import type { IDataObject, INodeExecutionData } from 'n8n-workflow';
import { z } from 'zod/v3';
import { PushCampaign } from '../../../nodes/PushCampaign/PushCampaign.node';
import { ProcessedData } from '../../support/processedData';
import { created, executeFunctions, failure, type ExecuteOptions } from './support';

// What n8n itself does (which mode, which context) is shown in test/host/sendOptions.test.ts.

const content = { operation: 'sendToAll', message: 'Today', targetUrl: 'https://shop.example' };
const requestBody = z.record(z.unknown());
const itemsOf = (...titles: string[]): INodeExecutionData[] =>
	titles.map((title) => ({ json: { title } }));
const five = itemsOf('a', 'b', 'c', 'd', 'e');

interface Run extends ExecuteOptions {
	readonly more?: IDataObject;
	readonly options?: IDataObject;
}

/** Runs a node with a Test Subscriber ID in the editor, unless something else is said. */
async function run({ more = {}, options = {}, ...rest }: Run = {}) {
	const hints: string[] = [];
	const { context, asked } = executeFunctions({
		mode: 'manual',
		items: five,
		parameters: {
			...content,
			title: '={{ $json.title }}',
			options: { testSubscriberId: '5001', maxParallel: 1, ...options },
			...more,
		},
		addExecutionHints: (...shown) => void hints.push(...shown.map(({ message }) => message)),
		...rest,
	});
	const ending = await new PushCampaign().execute.call(context).then(
		([items = []]) => ({ items: items.map(({ json }) => json), error: undefined }),
		(error: unknown) => ({ items: [], error }),
	);
	const requests = asked.map(({ options: { url, body } }) => ({
		path: new URL(url).pathname,
		body: typeof body === 'string' ? requestBody.parse(JSON.parse(body)) : {},
	}));
	return { ...ending, requests, paths: requests.map(({ path }) => path), hints };
}

const toOne = '/v1/notification/send/sid';
const toAll = '/v1/notification/send/all';
const times = (count: number, path: string) => Array.from({ length: count }, () => path);

describe('Test Subscriber ID in a manual execution', () => {
	test('sends the first three items to that subscriber, and shows the others', async () => {
		const { items, paths, hints } = await run();
		expect(paths).toEqual(times(3, toOne));
		expect(items[0]).toEqual({
			subscriberId: '5001',
			audience: 'test',
			status: 'success',
			description: 'Campaign created',
			title: 'a',
		});
		expect(items[3]).toMatchObject({ audience: 'all', title: 'd', dryRun: true });
		expect(hints).toEqual([
			'This was a test: 3 items went to subscriber 5001, and to nobody else. The other 2 items went to nobody, as in a dry run. When the workflow runs by itself, it sends to all subscribers.',
		]);
	});

	test.each([
		{ operation: 'sendToAll', autoHide: true },
		{ operation: 'sendToAll', autoHide: false },
		{ operation: 'sendToAttributes', autoHide: true },
		{ operation: 'sendToSegments', autoHide: false },
		{ operation: 'sendToSubscriber', autoHide: true },
	])(
		'sends what Send to Subscriber sends: from $operation with Auto Hide $autoHide',
		async ({ operation, autoHide }) => {
			const additionalFields = {
				autoHide,
				name: 'Summer',
				imageUrl: 'https://shop.example/a.png',
				iconUrl: 'https://shop.example/b.png',
			};
			const audience = {
				attributes: { pairs: [{ name: 'plan', value: 'pro' }] },
				segmentIds: '7',
				subscriberId: '42',
			};
			const { requests } = await run({
				items: itemsOf('a'),
				more: { operation, additionalFields, ...audience },
			});
			const own = await run({
				items: itemsOf('a'),
				more: { operation: 'sendToSubscriber', additionalFields, subscriberId: '5001' },
				mode: 'trigger',
			});
			expect(requests).toEqual(own.requests);
			expect(requests[0]?.body).not.toHaveProperty('name');
		},
	);

	test('sends no fourth item in a loop, nor in a further try of the execution', async () => {
		const kept = {};
		const one = { kept, items: itemsOf('a') };
		const paths = [];
		for (const runIndex of [0, 1, 2, 3, 4]) paths.push(...(await run({ ...one, runIndex })).paths);
		expect(paths).toEqual(times(3, toOne));
		expect((await run({ ...one, runIndex: 4 })).paths).toEqual([]);
	});

	test('sends no fourth call of an agent', async () => {
		const kept = {};
		const node = { type: 'n8n-nodes-push-campaign.pushCampaignTool' };
		const paths = [];
		for (const { json } of five)
			paths.push(...(await run({ kept, node, items: [{ json }] })).paths);
		expect(paths).toEqual(times(3, toOne));
	});

	test.each([
		{ name: 'Retry On Fail', mode: 'manual' },
		{ name: 'Retry in the list of executions', mode: 'retry' },
	] as const)(
		'sends with $name nothing but what the test subscriber did not get',
		async ({ mode }) => {
			const kept = {};
			const refused = await run({
				kept,
				service: ({ body }) =>
					JSON.stringify(body).includes('\\"title\\":\\"b\\"')
						? failure('bad_request')
						: created(1),
			});
			expect(refused.paths).toEqual(times(2, toOne));
			const again = await run({ kept, mode, source: 'manual', executionId: '11' });
			expect(again.requests.map(({ path, body }) => [path, body['title']])).toEqual([
				[toOne, 'b'],
				[toOne, 'c'],
			]);
		},
	);

	test('is another send than the real one, whatever finds an item again', async () => {
		const kept = {};
		await run({ kept, items: itemsOf('a') });
		const real = await run({ kept, items: itemsOf('a'), mode: 'retry', source: 'trigger' });
		expect(real.paths).toEqual([toAll]);
		expect(real.items[0]).toMatchObject({ audience: 'all', status: 'success' });
		const other = await run({ kept, items: itemsOf('a'), options: { testSubscriberId: '5002' } });
		expect(other.requests.map(({ body }) => body['sid'])).toEqual(['5002']);
	});

	test.each([{ options: { idempotencyKey: 'k' } }, { options: { sendOnce: 'ever' } }])(
		'neither claims nor asks for the key of $options',
		async ({ options }) => {
			const database = new ProcessedData();
			await run({ database, options });
			const again = await run({ database, options });
			expect(again.paths).toEqual(times(3, toOne));
			expect(again.items[0]).not.toHaveProperty('idempotencyKey');
			expect(database.rowsOf('key')).toEqual([]);
		},
	);

	test('says how many audiences the items are meant for, as text', async () => {
		const more = {
			operation: 'sendToAttributes',
			attributes: { pairs: [{ name: 'plan', value: '=<b>{{ $json.title }}' }] },
		};
		const { hints } = await run({ more });
		expect(hints[0]).toContain(
			'it sends to every subscriber with plan = &#60;b&#62;a; every subscriber with plan = &#60;b&#62;b; every subscriber with plan = &#60;b&#62;c, and others.',
		);
	});

	test.each([
		{ given: '', says: 'Test Subscriber ID is missing' },
		{
			given: '={{ null }}',
			says: 'Test Subscriber ID is empty for this item: its expression returned nothing',
		},
		{ given: 'me', says: 'Test Subscriber ID is not a number: "me"' },
	])('sends nothing to anybody if it is "$given"', async ({ given, says }) => {
		const { error, requests } = await run({ options: { testSubscriberId: given } });
		const message = `5 of 5 items are not valid: ${says} (item 0; also items 1, 2, 3, 4)`;
		expect(error).toMatchObject({ message });
		expect(requests).toEqual([]);
	});

	test('sends nothing to a Test Subscriber ID of which a part is empty', async () => {
		const { error, paths } = await run({ options: { testSubscriberId: '=50{{ $json.x }}' } });
		expect(paths).toEqual([]);
		expect(error).toHaveProperty(
			'message',
			expect.stringContaining('Test Subscriber ID has an empty part: {{ $json.x }}'),
		);
	});

	test('sends nothing if Dry Run is on', async () => {
		const { items, requests, hints } = await run({ options: { dryRun: true } });
		expect(requests.filter(({ path }) => path.includes('/send/'))).toEqual([]);
		expect(items[0]).toMatchObject({ audience: 'all', dryRun: true });
		expect(hints[0]).toMatch(/^Nothing was sent: this was a dry run\./);
	});
});

test.each(['trigger', 'webhook', 'retry', 'integrated'] as const)(
	'a Test Subscriber ID changes nothing in an execution of the mode %s, whatever it is',
	async (mode) => {
		const given = await run({ mode, options: { testSubscriberId: 'me' } });
		expect(given.paths).toEqual(times(5, toAll));
		expect(given.items[0]).toMatchObject({ audience: 'all', campaignId: '1001' });
		expect(given.hints).toEqual([]);
	},
);
