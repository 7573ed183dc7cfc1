import { EventEmitter, once } from 'node:events';
import * as http from 'node:http';
import * as https from 'node:https';
import * as net from 'node:net';
import * as tls from 'node:tls';
import { generate } from 'selfsigned';
import { classifyTransportError } from '../../../nodes/PushCampaign/service/transportErrors';

const notConnected = (reason: string, more: object = {}) => ({
	kind: 'notConnected',
	reason,
	...more,
});
/** What is to be mended, by a word of it. */
function remedy(word: string): object {
	const text: unknown = expect.stringContaining(word);
	return { remedy: text };
}
const refused = notConnected('connection refused');
const hostNotFound = notConnected('host not found');
const unreachable = notConnected('the address is unreachable');
const silent = notConnected('connection timed out');
const notSecure = notConnected('the TLS handshake was not completed');
const untrusted = notConnected('its certificate is not trusted', remedy('NODE_EXTRA_CA_CERTS'));
const expired = notConnected('its certificate has expired', remedy('renew'));
const early = notConnected('its certificate is not valid yet', remedy('renew'));
const otherName = notConnected('its certificate is for another host name', remedy('Base URL'));
const unsendable = notConnected('the request is not valid HTTP');
const forbidden = notConnected('this n8n does not allow requests to it');
const lost = { kind: 'connectionLost' };
const timeout = { kind: 'timeout' };

interface Certificate {
	cert: string;
	key: string;
}

/** A self-signed certificate of `localhost` (not of its address), valid from 2020 until that year begins. */
async function certificate(untilYear: number): Promise<Certificate> {
	const made = await generate([{ name: 'commonName', value: 'localhost' }], {
		keyType: 'ec',
		algorithm: 'sha256',
		notBeforeDate: new Date('2020-01-01'),
		notAfterDate: new Date(`${untilYear}-01-01`),
		extensions: [{ name: 'subjectAltName', altNames: [{ type: 2, value: 'localhost' }] }],
	});
	return { cert: made.cert, key: made.private };
}

describe('an error of a real socket', () => {
	let trusted: Certificate;
	let outdated: Certificate;
	const trusting = () => ({ ca: trusted.cert, family: 4 });
	const servers: net.Server[] = [];
	const sockets = new Set<net.Socket>();

	beforeAll(async () => {
		trusted = await certificate(2049);
		outdated = await certificate(2021);
	});

	async function listen(server: net.Server): Promise<number> {
		servers.push(server);
		server.on('connection', (socket: net.Socket) => {
			sockets.add(socket);
			socket.on('error', () => undefined);
		});
		server.listen(0, '127.0.0.1');
		await once(server, 'listening');
		const address = server.address();
		return typeof address === 'object' && address !== null ? address.port : 0;
	}

	afterEach(async () => {
		for (const socket of sockets) socket.destroy();
		sockets.clear();
		for (const server of servers.splice(0)) {
			server.close();
			await once(server, 'close');
		}
	});

	/** Emits `read` when a server has read something that it does not answer. */
	const serverEvents = new EventEmitter();

	/** When the request is given up, as the client does it by a signal: at a time, or when the server has read. */
	type Options = https.RequestOptions & { giveUp?: 'whenRead' | number };

	/**
	 * What a POST throws, made as n8n's HTTP helper makes it in the end: by the error alone, as in n8n 1, and by
	 * the request's socket too, as in n8n 2.
	 */
	async function judge(url: string, { giveUp, ...options }: Options = {}) {
		return await new Promise<unknown[]>((resolve, reject) => {
			const { request } = url.startsWith('https:') ? https : http;
			const end = (error: Error) => {
				const withRequest = { message: 'wrapped', cause: { request: sent, cause: error } };
				resolve([error, withRequest].map((each) => classifyTransportError(each, new URL(url))));
			};
			const sent = request(url, { method: 'POST', agent: false, ...options }, (response) => {
				response.on('error', end).on('end', () => reject(new TypeError('It was answered')));
				response.resume();
			});
			sent.on('error', end);
			sent.end('{}');
			if (giveUp === undefined) return;
			const stop = () => {
				end(Object.assign(new Error('timeout of 9ms exceeded'), { code: 'ECONNABORTED' }));
				sent.destroy();
			};
			if (giveUp === 'whenRead') serverEvents.once('read', stop);
			else setTimeout(stop, giveUp);
		});
	}

	test('is a refused connection if nobody listens', async () => {
		const port = await listen(net.createServer());
		servers.pop()?.close();
		const lookup: net.LookupFunction = (_name, _options, callback) =>
			callback(null, [
				{ address: '127.0.0.1', family: 4 },
				{ address: '127.0.0.2', family: 4 },
			]);
		expect(await judge(`http://127.0.0.1:${port}`)).toEqual([refused, refused]);
		expect(await judge(`https://push.example:${port}`, { lookup })).toEqual([refused, refused]);
	});

	test('is an unknown host if the name does not exist', async () => {
		// A label of 64 characters is refused by the resolver itself: no name server is asked.
		const url = `http://${'x'.repeat(64)}.invalid`;
		expect(await judge(url, { family: 4 })).toEqual([hostNotFound, hostNotFound]);
	});

	test('is a connection timeout if the name is never resolved, on n8n 2', async () => {
		const lookup = () => undefined;
		for (const scheme of ['http', 'https']) {
			const judged = await judge(`${scheme}://push.example`, { lookup, giveUp: 100 });
			expect(judged).toEqual([timeout, silent]);
		}
	});

	const plain = 'http://127.0.0.1';
	const byNumber = 'https://127.0.0.1';
	const byName = 'https://localhost';
	const older = () => ({ ...trusting(), maxVersion: 'TLSv1.2' }) as const;
	const newer = () => ({ minVersion: 'TLSv1.3' }) as const;
	const secure =
		(more: () => https.ServerOptions = () => ({})) =>
		() =>
			https.createServer({ ...trusted, ...more() }, () => void serverEvents.emit('read'));

	/** Answers what comes first, the request or the greeting of TLS. */
	const answering = (answer: (socket: net.Socket) => void) => () =>
		net.createServer((socket) => socket.once('data', () => answer(socket)));
	const ending = (text = '') => answering((socket) => socket.end(text));
	const resetting = answering((socket) => socket.resetAndDestroy());
	const hanging = answering(() => void serverEvents.emit('read'));
	const cutOff = ending('HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\n{"status"');

	interface Row {
		readonly name: string;
		readonly serve: () => net.Server;
		readonly origin: string;
		readonly options?: () => Options;
		readonly bySocket: object;
		/** By the error alone, as in n8n 1, some look as if the request had left. Left out: the same. */
		readonly byError?: object;
	}

	test.each<Row>([
		{
			name: 'says that the certificate is not trusted if it is self-signed',
			serve: secure(),
			origin: byName,
			options: () => ({ family: 4 }),
			bySocket: untrusted,
		},
		{
			name: 'says that the certificate is for another name',
			serve: secure(),
			origin: byNumber,
			options: trusting,
			bySocket: otherName,
		},
		{
			name: 'says that the certificate has expired',
			serve: secure(() => outdated),
			origin: byName,
			options: () => ({ ca: outdated.cert, family: 4 }),
			bySocket: expired,
		},
		{
			name: 'is a failed handshake if there is no version of TLS in common',
			serve: secure(newer),
			origin: byName,
			options: older,
			bySocket: notSecure,
			byError: lost,
		},
		{
			name: 'is a failed handshake if the server knows no TLS',
			serve: ending('HTTP/1.1 400 No\r\n\r\n'),
			origin: byNumber,
			bySocket: notSecure,
			byError: lost,
		},

		{
			name: 'is a failed handshake if the server ends the connection in it',
			serve: ending(),
			origin: byNumber,
			bySocket: notSecure,
		},
		{
			name: 'is a failed handshake if the server resets the connection in it',
			serve: resetting,
			origin: byNumber,
			bySocket: notSecure,
			byError: lost,
		},
		{
			name: 'is a failed handshake if the server is silent in it until the timeout',
			serve: hanging,
			origin: byNumber,
			options: () => ({ giveUp: 'whenRead' }),
			bySocket: notSecure,
			byError: timeout,
		},
		{
			name: 'is a timeout if the server is silent after the request',
			serve: hanging,
			origin: plain,
			options: () => ({ giveUp: 'whenRead' }),
			bySocket: timeout,
		},

		{
			name: 'is a lost connection if the server asks for a certificate of the client',
			serve: secure(() => ({ ...newer(), requestCert: true })),
			origin: byName,
			options: trusting,
			bySocket: lost,
		},
		{
			name: 'is a lost connection if the server resets it after the request',
			serve: resetting,
			origin: plain,
			bySocket: lost,
		},
		{
			name: 'is a lost connection if the server ends it after the request',
			serve: ending(),
			origin: plain,
			bySocket: lost,
		},
		{
			name: 'is a lost connection if the server ends it within the answer',
			serve: cutOff,
			origin: plain,
			bySocket: lost,
		},
	])('$name', async ({ serve, origin, options, bySocket, byError = bySocket }) => {
		const port = await listen(serve());
		expect(await judge(`${origin}:${port}`, options?.())).toEqual([byError, bySocket]);
	});

	// What no TLS server writes, but a proxy in between, or one that means harm.
	describe.each(['TLSv1.2', 'TLSv1.3'] as const)(
		'is a lost connection, with %s, if after the request was read',
		(version) => {
			const record = (header: number[], length: number) =>
				Buffer.concat([Buffer.from(header), Buffer.alloc(length)]);

			/** A TLS server behind a proxy that writes into the tunnel once the request was read. */
			async function tunnel(write: (client: net.Socket) => void): Promise<number> {
				const clients: net.Socket[] = [];
				const options = { ...trusted, minVersion: version, maxVersion: version };
				const server = await listen(
					tls.createServer(options, (socket) => {
						socket.on('error', () => undefined);
						socket.once('data', () => clients.forEach(write));
					}),
				);
				return await listen(
					net.createServer((client) => {
						clients.push(client);
						const upstream = net.connect(server, '127.0.0.1').on('error', () => undefined);
						client.pipe(upstream);
						upstream.on('data', (data) => client.write(data));
						client.on('close', () => upstream.destroy());
					}),
				);
			}

			test.each<{ name: string; write: (client: net.Socket) => void }>([
				{ name: 'plain text', write: (client) => client.write('HTTP/1.1 400 Bad Request\r\n\r\n') },
				{
					name: 'a record of another key',
					write: (client) => client.write(record([23, 3, 3, 0, 64], 64)),
				},
				{
					name: 'bad_certificate',
					write: (client) => client.write(record([21, 3, 3, 0, 2, 2, 42], 0)),
				},
				{ name: 'the end', write: (client) => client.end() },
				{ name: 'a reset', write: (client) => client.resetAndDestroy() },
			])('$name comes', async ({ write }) => {
				const url = `https://localhost:${await tunnel(write)}`;
				expect(await judge(url, trusting())).toEqual([lost, lost]);
			});
		},
	);
});

const service = new URL('https://push.example');

describe('an error', () => {
	const socket = (_bytesDispatched: number, secureConnecting?: boolean) => ({
		request: { socket: { _bytesDispatched, secureConnecting } },
	});

	test.each<{ name: string; errors: unknown[]; then: object }>([
		{
			name: 'says that the connection was refused',
			then: refused,
			errors: [
				{ code: 'ECONNREFUSED', syscall: 'connect' },
				{ code: 'ECONNREFUSED' },
				{ messages: ['connect ECONNREFUSED 127.0.0.1:443'] },
			],
		},
		{
			name: 'says that the address is unreachable',
			then: unreachable,
			errors: [
				{ code: 'ETIMEDOUT', syscall: 'connect' },
				{ code: 'EMFILE', syscall: 'connect' },
			],
		},
		{
			name: 'says that the host was not found',
			then: hostNotFound,
			errors: [
				...['ENOTFOUND', 'EAI_AGAIN', 'ENODATA', 'ESERVFAIL'].map((code) => ({ code })),
				{ code: 'EIO', syscall: 'getaddrinfo' },
				{ code: 'ENOTFOUND', syscall: 'reads' },
				{ code: 'ENOTFOUND', syscall: 'xwrite' },
				// As n8n 1 hands them on: the code under another name, the causes as messages alone.
				{ httpCode: 'ENOTFOUND' },
				{ messages: ['getaddrinfo EAI_AGAIN push.example'] },
				{ errors: ['getaddrinfo', { code: 'ENOTFOUND' }] },
			],
		},
		{
			name: 'says that the certificate is not trusted',
			then: untrusted,
			errors: [
				'CERT_REVOKED',
				'DEPTH_ZERO_SELF_SIGNED_CERT',
				'SELF_SIGNED_CERT_IN_CHAIN',
				'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
			].map((code) => ({ code })),
		},
		{
			name: 'says that the certificate has expired',
			then: expired,
			errors: [{ code: 'CERT_HAS_EXPIRED' }],
		},
		{
			name: 'says that the certificate is not valid yet',
			then: early,
			errors: [{ code: 'CERT_NOT_YET_VALID' }],
		},
		{
			name: 'says that the certificate is for another host name',
			then: otherName,
			errors: [{ code: 'ERR_TLS_CERT_ALTNAME_INVALID' }, { code: 'HOSTNAME_MISMATCH' }],
		},
		{
			name: 'says that the request is not valid',
			then: unsendable,
			errors: [
				'ERR_INVALID_HTTP_TOKEN',
				'ERR_INVALID_CHAR',
				'ERR_INVALID_URL',
				'ERR_INVALID_PROTOCOL',
				'ERR_UNESCAPED_CHARACTERS',
				'ERR_BAD_OPTION',
				'ERR_BAD_OPTION_VALUE',
			].map((code) => ({ code })),
		},
		{
			name: 'says that n8n does not allow the request',
			then: forbidden,
			errors: [
				{ name: 'SsrfBlockedIpError' },
				{ message: 'Domain not allowed: this credential is for others' },
				{ message: 'This credential is not allowed to be used with domains like x' },
			],
		},
		// The socket of the request: n8n 2 hands it on.
		{
			name: 'says that the connection timed out if its socket sent nothing, or if it has none',
			then: silent,
			errors: [
				...[socket(0), { code: 'ERR_CANCELED', ...socket(0, true) }],
				{ request: { socket: null } },
			],
		},
		{
			name: 'says that the handshake failed if its socket was not secure yet',
			then: notSecure,
			errors: [socket(9, true), { code: 'ERR_CANCELED', ...socket(9, true) }],
		},
		{
			name: 'is a timeout, and the request may have arrived',
			then: timeout,
			errors: [
				{ code: 'ETIMEDOUT' },
				{ code: 'ETIMEDOUT', syscall: 'read' },
				{ code: 'ECONNABORTED' },
				{ code: 'ESOCKETTIMEDOUT' },
				{ message: 'timeout of 30000ms exceeded' },
				{ messages: [Symbol('x'), 'timeout of 30000ms exceeded'] },
			],
		},
		{
			name: 'is a lost connection otherwise, and the request may have arrived',
			then: lost,
			errors: [
				// These say nothing about when they came: the request may have been read.
				...['EPROTO', 'ERR_SSL_WRONG_VERSION_NUMBER', 'ERR_CANCELED'].map((code) => ({ code })),
				// Of a connection that is there, whatever the code.
				{ code: 'ECONNREFUSED', syscall: 'read' },
				{ code: 'ENOTFOUND', syscall: 'write' },
				// Codes and names are known whole.
				...['XENOTFOUND', 'ENOTFOUNDX', 'XETIMEDOUT', 'ETIMEDOUTX'].map((code) => ({ code })),
				...['XCERT_A', 'CERT_', 'XERR_INVALID_URL', 'ERR_INVALID_URLS'].map((code) => ({ code })),
				...['XECONNREFUSED', 'ECONNREFUSEDX'].map((code) => ({ code })),
				{ syscall: 'connects' },
				{ syscall: 'xconnect' },
				{ syscall: 'getaddrinfos' },
				{ syscall: 'xgetaddrinfo' },
				{ name: 'MySsrfError' },
				{ name: 'SsrfErrorX' },
				{ message: 'It said: Domain not allowed' },
				{ message: 'no timeout of 30000ms exceeded' },
				{ messages: ['It did not connect ECONNREFUSED'] },
				{ messages: ['read ECONNRESET', 7] },
				{ code: 'ECONNRESET', httpCode: 'ENOTFOUND' },
				socket(9, false),
				{ request: { socket: {} } },
				{ request: {} },
				{ request: null },
				// A symbol can't be read as text.
				{ code: Symbol('x'), message: Symbol('x'), name: Symbol('x'), syscall: 7 },
				...[{}, [], new Error('anything'), 'text', undefined, null],
			],
		},
	])('$name', ({ errors, then }) => {
		for (const error of errors) {
			expect([error, classifyTransportError(error, service)]).toEqual([error, then]);
		}
	});

	const wrap = (error: unknown, times: number): unknown =>
		times === 0 ? error : { message: 'wrapped', cause: wrap(error, times - 1) };

	const attempts = (count: number) => [
		...Array.from({ length: count }, () => ({})),
		{ code: 'ENOTFOUND' },
	];

	test.each([
		{
			name: 'is found 29 causes deep',
			error: wrap({ code: 'ENOTFOUND' }, 29),
			then: hostNotFound,
		},
		{ name: 'is not found deeper than that', error: wrap({ code: 'ENOTFOUND' }, 30), then: lost },
		{
			name: 'is found among 28 attempts to connect',
			error: { errors: attempts(27) },
			then: hostNotFound,
		},
		{
			name: 'is not found among a million attempts to connect',
			error: { errors: attempts(1_000_000) },
			then: lost,
		},
	])('$name', ({ error, then }) => {
		expect(classifyTransportError(error, service)).toEqual(then);
	});
});

describe('a request that did not get past a proxy', () => {
	const address = 'proxy.example:3128';
	const url = `http://user:password@${address}/`;
	const agents = [
		{ name: 'that holds it', agent: { proxy: new URL(url) } },
		{ name: 'of n8n 2', agent: { router: { proxyCache: new Map([[url, {}]]) } } },
	];
	const refusal = { code: 'ECONNREFUSED', syscall: 'connect', address: '10.0.0.7', port: 3128 };
	const notReached = (of: string) => ({ address: of, isUnreached: true });

	test.each(agents)('names the proxy by an agent $name', ({ agent }) => {
		const request = { agent, socket: null };
		expect([
			classifyTransportError({ request, cause: refusal }, service),
			classifyTransportError({ request, code: 'ERR_CANCELED' }, service),
			classifyTransportError({ request, code: 'ECONNRESET', syscall: 'read' }, service),
		]).toEqual([
			{ ...refused, proxy: notReached(address) },
			{ ...silent, proxy: { address, isUnreached: false } },
			notConnected('the connection was lost', { proxy: { address, isUnreached: false } }),
		]);
	});

	test.each([
		{
			name: 'a port that is not the service’s',
			error: refusal,
			then: { ...refused, proxy: notReached('10.0.0.7:3128') },
		},
		{
			name: 'such a port in a message, as in n8n 1',
			error: { messages: ['connect ECONNREFUSED ::1:3128'] },
			then: { ...refused, proxy: notReached('::1:3128') },
		},
		{
			name: 'such a port in a message that names the own address, too',
			error: { messages: ['connect EHOSTUNREACH 10.0.0.7:3128 - Local (0.0.0.0:0)'] },
			then: { ...unreachable, proxy: notReached('10.0.0.7:3128') },
		},
		{
			name: 'another host name',
			error: { code: 'ENOTFOUND', syscall: 'getaddrinfo', hostname: 'proxy.example' },
			then: { ...hostNotFound, proxy: notReached('proxy.example') },
		},

		{
			name: 'another host name in a message',
			error: { messages: ['getaddrinfo ENOTFOUND proxy.example'] },
			then: { ...hostNotFound, proxy: notReached('proxy.example') },
		},
		{
			name: 'the words of the agent, without an address',
			error: { message: 'Proxy connection ended before receiving CONNECT response' },
			then: notConnected('the connection was lost', { proxy: { isUnreached: false } }),
		},
		{
			name: 'the words of the agent about an answer that is not HTTP',
			error: { messages: ['No header received from proxy CONNECT response'] },
			then: notConnected('its answer is not HTTP', { proxy: { isUnreached: false } }),
		},
	])('names the proxy by $name', ({ error, then }) => {
		expect(classifyTransportError(error, service)).toEqual(then);
	});

	test.each([
		{
			name: 'the port is the service’s',
			address: 'https://push.example:3128',
			error: refusal,
			then: refused,
		},

		{
			name: 'the port is the standard one',
			address: 'http://push.example',
			error: { ...refusal, port: 80 },
			then: refused,
		},
		{
			name: 'the host name is the service’s',
			address: 'https://PUSH.example',
			error: { messages: ['getaddrinfo ENOTFOUND push.example'] },
			then: hostNotFound,
		},
		{
			name: 'the agent chose none',
			address: 'https://push.example',
			error: { request: { socket: null, agent: { router: { proxyCache: new Map() } } } },
			then: silent,
		},
	])('is not about a proxy if $name', ({ address: asked, error, then }) => {
		expect(classifyTransportError(error, new URL(asked))).toEqual(then);
	});

	test('may have arrived if the proxy got the request itself', () => {
		const socket = { _bytesDispatched: 9 };
		const error = { code: 'ERR_CANCELED', request: { socket, agent: { proxy: new URL(url) } } };
		expect(classifyTransportError(error, service)).toEqual(lost);
	});
});
