import type { IHttpRequestOptions } from 'n8n-workflow';
import { z } from 'zod/v3';
import { connect, connectItems } from '../../../nodes/PushCampaign/execution/transport';
import { InvalidInput } from '../../../nodes/PushCampaign/service/invalidInput';
import { created, credential, executeFunctions, pollFunctions } from './support';

const keyed = (site: string) => ({ ...credential, baseUrl: `https://${site}.example` });

/** Connects items whose credential n8n gives by item, or refuses with an error. */
async function connectAll(byItem: object[]) {
	const opened: unknown[] = [];
	const { context } = executeFunctions({
		credentialsFor: (_type, itemIndex) => {
			opened.push(itemIndex);
			return byItem[Number(itemIndex)] ?? new Error('No such item');
		},
	});
	const connectionOf = connectItems(context);
	const connections: unknown[] = [];
	for (const itemIndex of byItem.keys()) {
		connections.push(await connectionOf(itemIndex).catch((error: unknown) => error));
	}
	return { opened, connections };
}
const siteOf = (site: string) => ({ settings: { baseUrl: `https://${site}.example` } });

describe('the credential of many items', () => {
	test('is opened once where none of its fields is an expression', async () => {
		const fixed = { ...keyed('a'), isFixed: true };
		const { opened, connections } = await connectAll([fixed, fixed, fixed]);
		expect([opened, new Set(connections).size]).toEqual([[0], 1]);
	});

	test('that opens for some is refused for the others alone, in n8n’s words', async () => {
		const { connections } = await connectAll([new Error('Not yours'), keyed('a')]);
		const advice = 'Choose a Push Campaign API credential in the node that you may use.';
		expect(connections).toMatchObject([{ message: 'Not yours', advice }, siteOf('a')]);
		expect(connections[0]).toBeInstanceOf(InvalidInput);
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

const request = { kind: 'read', path: '/v1/site/subscribers/count' } as const;

test('a request keeps its own signal, whatever n8n’s helper sets', async () => {
	const kept: boolean[] = [];
	const { context } = pollFunctions({
		service: (options) => {
			const own = options.abortSignal;
			options.abortSignal = new AbortController().signal;
			const copy: IHttpRequestOptions = { ...options };
			kept.push(own !== undefined && own === copy.abortSignal);
			return created(1001);
		},
	});
	const { client } = await connect(context);
	await client.request(request, z.unknown(), 1000);
	expect(kept).toEqual([true]);
});

test.each([
	[{ id: '7', name: 'Shop' }, { pushCampaignApi: { id: '7', name: 'Shop' } }],
	[{ id: '', name: '' }, {}],
	[{ id: '', name: '' }, undefined],
])('n8n’s helper is told the credential, and so is the site: %j', async (named, credentials) => {
	const { context, asked } = pollFunctions({});
	const node = context.getNode();
	delete node.credentials;
	if (credentials !== undefined) node.credentials = credentials;
	const { client, site } = await connect(context);
	await client.request(request, z.unknown(), 1000);
	const credentialsDecrypted = { ...named, type: 'pushCampaignApi', data: credential };
	expect(asked).toMatchObject([
		{ credentialType: 'pushCampaignApi', more: { credentialsDecrypted } },
	]);
	expect(site).toBe(JSON.stringify([credential.baseUrl, named.id]));
});
