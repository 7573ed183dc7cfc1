import type { IHttpRequestOptions } from 'n8n-workflow';
import { z } from 'zod/v3';
import { connect, connectItems } from '../../../nodes/PushCampaign/execution/transport';
import { InvalidInput } from '../../../nodes/PushCampaign/service/invalidInput';
import { created, credential, executeFunctions, pollFunctions } from './support';

/** What n8n gives for each item, also for one that isn't there; an error is thrown. */
type ByItem = (itemIndex: number) => object;
const keyed = (site: string) => ({ ...credential, baseUrl: `https://${site}.example` });

/** Connects items whose credential is told by item, and counts how often it was opened. */
async function connectAll(length: number, byItem: ByItem) {
	const items = Array.from({ length }, () => ({ json: {} }));
	const opened: unknown[] = [];
	const { context } = executeFunctions({
		items,
		credentialsFor: (_type, itemIndex) => {
			opened.push(itemIndex);
			return byItem(Number(itemIndex));
		},
	});
	const connectionOf = await connectItems(context);
	const all = await Promise.allSettled(
		items.map(async (_item, itemIndex) => await connectionOf(itemIndex)),
	);
	const shown = all.map((each): unknown =>
		each.status === 'fulfilled' ? each.value.settings.baseUrl : each.reason,
	);
	const connections = all.flatMap((each) => (each.status === 'fulfilled' ? [each.value] : []));
	return { opened, shown, different: new Set(connections).size };
}

describe('the credential of many items', () => {
	test('is opened for a few where it is the same for all, and they share a connection', async () => {
		const { opened, shown, different } = await connectAll(9, () => keyed('one'));
		expect(opened).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 0]);
		expect(new Set(shown).size).toBe(1);
		expect(different).toBe(1);
	});

	test('is opened for twenty of many, from the first to the last, and for one beyond', async () => {
		const { opened } = await connectAll(500, () => keyed('one'));
		const [first, second, ...more] = opened;
		expect([first, second, more.length]).toEqual([0, 26, 20]);
		expect(more.slice(-4)).toEqual([473, 499, 500, 0]);
	});

	test('is opened for each where one in the middle has its own, and the expression a word for none', async () => {
		const { shown } = await connectAll(20, (index) => keyed(index === 7 ? 'b' : 'a'));
		expect(shown.filter((url) => url === 'https://b.example')).toHaveLength(1);
		expect(shown[7]).toBe('https://b.example');
	});

	test('is opened once for one item', async () => {
		expect((await connectAll(1, () => keyed('one'))).opened).toEqual([0]);
	});

	const beyond = new Error('No item');
	test.each<[what: string, byItem: ByItem]>([
		['last', (index) => keyed(index > 1 ? 'b' : 'a')],
		['middle', (index) => (index > 2 ? beyond : keyed(index === 1 ? 'b' : 'a'))],
		[
			'middle, where n8n makes up the fields of none',
			(index) => keyed(index === 1 ? 'b' : index > 2 ? 'none' : 'a'),
		],
	])('is opened for each where that of the %s is another', async (_what, byItem) => {
		const { opened, shown, different } = await connectAll(3, byItem);
		expect(opened).toEqual([0, 1, 2, 3, 0, 1, 2]);
		expect(new Set(shown).size).toBe(2);
		expect(different).toBe(2);
	});

	test('that opens for none is refused for each, in n8n’s words', async () => {
		const { shown } = await connectAll(3, () => new Error('Not yours'));
		const refusal = { message: 'Not yours' };
		expect(shown).toMatchObject([refusal, refusal, refusal]);
		expect(shown[0]).toBeInstanceOf(InvalidInput);
	});

	test('that opens for some is refused for the others alone', async () => {
		const { shown } = await connectAll(3, (index) =>
			index === 1 ? keyed('one') : new Error(`Not yours: ${index}`),
		);
		expect(shown).toMatchObject([{ message: 'Not yours: 0' }, 'https://one.example', {}]);
	});
});

test('a trigger’s credential is asked for without an item', async () => {
	const asked: unknown[] = [];
	const { context } = pollFunctions({
		credentialsFor: (...args) => {
			asked.push(args);
			return credential;
		},
	});
	await connect(context);
	expect(asked).toEqual([['pushCampaignApi']]);
});

test('a request keeps its own signal, whatever n8n’s helper sets', async () => {
	const kept: boolean[] = [];
	const { context } = executeFunctions({
		service: (options) => {
			const own = options.abortSignal;
			options.abortSignal = new AbortController().signal;
			const copy: IHttpRequestOptions = { ...options };
			kept.push(own !== undefined && own === copy.abortSignal);
			return created(1001);
		},
	});
	const { client } = await connect(context);
	const request = { kind: 'read', path: '/v1/site/subscribers/count' } as const;
	await client.request(request, z.unknown(), 1000);
	expect(kept).toEqual([true]);
});

test('a node without any credential of its own is not a fault of this one', async () => {
	const { context } = executeFunctions({});
	const node = context.getNode();
	delete node.credentials;
	expect((await connect(context)).site).toBe(JSON.stringify([credential.baseUrl, '']));
});
