import { once } from 'node:events';
import { createServer } from 'node:https';
import { generate } from 'selfsigned';
import { credentialType, node, pushCampaign } from '../../host';
import { runNodes, secrets, startStage, type Stage } from './support';
import { startProxy, type Proxy, type ProxyAnswer } from './support/proxy';
import { runSql } from './support/sqlite';

const content = { title: 'Sale', message: 'Today', targetUrl: 'https://shop.example' };

/** What n8n's environment does not let through, and what the owner wrote into the credential. */
describe.each(['2', '1'] as const)('n8n %s.x', (major) => {
	let stage: Stage;
	let proxy: Proxy;

	beforeAll(async () => {
		proxy = await startProxy();
		const env = {
			HTTPS_PROXY: proxy.url,
			NO_PROXY: '127.0.0.1,0.0.0.0,localhost',
			N8N_BLOCK_ENV_ACCESS_IN_NODE: 'true',
			PUSH_KEY: secrets.apiKey,
		};
		stage = await startStage({ major, env });
	}, 400_000);
	beforeEach(() => stage.simulator.reset());
	afterAll(async () => {
		await stage.close();
		await proxy.close();
	}, 60_000);

	const newCredential = async (data: object) =>
		await stage.client.createCredential('Another', credentialType, { ...secrets, ...data });

	/** Sends once with a credential; gives the error's message and description, and the sent item if there is none. */
	async function send(credential: Stage['credential'], timeout = 30_000) {
		const sending = pushCampaign({ ...content, options: { timeout } }, { credential });
		const { execution } = await runNodes(stage, [sending]);
		const { error } = execution.data.resultData;
		expect(JSON.stringify(execution)).not.toContain(proxy.password);
		return error && `${error.message}. ${error.description ?? ''}`;
	}

	/** The same of the credential's own test. */
	async function tested(credential: Stage['credential']) {
		const { message = '' } = await stage.client.testCredential(credential);
		expect(message).not.toContain(proxy.password);
		return message;
	}

	test('a credential with an environment variable that n8n keeps from expressions says which setting that is', async () => {
		const credential = await newCredential({
			baseUrl: stage.simulator.url,
			apiKey: '={{ $env.PUSH_KEY }}',
		});
		expect(await send(credential)).toMatch(
			/^An expression in the credential reads an environment variable .*N8N_BLOCK_ENV_ACCESS_IN_NODE/,
		);
	});

	test('a credential that was saved with another encryption key names that key', async () => {
		const credential = await newCredential({ baseUrl: stage.simulator.url });
		// As n8n encrypts: no key decrypts a text that ends within a block.
		const data = Buffer.from('Salted__12345678not of a block').toString('base64');
		await runSql(
			stage.server,
			`UPDATE credentials_entity SET data = '${data}' WHERE id = '${credential.id}'`,
		);
		expect(await send(credential)).toMatch(
			/^n8n could not decrypt the credential: .*N8N_ENCRYPTION_KEY/,
		);
	});

	test('a self-signed certificate names NODE_EXTRA_CA_CERTS', async () => {
		const { cert, private: key } = await generate([{ name: 'commonName', value: 'localhost' }]);
		const server = createServer({ cert, key });
		server.listen(0, '127.0.0.1');
		await once(server, 'listening');
		const address = server.address();
		const port = typeof address === 'object' ? address?.port : undefined;
		const credential = await newCredential({ baseUrl: `https://127.0.0.1:${port}` });
		const says =
			/^Could not connect to 127.0.0.1:\d+: its certificate is not trusted\. .*NODE_EXTRA_CA_CERTS/;
		expect(await send(credential)).toMatch(says);
		expect(await tested(credential)).toMatch(says);
		server.close();
	});

	// n8n 1 passes on nothing of a request that failed but the words.
	const proxyName = () => (major === '2' ? proxy.host : 'that n8n uses');

	test.each<{ name: string; answer: ProxyAnswer; then: () => string }>([
		{
			name: 'a proxy that asks for a password is named as the cause, and nothing was sent',
			answer: 'asks for a password',
			then: () => 'The proxy that n8n uses asks for a user name and password (HTTP 407)',
		},
		{
			name: 'a proxy that ends the connection is named as the cause, and nothing was sent',
			answer: 'ends the connection',
			then: () =>
				`The proxy ${proxyName()} made no connection to push.example: the connection was lost`,
		},
	])('$name', async ({ answer, then }) => {
		proxy.answer = answer;
		const credential = await newCredential({ baseUrl: 'https://push.example' });
		expect(await send(credential)).toMatch(`${then()}. It was not sent. `);
		expect(await tested(credential)).toMatch(/^The proxy that n8n uses .*HTTPS_PROXY/);
	});

	test('a send to a proxy that does not answer is not sent on n8n 2, which shows that it had no connection', async () => {
		proxy.answer = 'does not answer';
		const credential = await newCredential({ baseUrl: 'https://push.example' });
		const notSent = `The proxy ${proxy.host} made no connection to push.example: connection timed out. It was not sent. `;
		const unknown =
			'It is unknown whether this was sent: the push service did not answer within 1 second. ';
		expect(await send(credential, 1000)).toMatch(major === '2' ? notSent : unknown);
	});

	test('a proxy that refuses connections is named by its own address', async () => {
		await proxy.close();
		const credential = await newCredential({ baseUrl: 'https://push.example' });
		const says = `Could not connect to the proxy ${proxy.host}: connection refused. `;
		expect(await send(credential)).toMatch(`${says}It was not sent. `);
		expect(await tested(credential)).toMatch(says);
	});

	// 0.0.0.0 is this machine as well, but not one of the names that need no Allow HTTP.
	test.each([
		{ name: 'by an expression', written: (url: string) => `={{ '${url}' }}` },
		{
			name: 'with blanks in front and mixed case',
			written: (url: string) => ` \t${url.replace('http', 'hTTp')}`,
		},
	])('Allow HTTP counts for an http address $name', async ({ written }) => {
		const baseUrl = written(stage.simulator.url.replace('127.0.0.1', '0.0.0.0'));
		const closed = await newCredential({ baseUrl });
		expect(await send(closed)).toMatch(/turn on Allow HTTP\.$/);
		expect(await send(await newCredential({ baseUrl, allowHttp: true }))).toBeUndefined();
		expect(stage.simulator.requests).toHaveLength(1);
	});

	test('the HTTP Request node reads and sends with the credential, and its requests have the content type', async () => {
		const { simulator, credential } = stage;
		const common = {
			authentication: 'predefinedCredentialType',
			nodeCredentialType: credentialType,
		};
		const request = (name: string, parameters: object) =>
			node(
				name,
				'n8n-nodes-base.httpRequest',
				{ ...common, ...parameters },
				{
					credential,
					typeVersion: 4.2,
				},
			);
		const { execution } = await runNodes(stage, [
			request('Read', { url: `${simulator.url}/v1/site/subscriber_count` }),
			request('Send', {
				method: 'POST',
				url: `${simulator.url}/v1/notification/send/all`,
				sendBody: true,
				specifyBody: 'json',
				jsonBody: JSON.stringify({ title: 'T', message: 'M', target_url: 'https://a.example' }),
			}),
		]);
		expect(execution.status).toBe('success');
		expect(simulator.requests.map(({ headers }) => headers['content-type'])).toEqual([
			'application/json',
			'application/json',
		]);
	});
});
