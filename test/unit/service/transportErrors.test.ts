import { once } from 'node:events';
import * as http from 'node:http';
import * as https from 'node:https';
import * as net from 'node:net';
import * as tls from 'node:tls';
import { classifyTransportError } from '../../../nodes/PushCampaign/service/transportErrors';
import { selfSigned } from './selfSigned';

const trusted = selfSigned('localhost');
const certificateReason = 'its certificate or encryption is not trusted';

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

	/** What a POST throws, made as n8n's HTTP helper makes it in the end. */
	async function errorOf(url: string, options: https.RequestOptions = {}): Promise<unknown> {
		return await new Promise((resolve, reject) => {
			const { request } = url.startsWith('https:') ? https : http;
			const sent = request(url, { method: 'POST', agent: false, ...options }, (response) => {
				response.on('error', resolve).on('end', () => reject(new TypeError('It was answered')));
				response.resume();
			});
			sent.on('error', resolve);
			sent.end('{}');
		});
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

	test('no version of TLS in common', async () => {
		const port = await listen(https.createServer({ ...trusted, minVersion: 'TLSv1.3' }));
		const error = await errorOf(`https://localhost:${port}`, {
			ca: trusted.cert,
			family: 4,
			maxVersion: 'TLSv1.2',
		});
		expect(classifyTransportError(error)).toMatchObject({ reason: certificateReason });
	});

	test('what listens does not speak TLS', async () => {
		const port = await listen(
			net.createServer((socket) =>
				socket.once('data', () => socket.end('HTTP/1.1 400 No\r\n\r\n')),
			),
		);
		const error = await errorOf(`https://127.0.0.1:${port}`);
		expect(classifyTransportError(error)).toMatchObject({ reason: certificateReason });
	});

	test('the connection ends in the handshake', async () => {
		const port = await listen(
			net.createServer((socket) => socket.once('data', () => socket.end())),
		);
		const error = await errorOf(`https://127.0.0.1:${port}`);
		expect(classifyTransportError(error)).toEqual({
			kind: 'notConnected',
			reason: certificateReason,
		});
	});

	test('a reset in the handshake looks like one after it, and counts as one after it', async () => {
		const port = await listen(resetAfterData());
		const error = await errorOf(`https://127.0.0.1:${port}`);
		expect(classifyTransportError(error)).toEqual({ kind: 'connectionLost' });
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
		[{ code: 'EMFILE', syscall: 'connect' }, notConnected('the connection attempt ended (EMFILE)')],
		[{ code: 'ECONNREFUSED' }, notConnected('the address refuses connections')],
		[{ code: 'ENOTFOUND' }, unknownName],
		[{ code: 'EAI_AGAIN' }, unknownName],
		[{ code: 'ENODATA' }, unknownName],
		[{ code: 'ESERVFAIL' }, unknownName],
		[{ code: 'EIO', syscall: 'getaddrinfo' }, unknownName],
		[{ code: 'XENOTFOUND' }, lost],
		[{ code: 'ENOTFOUNDX' }, lost],
		[{ code: 'EPROTO' }, untrusted],
		[{ code: 'CERT_NOT_YET_VALID' }, untrusted],
		[{ code: 'DEPTH_ZERO_SELF_SIGNED_CERT' }, untrusted],
		[{ code: 'SELF_SIGNED_CERT_IN_CHAIN' }, untrusted],
		[{ code: 'UNABLE_TO_VERIFY_LEAF_SIGNATURE' }, untrusted],
		[{ code: 'UNABLE_TO_GET_ISSUER_CERT_LOCALLY' }, untrusted],
		[{ code: 'ERR_TLS_CERT_ALTNAME_INVALID' }, untrusted],
		[{ code: 'ERR_SSL_WRONG_VERSION_NUMBER' }, untrusted],
		[{ code: 'ERR_SSL_UNSUPPORTED_PROTOCOL' }, untrusted],
		[{ code: 'ERR_SSL_PACKET_LENGTH_TOO_LONG' }, untrusted],
		[{ code: 'ERR_SSL_SSLV3_ALERT_HANDSHAKE_FAILURE' }, untrusted],
		[{ code: 'ERR_SSL_TLSV1_ALERT_PROTOCOL_VERSION' }, untrusted],
		[{ code: 'HOSTNAME_MISMATCH' }, untrusted],
		[
			{
				code: 'ECONNRESET',
				message: 'Client network socket disconnected before secure TLS connection was established',
			},
			untrusted,
		],
		// The handshake was over: the request may have been read.
		[{ code: 'ERR_SSL_DECRYPTION_FAILED_OR_BAD_RECORD_MAC' }, lost],
		[{ code: 'ERR_SSL_TLSV13_ALERT_CERTIFICATE_REQUIRED' }, lost],
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
		[{ code: 'XEPROTO' }, lost],
		[{ code: 'EPROTOX' }, lost],
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
