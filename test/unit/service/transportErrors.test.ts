import { once } from 'node:events';
import * as http from 'node:http';
import * as https from 'node:https';
import * as net from 'node:net';
import * as tls from 'node:tls';
import { classifyTransportError } from '../../../nodes/PushCampaign/service/transportErrors';
import { selfSigned } from './selfSigned';

const trusted = selfSigned('localhost');
const certificateReason = 'its certificate is not trusted';
const handshakeReason = 'the address ends the connection before it is secure';

describe('errors that real sockets make', () => {
	const servers: net.Server[] = [];
	const sockets = new Set<net.Socket>();

	async function listen<Server extends net.Server>(server: Server): Promise<number> {
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

	interface Failed {
		/** What a POST throws, made as n8n's HTTP helper makes it in the end. */
		readonly error: unknown;
		/** The same as n8n 2 hands it on, with the request. */
		readonly withRequest: unknown;
	}

	/** @param timeoutMs when the request is given up, as the client does it by a signal */
	async function failed(
		url: string,
		{ timeoutMs, ...options }: https.RequestOptions & { timeoutMs?: number } = {},
	): Promise<Failed> {
		return await new Promise((resolve, reject) => {
			const { request } = url.startsWith('https:') ? https : http;
			const end = (error: Error) => {
				const withRequest = { message: 'wrapped', cause: { request: sent, cause: error } };
				resolve({ error, withRequest });
			};
			const sent = request(url, { method: 'POST', agent: false, ...options }, (response) => {
				response.on('error', end).on('end', () => reject(new TypeError('It was answered')));
				response.resume();
			});
			sent.on('error', end);
			sent.end('{}');
			if (timeoutMs === undefined) return;
			setTimeout(() => {
				end(Object.assign(new Error('timeout of 9ms exceeded'), { code: 'ECONNABORTED' }));
				sent.destroy();
			}, timeoutMs);
		});
	}

	const errorOf = async (...request: Parameters<typeof failed>) => (await failed(...request)).error;

	/** What is known by the error alone, as in n8n 1, and by the request's socket too, as in n8n 2. */
	async function judge(...request: Parameters<typeof failed>) {
		const { error, withRequest } = await failed(...request);
		return [classifyTransportError(error), classifyTransportError(withRequest)];
	}

	const resetAfterData = () =>
		net.createServer((socket) => socket.once('data', () => socket.resetAndDestroy()));

	test('nobody listens', async () => {
		const port = await listen(net.createServer());
		servers.pop()?.close();
		for (const scheme of ['http', 'https']) {
			const error = await errorOf(`${scheme}://127.0.0.1:${port}`);
			expect(classifyTransportError(error)).toEqual({
				kind: 'notConnected',
				reason: 'the address refuses connections',
			});
		}
	});

	test('nobody listens at any of the addresses of a name', async () => {
		const port = await listen(net.createServer());
		servers.pop()?.close();
		const lookup: net.LookupFunction = (_name, _options, callback) =>
			callback(null, [
				{ address: '127.0.0.1', family: 4 },
				{ address: '127.0.0.2', family: 4 },
			]);
		const error = await errorOf(`http://push.example:${port}`, {
			lookup,
		});
		expect(error).toHaveProperty('errors');
		expect(classifyTransportError(error)).toMatchObject({ kind: 'notConnected' });
	});

	test('the name is not known', async () => {
		// A label of 64 characters is refused by the resolver itself: no name server is asked.
		const error = await errorOf(`http://${'x'.repeat(64)}.invalid`, { family: 4 });
		expect(classifyTransportError(error)).toEqual({
			kind: 'notConnected',
			reason: 'its name is not known',
		});
	});

	test('the certificate is signed by nobody that is trusted', async () => {
		const port = await listen(https.createServer(trusted));
		const error = await errorOf(`https://localhost:${port}`, { family: 4 });
		expect(classifyTransportError(error)).toEqual({
			kind: 'notConnected',
			reason: certificateReason,
		});
	});

	test('the certificate is for another name', async () => {
		const port = await listen(https.createServer(trusted));
		const error = await errorOf(`https://127.0.0.1:${port}`, { ca: trusted.cert });
		expect(classifyTransportError(error)).toMatchObject({ reason: certificateReason });
	});

	test('the certificate has expired', async () => {
		const expired = selfSigned('localhost', [2020, 2021]);
		const port = await listen(https.createServer(expired));
		const options = { ca: expired.cert, family: 4 };
		const error = await errorOf(`https://localhost:${port}`, options);
		expect(classifyTransportError(error)).toMatchObject({ reason: certificateReason });
	});

	const unsent = (reason: string) => ({ kind: 'notConnected', reason });
	const lostConnection = { kind: 'connectionLost' };
	const handshakeOf = async (answer: (socket: net.Socket) => void) =>
		await listen(net.createServer((socket) => socket.once('data', () => answer(socket))));

	test('no version of TLS in common', async () => {
		const port = await listen(https.createServer({ ...trusted, minVersion: 'TLSv1.3' }));
		const options = { ca: trusted.cert, family: 4, maxVersion: 'TLSv1.2' } as const;
		const judged = await judge(`https://localhost:${port}`, options);
		expect(judged).toEqual([lostConnection, unsent(handshakeReason)]);
	});

	test('what listens does not speak TLS', async () => {
		const port = await handshakeOf((socket) => socket.end('HTTP/1.1 400 No\r\n\r\n'));
		expect(await judge(`https://127.0.0.1:${port}`)).toEqual([
			{ kind: 'plainAnswer' },
			unsent('the address does not speak https://, its port may be one for http://'),
		]);
	});

	test('the connection ends in the handshake', async () => {
		const port = await handshakeOf((socket) => socket.end());
		const reason = unsent(handshakeReason);
		expect(await judge(`https://127.0.0.1:${port}`)).toEqual([reason, reason]);
	});

	test('a reset in the handshake looks like one after it, but for the socket', async () => {
		const port = await handshakeOf((socket) => socket.resetAndDestroy());
		const judged = await judge(`https://127.0.0.1:${port}`);
		expect(judged).toEqual([lostConnection, unsent(handshakeReason)]);
	});

	test('a handshake that stays silent looks like a silent service, but for the socket', async () => {
		const port = await handshakeOf(() => undefined);
		expect(await judge(`https://127.0.0.1:${port}`, { timeoutMs: 200 })).toEqual([
			{ kind: 'timeout' },
			unsent('the address does not make the connection secure'),
		]);
	});

	test('a name that is never resolved, and an address that never answers', async () => {
		const lookup = () => undefined;
		for (const scheme of ['http', 'https']) {
			expect(await judge(`${scheme}://push.example`, { lookup, timeoutMs: 100 })).toEqual([
				{ kind: 'timeout' },
				unsent('the address does not answer'),
			]);
		}
	});

	test('a service that reads the request and stays silent', async () => {
		const plain = await handshakeOf(() => undefined);
		const secure = await listen(tls.createServer(trusted));
		for (const [url, options] of [
			[`http://127.0.0.1:${plain}`, {}],
			[`https://localhost:${secure}`, { ca: trusted.cert, family: 4 }],
		] as const) {
			const judged = await judge(url, { ...options, timeoutMs: 300 });
			expect(judged).toEqual([{ kind: 'timeout' }, { kind: 'timeout' }]);
		}
	});

	// What no TLS server writes, but a proxy in between, or one that means harm.
	describe.each(['TLSv1.2', 'TLSv1.3'] as const)(
		'after the request was read, with %s',
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

			test.each<[string, (client: net.Socket) => void]>([
				['plain text', (client) => client.write('HTTP/1.1 400 Bad Request\r\n\r\n')],
				['an overlong record', (client) => client.write(record([23, 3, 3, 255, 255], 65_535))],
				['an unknown record', (client) => client.write(record([153, 153, 153, 0, 64], 64))],
				['another version', (client) => client.write(record([23, 9, 9, 0, 32], 32))],
				['a record of another key', (client) => client.write(record([23, 3, 3, 0, 64], 64))],
				['SSL 2', (client) => client.write(record([128, 46, 1, 0, 2], 60))],
				['a second greeting', (client) => client.write(record([22, 3, 3, 0, 4, 2], 3))],
				['handshake_failure', (client) => client.write(record([21, 3, 3, 0, 2, 2, 40], 0))],
				['protocol_version', (client) => client.write(record([21, 3, 3, 0, 2, 2, 70], 0))],
				['bad_certificate', (client) => client.write(record([21, 3, 3, 0, 2, 2, 42], 0))],
				['the end', (client) => client.end()],
				['a reset', (client) => client.resetAndDestroy()],
			])('%s comes: it may have been sent', async (_what, write) => {
				const url = `https://localhost:${await tunnel(write)}`;
				for (const fault of await judge(url, { ca: trusted.cert, family: 4, timeoutMs: 2000 })) {
					expect(['connectionLost', 'plainAnswer']).toContain(fault.kind);
				}
			});
		},
	);

	test('a certificate of the client that is asked for too late', async () => {
		const options = { ...trusted, minVersion: 'TLSv1.3', requestCert: true } as const;
		const port = await listen(tls.createServer(options));
		const judged = await judge(`https://localhost:${port}`, { ca: trusted.cert, family: 4 });
		expect(judged).toEqual([lostConnection, lostConnection]);
	});

	test('a reset after the request has left', async () => {
		const port = await listen(resetAfterData());
		const error = await errorOf(`http://127.0.0.1:${port}`);
		expect(classifyTransportError(error)).toEqual({ kind: 'connectionLost' });
	});

	test('the connection ends after the request has left', async () => {
		const plain = await listen(
			net.createServer((socket) => socket.once('data', () => socket.end())),
		);
		const secure = await listen(
			tls.createServer(trusted, (socket) => {
				socket.on('error', () => undefined).once('data', () => socket.destroy());
			}),
		);
		const errors = [
			await errorOf(`http://127.0.0.1:${plain}`),
			await errorOf(`https://localhost:${secure}`, { ca: trusted.cert, family: 4 }),
		];
		for (const error of errors) {
			expect(classifyTransportError(error)).toEqual({ kind: 'connectionLost' });
		}
	});

	test('the connection ends within the answer', async () => {
		const port = await listen(
			http.createServer((_request, response) => {
				response.writeHead(200, { 'content-length': 100 });
				response.write('{"status"', () => response.destroy());
			}),
		);
		const error = await errorOf(`http://127.0.0.1:${port}`);
		expect(classifyTransportError(error)).toEqual({ kind: 'connectionLost' });
	});

	test('the answer is not HTTP', async () => {
		const port = await listen(
			net.createServer((socket) => socket.once('data', () => socket.end('220 mail.example\r\n'))),
		);
		const error = await errorOf(`http://127.0.0.1:${port}`);
		expect(classifyTransportError(error)).toEqual({ kind: 'connectionLost' });
	});

	test('a header that no request can carry', async () => {
		const error = await errorOf('http://127.0.0.1', { headers: { 'x-a': 'a→b' } }).catch(
			(thrown: unknown) => thrown,
		);
		expect(classifyTransportError(error)).toEqual({
			kind: 'notConnected',
			reason: 'the request is not one that can be sent',
		});
	});
});

const notConnected = (reason: string) => ({ kind: 'notConnected', reason });
const unsendable = notConnected('the request is not one that can be sent');
const forbidden = notConnected('this n8n does not allow requests to it');
const unknownName = notConnected('its name is not known');
const untrusted = notConnected(certificateReason);
const noHandshake = notConnected(handshakeReason);
const plainAnswer = { kind: 'plainAnswer' };
const lost = { kind: 'connectionLost' };
const timeout = { kind: 'timeout' };

describe('errors by their shape', () => {
	test.each([
		[{ code: 'ETIMEDOUT', syscall: 'connect' }, notConnected('the address does not answer')],
		[{ code: 'EHOSTUNREACH', syscall: 'connect' }, notConnected('the address is out of reach')],
		[{ code: 'ENETUNREACH', syscall: 'connect' }, notConnected('the network is out of reach')],
		[
			{ code: 'ECONNRESET', syscall: 'connect' },
			notConnected('the address ends connections at once'),
		],
		[{ code: 'EADDRNOTAVAIL', syscall: 'connect' }, notConnected('the address is not available')],
		[{ code: 'ECONNREFUSED', syscall: 'connect' }, notConnected('the address refuses connections')],
		[{ code: 'EMFILE', syscall: 'connect' }, notConnected('the connection attempt ended')],
		[{ code: 'ECONNREFUSED' }, notConnected('the address refuses connections')],
		[{ code: 'ENOTFOUND' }, unknownName],
		[{ code: 'EAI_AGAIN' }, unknownName],
		[{ code: 'ENODATA' }, unknownName],
		[{ code: 'ESERVFAIL' }, unknownName],
		[{ code: 'EIO', syscall: 'getaddrinfo' }, unknownName],
		[{ code: 'XENOTFOUND' }, lost],
		[{ code: 'ENOTFOUNDX' }, lost],
		[{ code: 'CERT_NOT_YET_VALID' }, untrusted],
		[{ code: 'DEPTH_ZERO_SELF_SIGNED_CERT' }, untrusted],
		[{ code: 'SELF_SIGNED_CERT_IN_CHAIN' }, untrusted],
		[{ code: 'UNABLE_TO_VERIFY_LEAF_SIGNATURE' }, untrusted],
		[{ code: 'UNABLE_TO_GET_ISSUER_CERT_LOCALLY' }, untrusted],
		[{ code: 'ERR_TLS_CERT_ALTNAME_INVALID' }, untrusted],
		[{ code: 'HOSTNAME_MISMATCH' }, untrusted],
		[
			{
				code: 'ECONNRESET',
				message: 'Client network socket disconnected before secure TLS connection was established',
			},
			noHandshake,
		],
		// These say nothing about when they came: the request may have been read.
		[{ code: 'EPROTO' }, lost],
		[{ code: 'EPROTO', syscall: 'write' }, lost],
		[{ code: 'ERR_SSL_WRONG_VERSION_NUMBER' }, plainAnswer],
		[{ message: 'write EPROTO 80:error:0A:SSL routines:x:wrong version number:' }, plainAnswer],
		[{ messages: ['write EPROTO 80:error:0A:SSL routines:x:wrong version number:'] }, plainAnswer],
		[{ message: 'It has the wrong version number' }, lost],
		[{ code: 'ERR_SSL_UNSUPPORTED_PROTOCOL' }, lost],
		[{ code: 'ERR_SSL_PACKET_LENGTH_TOO_LONG' }, lost],
		[{ code: 'ERR_SSL_SSLV3_ALERT_HANDSHAKE_FAILURE' }, lost],
		[{ code: 'ERR_SSL_TLSV1_ALERT_PROTOCOL_VERSION' }, lost],
		[{ code: 'ERR_SSL_DECRYPTION_FAILED_OR_BAD_RECORD_MAC' }, lost],
		[{ code: 'ERR_SSL_TLSV13_ALERT_CERTIFICATE_REQUIRED' }, lost],
		// Of a connection that is there, whatever the code.
		[{ code: 'ECONNREFUSED', syscall: 'read' }, lost],
		[{ code: 'ENODATA', syscall: 'read' }, lost],
		[{ code: 'ENOTFOUND', syscall: 'write' }, lost],
		// The socket of the request: n8n 2 hands it on.
		[
			{ request: { socket: { _bytesDispatched: 0 } } },
			notConnected('the connection attempt ended'),
		],
		[
			{
				code: 'ECONNABORTED',
				request: { socket: { _bytesDispatched: 0, secureConnecting: true } },
			},
			notConnected('the address does not answer'),
		],
		[
			{ code: 'ERR_CANCELED', request: { socket: { _bytesDispatched: 0 } } },
			notConnected('the address does not answer'),
		],
		[
			{ code: 'ERR_CANCELED', request: { socket: { secureConnecting: true } } },
			notConnected('the address does not make the connection secure'),
		],
		[{ request: { socket: { _bytesDispatched: 9, secureConnecting: true } } }, noHandshake],
		[{ request: { socket: { _bytesDispatched: 9, secureConnecting: false } } }, lost],
		[{ request: { socket: { _bytesDispatched: 9 } } }, lost],
		[{ request: { socket: {} } }, lost],
		[{ request: { socket: null } }, lost],
		[{ request: null }, lost],
		[{ code: 'ERR_INVALID_HTTP_TOKEN' }, unsendable],
		[{ code: 'ERR_INVALID_CHAR' }, unsendable],
		[{ code: 'ERR_INVALID_URL' }, unsendable],
		[{ code: 'ERR_INVALID_PROTOCOL' }, unsendable],
		[{ code: 'ERR_UNESCAPED_CHARACTERS' }, unsendable],
		[{ code: 'ERR_BAD_OPTION' }, unsendable],
		[{ code: 'ERR_BAD_OPTION_VALUE' }, unsendable],
		[{ code: 'ERR_BAD_RESPONSE' }, lost],
		[{ code: 'ERR_INVALID_URLS' }, lost],
		[{ name: 'SsrfBlockedIpError' }, forbidden],
		[{ name: 'MySsrfError' }, lost],
		[{ name: 'SsrfResult' }, lost],
		[{ message: 'Domain not allowed: this credential is for others' }, forbidden],
		[{ message: 'It said: Domain not allowed' }, lost],
		[{ message: 'This credential is not allowed to be used with domains like x' }, forbidden],
		[{ code: 'ETIMEDOUT' }, timeout],
		[{ code: 'ETIMEDOUT', syscall: 'read' }, timeout],
		[{ code: 'ECONNABORTED' }, timeout],
		[{ code: 'ESOCKETTIMEDOUT' }, timeout],
		[{ message: 'timeout of 30000ms exceeded' }, timeout],
		[{ message: 'no timeout of 30000ms exceeded' }, lost],
		[{ code: 'ECONNRESET', syscall: 'read' }, lost],
		[{ code: 'EPIPE', syscall: 'write' }, lost],
		[{ code: 'HPE_INVALID_CONSTANT' }, lost],
		[{ code: 'ERR_CANCELED', name: 'CanceledError' }, lost],
		// As n8n 1 hands them on: the code under another name, the causes as messages alone.
		[{ httpCode: 'ENOTFOUND' }, unknownName],
		[{ code: 'ECONNRESET', httpCode: 'ENOTFOUND' }, lost],
		[
			{ messages: ['connect ECONNREFUSED 127.0.0.1:9'] },
			notConnected('the address refuses connections'),
		],
		[{ messages: ['getaddrinfo EAI_AGAIN push.example'] }, unknownName],
		[{ messages: ['timeout of 30000ms exceeded'] }, timeout],
		[{ messages: ['read ECONNRESET', 7] }, lost],
		[{ messages: ['It did not connect ECONNREFUSED'] }, lost],
		[{ code: 7, message: {}, syscall: null }, lost],
		// Codes and names are known whole.
		[{ code: 'XETIMEDOUT' }, lost],
		[{ code: 'ETIMEDOUTX' }, lost],
		[{ code: 'XCERT_HAS_EXPIRED' }, lost],
		[{ code: 'ERR_SSL_WRONG_VERSION_NUMBERS' }, lost],
		[{ code: 'XERR_INVALID_URL' }, lost],
		[{ name: 'SsrfErrorX' }, lost],
		// A symbol can't be read as text.
		[{ code: Symbol('x'), message: Symbol('x'), name: Symbol('x') }, lost],
		[{ messages: [Symbol('x'), 'timeout of 30000ms exceeded'] }, timeout],
		[{ errors: ['getaddrinfo', { code: 'ENOTFOUND' }] }, unknownName],
		[{}, lost],
		[[], lost],
		[new Error('anything'), lost],
		['text', lost],
		[undefined, lost],
		[null, lost],
	])('%j', (error, fault) => {
		expect(classifyTransportError(error)).toEqual(fault);
	});

	test('what is wrapped is found, six causes deep', () => {
		const wrap = (error: unknown, times: number): unknown =>
			times === 0 ? error : { message: 'wrapped', cause: wrap(error, times - 1) };
		const refused = { code: 'ECONNREFUSED', syscall: 'connect' };
		expect(classifyTransportError(wrap(refused, 6))).toMatchObject({ kind: 'notConnected' });
		expect(classifyTransportError(wrap(refused, 7))).toEqual(lost);
		expect(classifyTransportError(wrap({ code: 'ECONNABORTED' }, 3))).toEqual(timeout);
	});

	test('causes that turn in a circle come to an end', () => {
		const error: { message: string; cause?: unknown; errors?: unknown[] } = { message: 'round' };
		error.cause = error;
		expect(classifyTransportError(error)).toEqual(lost);
		error.errors = [error];
		expect(classifyTransportError(error)).toEqual(lost);
	});

	test('of many attempts the first eight are looked at', () => {
		const attempts = (count: number) => ({
			errors: [...Array.from({ length: count }, () => ({})), { code: 'ENOTFOUND' }],
		});
		expect(classifyTransportError(attempts(7))).toEqual(unknownName);
		expect(classifyTransportError(attempts(8))).toEqual(lost);
	});
});
