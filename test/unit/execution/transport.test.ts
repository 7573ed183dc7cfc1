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
	const connectionOf = connectItems(context);
	const shown: unknown[] = [];
	const connections = new Set();
	for (const itemIndex of items.keys()) {
		try {
			const connection = await connectionOf(itemIndex);
			connections.add(connection);
			shown.push(connection.settings.baseUrl);
		} catch (error) {
			shown.push(error);
		}
	}
	return { opened, shown, different: connections.size };
}

describe('the credential of many items', () => {
	test('is opened once where none of its fields is an expression', async () => {
		const fixed = { ...keyed('one'), isFixed: true };
		const { opened, shown, different } = await connectAll(9, () => fixed);
		expect([opened, new Set(shown).size, different]).toEqual([[0], 1, 1]);
	});

	test('is opened for each where one is, and equal ones share a connection', async () => {
		const { opened, shown, different } = await connectAll(20, (index) =>
			keyed(index === 7 ? 'b' : 'a'),
		);
		expect(opened).toEqual([...opened.keys()]);
		expect(shown.filter((url) => url === 'https://b.example')).toHaveLength(1);
		expect([shown[7], different]).toEqual(['https://b.example', 2]);
	});

	test('that opens for some is refused for the others alone, in n8n’s words', async () => {
		const { shown } = await connectAll(3, (index) =>
			index === 1 ? keyed('one') : new Error(`Not yours: ${index}`),
		);
		expect(shown).toMatchObject([
			{ message: 'Not yours: 0' },
			'https://one.example',
			{ message: 'Not yours: 2' },
		]);
		expect(shown[0]).toBeInstanceOf(InvalidInput);
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
