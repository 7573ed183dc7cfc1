import type { IHttpRequestOptions } from 'n8n-workflow';
import { z } from 'zod/v3';
import { runItems } from '../../../nodes/PushCampaign/execution/runItems';
import { connect } from '../../../nodes/PushCampaign/execution/transport';
import { created, credential, executeFunctions, pollFunctions, withExpressions } from './support';

const adviceToSelect = 'Select a credential you have access to.';

const read = { resource: 'site', operation: 'getSubscriberCount' };

interface Credential {
	readonly [field: string]: unknown;
}

/** Reads once for each item, whose credential n8n gives by item, or refuses with an error. */
async function readAll(byItem: ReadonlyArray<Credential | Error>) {
	const opened: unknown[] = [];
	const { context, asked } = executeFunctions({
		items: byItem.map(() => ({ json: {} })),
		parameters: read,
		continueOnFail: true,
		service: ({ url }) => ({ body: `{"active_subscribers":"${url.length}"}` }),
		credentialsFor: (_type, itemIndex) => {
			opened.push(itemIndex);
			return byItem[Number(itemIndex)] ?? new Error('No such item');
		},
	});
	const given = await runItems(context);
	return { opened, urls: asked.map(({ options }) => options.url), asked, given };
}

describe('the credential of a run with several items', () => {
	const urlOf = (site: string) => `https://${site}.example/v1/site/subscriber_count`;
	const at = (site: string) => withExpressions({ baseUrl: `https://${site}.example` });

	test('is opened once if none of its fields is an expression', async () => {
		const { opened, urls } = await readAll([credential, credential, credential]);
		expect([opened, urls]).toEqual([[0], [urlOf('push')]]);
	});

	test('fails the items that it can’t be opened for, in n8n’s words, and no other item', async () => {
		const { urls, given } = await readAll([at('a'), new Error('Not yours'), at('b')]);
		expect(urls).toEqual([urlOf('a'), urlOf('b')]);
		expect(given[1]?.json).toMatchObject({
			error: { message: 'Not yours', description: adviceToSelect },
		});
	});

	test.each([
		{ name: 'a locked database', error: new Error('SQLITE_BUSY: database is locked') },
		{
			name: 'a vault that refuses connections',
			error: new Error('connect ECONNREFUSED 10.0.0.1:8200'),
		},
		{ name: 'a sealed vault', error: new Error('Vault is sealed') },
		{ name: 'a driver’s code', error: Object.assign(new Error('no'), { code: 'ETIMEDOUT' }) },
		{
			name: 'a driver’s class',
			error: Object.assign(new Error('no'), { name: 'QueryFailedError' }),
		},
	])('that can’t be opened because of $name is reported as temporary', async ({ error }) => {
		const { given, asked } = await readAll([error]);
		expect(asked).toEqual([]);
		expect(given[0]?.json).toMatchObject({
			error: {
				message: `n8n could not open the credential: ${error.message}`,
				type: 'network',
			},
		});
		const context = executeFunctions({ parameters: read, credentialsFor: () => error }).context;
		await expect(runItems(context)).rejects.toMatchObject({
			failure: { cause: 'temporarily-unavailable' },
		});
	});

	// n8n's own words: n8n-workflow, `workflow-data-proxy-env-provider.js`; n8n-core, `constants.js` and
	// `get-secrets-proxy.js`.
	const expressionError = (message: string, description = '') =>
		Object.assign(new Error(message), { name: 'ExpressionError', description });
	const secretsMissing = (description: string) =>
		expressionError('Could not load secrets', description);

	test.each([
		{
			name: 'an environment variable is not to be read',
			error: expressionError('access to env vars denied [Error resolving credentials]'),
			then: {
				message:
					'An expression in the credential reads an environment variable ($env), which this n8n does not allow',
				description:
					"Enter the value itself in the credential, or have n8n's administrator set N8N_BLOCK_ENV_ACCESS_IN_NODE to false and restart n8n.",
				type: 'validation',
			},
		},
		{
			name: 'it was saved with another encryption key',
			error: new Error(
				'Credentials could not be decrypted. The likely reason is that a different "encryptionKey" was used to encrypt the data.',
			),
			then: {
				message: 'n8n could not decrypt the credential: it was saved with another encryption key',
				description:
					'Set N8N_ENCRYPTION_KEY to the same value for every process of n8n (main, workers, webhooks), and restart them. If that key is lost, enter the values of the credential again.',
				type: 'validation',
			},
		},
		{
			name: 'the vault is down',
			error: secretsMissing(
				'The credential in use pulls secrets from an external store that is not reachable',
			),
			then: {
				message: 'n8n could not open the credential: the vault with its secrets is not connected',
				description:
					"Check under External Secrets in n8n's settings that the vault is connected and that the expression in the credential ($secrets) names it, then run the workflow again.",
				type: 'network',
			},
		},
		{
			name: 'the vault does not hold the secret',
			error: secretsMissing(
				'The credential in use tries to use secret from an external store that could not be found',
			),
			then: {
				message: 'The vault has no secret of the name that the credential uses',
				description:
					'Check its name in the expression in the credential ($secrets), and that the vault holds it.',
				type: 'validation',
			},
		},
	])('that can’t be opened because $name says so, and what helps', async ({ error, then }) => {
		const { given, asked } = await readAll([error]);
		expect(asked).toEqual([]);
		expect(given[0]?.json).toMatchObject({ error: then });
	});

	test('gives reads of one address with two keys an answer each, and equal ones a shared one', async () => {
		const keys = ['a', 'b', 'a'];
		const { asked } = await readAll(keys.map((apiKey) => withExpressions({ apiKey })));
		expect(asked.map(({ more }) => more)).toMatchObject(
			['a', 'b'].map((apiKey) => ({ credentialsDecrypted: { data: { apiKey } } })),
		);
	});
});

describe('the site of a send', () => {
	const siteOf = async (given: Credential) =>
		(await connect(executeFunctions({ credentials: given }).context)).site;

	test('stays the same if a key is changed in n8n', async () => {
		expect(await siteOf({ ...credential, apiKey: 'renewed' })).toBe(await siteOf(credential));
		// Of a credential with an expression, what the others hold counts neither.
		const other = withExpressions({ authToken: 'token' });
		expect(await siteOf({ ...other, apiKey: 'renewed' })).toBe(await siteOf(other));
	});

	test('is another one for each key that an expression gives, and holds none of them', async () => {
		const sites = await Promise.all(
			['first-key', 'second-key', 'first-key'].map(
				async (apiKey) => await siteOf(withExpressions({ apiKey })),
			),
		);
		expect(new Set(sites).size).toBe(2);
		expect(sites[2]).toBe(sites[0]);
		expect(sites.join(' ')).not.toMatch(/-key|the-token/);
	});

	test('does not mix up two fields that give the same', async () => {
		const [key, token] = [withExpressions({ apiKey: 'x' }), withExpressions({ authToken: 'x' })];
		expect(await siteOf(key)).not.toBe(await siteOf(token));
	});
});

test('opens the credential of a trigger without an item', async () => {
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

test('a request keeps its own abort signal if n8n’s helper sets another one', async () => {
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
	{ name: 'a saved credential', saved: { pushCampaignApi: { id: '7', name: 'Shop' } }, id: '7' },
	{ name: 'no credential', saved: {}, id: '' },
	{ name: 'no list of credentials', saved: undefined, id: '' },
])('hands n8n’s helper the opened credential if the node has $name', async ({ saved, id }) => {
	const { context, asked } = pollFunctions({});
	const node = context.getNode();
	delete node.credentials;
	if (saved !== undefined) node.credentials = saved;
	const { client, site } = await connect(context);
	await client.request(request, z.unknown(), 1000);
	const name = id === '' ? '' : 'Shop';
	const credentialsDecrypted = { id, name, type: 'pushCampaignApi', data: credential };
	expect(asked).toMatchObject([
		{ credentialType: 'pushCampaignApi', more: { credentialsDecrypted } },
	]);
	expect(site).toBe(JSON.stringify([credential.baseUrl, id]));
});
