import { once } from 'node:events';
import * as http from 'node:http';
import * as https from 'node:https';
import * as net from 'node:net';
import * as tls from 'node:tls';
import { classifyTransportError } from '../../../nodes/PushCampaign/service/transportErrors';
import { selfSigned } from './selfSigned';

const notConnected = (reason: string) => ({ kind: 'notConnected', reason });
const refused = notConnected('the address refuses connections');
const unknownName = notConnected('its name is not known');
const outOfReach = notConnected('the address is out of reach');
const silent = notConnected('the address does not answer');
const notSecure = notConnected('the address does not make the connection secure');
const untrusted = notConnected('its certificate is not trusted');
const unsendable = notConnected('the request is not one that can be sent');
const forbidden = notConnected('this n8n does not allow requests to it');
const lost = { kind: 'connectionLost' };
const timeout = { kind: 'timeout' };

describe('errors that real sockets make', () => {
	const trusted = selfSigned('localhost');
	const expired = selfSigned('localhost', [2020, 2021]);
	const trusting = { ca: trusted.cert, family: 4 };
	const servers: net.Server[] = [];
	const sockets = new Set<net.Socket>();

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

	type Options = https.RequestOptions & { timeoutMs?: number };

	/**
	 * What a POST throws, made as n8n's HTTP helper makes it in the end: by the error alone, as in n8n 1, and by
	 * the request's socket too, as in n8n 2.
	 * @param timeoutMs when the request is given up, as the client does it by a signal
	 */
	async function judge(url: string, { timeoutMs, ...options }: Options = {}) {
		return await new Promise<unknown[]>((resolve, reject) => {
			const { request } = url.startsWith('https:') ? https : http;
			const end = (error: Error) => {
				const withRequest = { message: 'wrapped', cause: { request: sent, cause: error } };
				resolve([error, withRequest].map(classifyTransportError));
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

	test('nobody listens', async () => {
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

	test('the name is not known', async () => {
		// A label of 64 characters is refused by the resolver itself: no name server is asked.
		const url = `http://${'x'.repeat(64)}.invalid`;
		expect(await judge(url, { family: 4 })).toEqual([unknownName, unknownName]);
	});

	test('a name that is never resolved, and an address that never answers', async () => {
		const lookup = () => undefined;
		for (const scheme of ['http', 'https']) {
			const judged = await judge(`${scheme}://push.example`, { lookup, timeoutMs: 100 });
			expect(judged).toEqual([timeout, silent]);
		}
	});

	const [plain, number, name] = ['http://127.0.0.1', 'https://127.0.0.1', 'https://localhost'];
	const older = { ...trusting, maxVersion: 'TLSv1.2' } as const;
	const newer = { minVersion: 'TLSv1.3' } as const;
	const secure =
		(more: https.ServerOptions = {}) =>
		() =>
			https.createServer({ ...trusted, ...more });

	/** Answers what comes first, the request or the greeting of TLS. */
	const answering = (answer: (socket: net.Socket) => void) => () =>
		net.createServer((socket) => socket.once('data', () => answer(socket)));
	const ending = (text = '') => answering((socket) => socket.end(text));
	const resetting = answering((socket) => socket.resetAndDestroy());
	const hanging = answering(() => undefined);
	const cutOff = ending('HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\n{"status"');

	// By the error alone some look as if the request had left.
	test.each<[string, () => net.Server, string, Options, bySocket: object, byError?: object]>([
		['a certificate that nobody has signed', secure(), name, { family: 4 }, untrusted],
		['a certificate for another name', secure(), number, trusting, untrusted],
		['an old certificate', secure(expired), name, { ca: expired.cert, family: 4 }, untrusted],
		['no version of TLS in common', secure(newer), name, older, notSecure, lost],
		['no TLS at all', ending('HTTP/1.1 400 No\r\n\r\n'), number, {}, notSecure, lost],
		['the end in the handshake', ending(), number, {}, notSecure],
		['a reset in the handshake', resetting, number, {}, notSecure, lost],
		['silence in the handshake', hanging, number, { timeoutMs: 200 }, notSecure, timeout],
		['silence after the request', hanging, plain, { timeoutMs: 300 }, timeout],
		['the same with TLS', secure(), name, { ...trusting, timeoutMs: 300 }, timeout],
		['no certificate of its own', secure({ ...newer, requestCert: true }), name, trusting, lost],
		['a reset after the request', resetting, plain, {}, lost],
		['the end after the request', ending(), plain, {}, lost],
		['the end within the answer', cutOff, plain, {}, lost],
		['an answer that is not HTTP', ending('220 mail.example\r\n'), plain, {}, lost],
	])('%s', async (_what, serve, origin, options, bySocket, byError = bySocket) => {
		const port = await listen(serve());
		expect(await judge(`${origin}:${port}`, options)).toEqual([byError, bySocket]);
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
				expect(await judge(url, { ...trusting, timeoutMs: 2000 })).toEqual([lost, lost]);
			});
		},
	);
});

describe('errors by their shape', () => {
	const socket = (_bytesDispatched: number, secureConnecting?: boolean) => ({
		request: { socket: { _bytesDispatched, secureConnecting } },
	});

	test.each<[fault: object, errors: unknown[]]>([
		[
			refused,
			[
				{ code: 'ECONNREFUSED', syscall: 'connect' },
				{ code: 'ECONNREFUSED' },
				{ messages: ['connect ECONNREFUSED 127.0.0.1:9'] },
			],
		],
		[
			outOfReach,
			[
				{ code: 'ETIMEDOUT', syscall: 'connect' },
				{ code: 'EMFILE', syscall: 'connect' },
			],
		],
		[
			unknownName,
			[
				...['ENOTFOUND', 'EAI_AGAIN', 'ENODATA', 'ESERVFAIL'].map((code) => ({ code })),
				{ code: 'EIO', syscall: 'getaddrinfo' },
				{ code: 'ENOTFOUND', syscall: 'reads' },
				{ code: 'ENOTFOUND', syscall: 'xwrite' },
				// As n8n 1 hands them on: the code under another name, the causes as messages alone.
				{ httpCode: 'ENOTFOUND' },
				{ messages: ['getaddrinfo EAI_AGAIN push.example'] },
				{ errors: ['getaddrinfo', { code: 'ENOTFOUND' }] },
			],
		],
		[
			untrusted,
			[
				'CERT_NOT_YET_VALID',
				'DEPTH_ZERO_SELF_SIGNED_CERT',
				'SELF_SIGNED_CERT_IN_CHAIN',
				'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
				'ERR_TLS_CERT_ALTNAME_INVALID',
				'HOSTNAME_MISMATCH',
			].map((code) => ({ code })),
		],
		[
			unsendable,
			[
				'ERR_INVALID_HTTP_TOKEN',
				'ERR_INVALID_CHAR',
				'ERR_INVALID_URL',
				'ERR_INVALID_PROTOCOL',
				'ERR_UNESCAPED_CHARACTERS',
				'ERR_BAD_OPTION',
				'ERR_BAD_OPTION_VALUE',
			].map((code) => ({ code })),
		],
		[
			forbidden,
			[
				{ name: 'SsrfBlockedIpError' },
				{ message: 'Domain not allowed: this credential is for others' },
				{ message: 'This credential is not allowed to be used with domains like x' },
			],
		],
		// The socket of the request: n8n 2 hands it on.
		[silent, [socket(0), { code: 'ERR_CANCELED', ...socket(0, true) }]],
		[notSecure, [socket(9, true), { code: 'ERR_CANCELED', ...socket(9, true) }]],
		[
			timeout,
			[
				{ code: 'ETIMEDOUT' },
				{ code: 'ETIMEDOUT', syscall: 'read' },
				{ code: 'ECONNABORTED' },
				{ code: 'ESOCKETTIMEDOUT' },
				{ message: 'timeout of 30000ms exceeded' },
				{ messages: [Symbol('x'), 'timeout of 30000ms exceeded'] },
			],
		],
		[
			lost,
			[
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
				{ request: { socket: null } },
				{ request: null },
				// A symbol can't be read as text.
				{ code: Symbol('x'), message: Symbol('x'), name: Symbol('x'), syscall: 7 },
				...[{}, [], new Error('anything'), 'text', undefined, null],
			],
		],
	])('%j: %j', (fault, errors) => {
		for (const error of errors)
			expect([error, classifyTransportError(error)]).toEqual([error, fault]);
	});

	const wrap = (error: unknown, times: number): unknown =>
		times === 0 ? error : { message: 'wrapped', cause: wrap(error, times - 1) };

	const attempts = (count: number) => [
		...Array.from({ length: count }, () => ({})),
		{ code: 'ENOTFOUND' },
	];

	test.each([
		['29 causes deep', wrap({ code: 'ENOTFOUND' }, 29), unknownName],
		['deeper than that', wrap({ code: 'ENOTFOUND' }, 30), lost],
		['of 28 attempts', { errors: attempts(27) }, unknownName],
		['of more attempts', { errors: attempts(1_000_000) }, lost],
	])('what is wrapped is found, up to a number of causes: %s', (_where, error, fault) => {
		expect(classifyTransportError(error)).toEqual(fault);
	});
});
