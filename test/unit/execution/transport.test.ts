import type { IHttpRequestOptions } from 'n8n-workflow';
import { z } from 'zod/v3';
import { runItems } from '../../../nodes/PushCampaign/execution/runItems';
import { connect } from '../../../nodes/PushCampaign/execution/transport';
import { created, credential, executeFunctions, pollFunctions } from './support';

const keyed = (site: string) => ({ ...credential, baseUrl: `https://${site}.example` });

/** Reads once for each item, whose credential n8n gives by item, or refuses with an error. */
async function readAll(byItem: object[]) {
	const opened: unknown[] = [];
	const { context, asked } = executeFunctions({
		items: byItem.map(() => ({ json: {} })),
		parameters: { resource: 'site', operation: 'getSubscriberCount' },
		continueOnFail: true,
		service: () => ({ body: '{"active_subscribers":"7"}' }),
		credentialsFor: (_type, itemIndex) => {
			opened.push(itemIndex);
			return byItem[Number(itemIndex)] ?? new Error('No such item');
		},
	});
	const given = await runItems(context);
	return { opened, sites: asked.map(({ options }) => options.url), given };
}

describe('the credential of many items', () => {
	const path = '/v1/site/subscriber_count';
	test('is opened once where none of its fields is an expression', async () => {
		const fixed = { ...keyed('a'), isFixed: true };
		const { opened, sites } = await readAll([fixed, fixed, fixed]);
		expect([opened, sites]).toEqual([[0], [`https://a.example${path}`]]);
	});

	test('that opens for some is refused for the others alone, in n8n’s words', async () => {
		const { sites, given } = await readAll([keyed('a'), new Error('Not yours'), keyed('b')]);
		expect(sites).toEqual([`https://a.example${path}`, `https://b.example${path}`]);
		const description = 'Choose a Push Campaign API credential in the node that you may use.';
		expect(given[1]?.json).toMatchObject({ error: { message: 'Not yours', description } });
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
	expect(asked).toEqual([['pushCampaignApi', undefined]]);
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
