import { z } from 'zod/v3';

import type { FailedConnection, FailedProxy } from './proxy';
import { failedProxy } from './proxy';

const text = z.string().catch('');
const thrown = z.object({
	code: text,
	/** n8n 1 keeps the code of the cause under this name alone. */
	httpCode: text,
	syscall: text,
	/** The host that was not found. */
	hostname: text,
	/** The address and the port that were not reached. */
	address: text,
	port: z.union([z.number(), z.string().regex(/^\d+$/).transform(Number)]).catch(0),
	message: text,
	name: text,
	cause: z.unknown(),
	/** The attempts per address that Node.js bundles into one error. */
	errors: z.array(z.unknown()).catch([]),
	/** n8n 1 loses the cause of the error that it throws, and keeps the messages of its causes. */
	messages: z.array(text).catch([]),
	/** n8n 2 passes the request on. Its socket is null until it has one. */
	request: z
		.object({
			socket: z.object({ secureConnecting: z.unknown(), _bytesDispatched: z.unknown() }).nullable(),
			agent: z.unknown(),
		})
		.optional()
		.catch(undefined),
});
type Thrown = z.infer<typeof thrown>;

/** Causes can form a circle. */
const mostCauses = 30;

/** The message of Node.js for a connection that was not made: whom it names is an address and a port, or a host. */
const attemptMessage =
	/^(?<syscall>connect|getaddrinfo) (?<code>[A-Z_]+)\b(?: (?<address>\S+):(?<port>\d+)(?: - .*)?$| (?<hostname>\S+)$)?/;

/** What went wrong, by a message alone. */
const fromMessage = (message: string) => ({ message, ...attemptMessage.exec(message)?.groups });

/** The error, and what caused it. */
function causesOf(error: unknown): Thrown[] {
	const found = [error];
	const causes: Thrown[] = [];
	for (const each of found) {
		const { data } = thrown.safeParse(each);
		if (data === undefined) continue;
		causes.push({ ...data, code: data.code || data.httpCode });
		const inner = [data.cause, ...data.errors, ...data.messages.map(fromMessage)];
		found.push(...inner.slice(0, mostCauses - found.length));
	}
	return causes;
}

const hostNotFound = 'host not found';
const timedOut = 'connection timed out';
const connectionLost = 'the connection was lost';
const tlsFailed = 'the TLS handshake was not completed';
const notAllowed = 'this n8n does not allow requests to it';

interface ErrorRule {
	readonly field: 'code' | 'syscall' | 'message' | 'name';
	readonly pattern: RegExp;
	/** Why nothing was sent. */
	readonly reason: string;
	/** What has to be mended, if that is known: sentences. */
	readonly remedy?: string;
	/** Only a proxy fails in this way. */
	readonly isOfProxy?: true;
}

const trustIt =
	"If the certificate is self-signed, or comes from your company's own authority or proxy, set NODE_EXTRA_CA_CERTS in n8n's environment to a file with the certificate of that authority, and restart n8n. Otherwise ask the operator of the push service.";
const renewIt =
	'The operator of the push service has to renew the certificate. Also check the clock of the machine that n8n runs on.';

/** What certainly happened before anything left. The first rule that fits counts. */
const rules: readonly ErrorRule[] = [
	{ field: 'code', pattern: /^ECONNREFUSED$/, reason: 'connection refused' },
	{
		field: 'code',
		pattern: /^(ENOTFOUND|EAI_[A-Z]+|ENODATA|ESERVFAIL)$/,
		reason: hostNotFound,
	},
	{ field: 'syscall', pattern: /^getaddrinfo$/, reason: hostNotFound },
	{ field: 'syscall', pattern: /^connect$/, reason: 'the address is unreachable' },
	// Certificates are checked at the end of the handshake. Other codes of TLS (`EPROTO`, `ERR_SSL_…`) come in
	// the handshake, but also from what a server or a proxy writes later.
	{
		field: 'code',
		pattern: /^CERT_HAS_EXPIRED$/,
		reason: 'its certificate has expired',
		remedy: renewIt,
	},
	{
		field: 'code',
		pattern: /^CERT_NOT_YET_VALID$/,
		reason: 'its certificate is not valid yet',
		remedy: renewIt,
	},
	{
		field: 'code',
		pattern: /^(ERR_TLS_CERT_ALTNAME_INVALID|HOSTNAME_MISMATCH)$/,
		reason: 'its certificate is for another host name',
		remedy:
			'Check Base URL in the credential: enter the host name that the certificate was issued for.',
	},
	{
		field: 'code',
		pattern: /^(CERT_.+|DEPTH_ZERO_SELF_SIGNED_CERT|SELF_SIGNED_CERT_IN_CHAIN|UNABLE_TO_.+)$/,
		reason: 'its certificate is not trusted',
		remedy: trustIt,
	},
	// https-proxy-agent 7.0.6: `parse-proxy-response.js`. The request waits for the answer to CONNECT.
	{
		field: 'message',
		pattern: /^Proxy connection ended before receiving CONNECT response$/,
		reason: connectionLost,
		isOfProxy: true,
	},
	{
		field: 'message',
		pattern: /^(No|Invalid) header (received )?from proxy CONNECT response/,
		reason: 'its answer is not HTTP',
		isOfProxy: true,
	},
	{
		field: 'message',
		pattern: /before secure TLS connection was established/,
		reason: tlsFailed,
	},
	{
		field: 'code',
		pattern:
			/^(ERR_INVALID_(HTTP_TOKEN|CHAR|URL|PROTOCOL)|ERR_UNESCAPED_CHARACTERS|ERR_BAD_OPTION.*)$/,
		reason: 'the request is not valid HTTP',
	},
	{ field: 'name', pattern: /^Ssrf.*Error$/, reason: notAllowed },
	{
		field: 'message',
		pattern: /^Domain not allowed|not allowed to be used with domains/,
		reason: notAllowed,
	},
];

function ruleFor(cause: Thrown): ErrorRule | undefined {
	// A connection was there, whatever code comes with it.
	if (/^(read|write)$/.test(cause.syscall)) return undefined;
	return rules.find(({ field, pattern }) => pattern.test(cause[field]));
}

const isTimeout = ({ code, message }: Thrown) =>
	/^(ETIMEDOUT|ECONNABORTED|ESOCKETTIMEDOUT)$/.test(code) ||
	/^timeout of \d+ms exceeded/.test(message);

/**
 * Why a request was not sent, by its socket: it has none (a proxy made no connection), or its socket sent nothing.
 * Both properties keep their value when it is destroyed: `secureConnecting` is true until the certificate is
 * accepted, `_bytesDispatched` is 0 until anything was handed to the operating system (Node.js 20 to 24:
 * `lib/_http_client.js`, `lib/_tls_wrap.js`, `lib/net.js`).
 */
function unsentReason(causes: readonly Thrown[]): string | undefined {
	if (hasNoSocket(causes)) {
		return causes.some(({ code }) => code === 'ECONNRESET') ? connectionLost : timedOut;
	}
	const sockets = causes.map(({ request }) => request?.socket);
	if (sockets.some((socket) => socket?._bytesDispatched === 0)) return timedOut;
	return sockets.some((socket) => socket?.secureConnecting === true) ? tlsFailed : undefined;
}

const hasNoSocket = (causes: readonly Thrown[]) =>
	causes.some(({ request }) => request?.socket === null);

/** The connection that was not made, if an error names it. */
function attemptOf(causes: readonly Thrown[]): FailedConnection | undefined {
	return causes.find(
		({ syscall, hostname, port }) =>
			(syscall === 'getaddrinfo' && hostname !== '') || (syscall === 'connect' && port > 0),
	);
}

/** What kept a request from being sent. */
export interface NotConnected {
	readonly kind: 'notConnected';
	/** Follows "Could not connect to push.example:". */
	readonly reason: string;
	/** What has to be mended, if that is known: sentences. */
	readonly remedy?: string | undefined;
	/** The proxy that the request did not get past. */
	readonly proxy?: FailedProxy | undefined;
}

/** What became of a request that threw: it was not sent, or it may have arrived. */
export type TransportFault =
	| NotConnected
	| { readonly kind: 'timeout' }
	| { readonly kind: 'connectionLost' };

/**
 * Decides from an error that a request threw whether anything can have reached the service. Nothing else of the
 * error is passed on: it holds the request's headers.
 * @param service the address that was asked
 */
export function classifyTransportError(error: unknown, service: URL): TransportFault {
	const causes = causesOf(error);
	const rule = causes.map(ruleFor).find((each) => each !== undefined);
	const reason = rule?.reason ?? unsentReason(causes);
	if (reason === undefined) {
		return { kind: causes.some(isTimeout) ? 'timeout' : 'connectionLost' };
	}
	const proxy = failedProxy({
		service,
		attempt: attemptOf(causes),
		agents: causes.map(({ request }) => request?.agent),
		hasNoTunnel: rule?.isOfProxy === true,
		hasNoSocket: hasNoSocket(causes),
	});
	return { kind: 'notConnected', reason, remedy: rule?.remedy, proxy };
}
