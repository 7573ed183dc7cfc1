import { z } from 'zod/v3';

const text = z.string().catch('');
const thrown = z.object({
	code: text,
	/** n8n 1 keeps the code of the cause under this name alone. */
	httpCode: text,
	syscall: text,
	message: text,
	name: text,
	cause: z.unknown(),
	/** The attempts per address that Node.js bundles into one error. */
	errors: z.array(z.unknown()).catch([]),
	/** n8n 1 loses the cause of the error that it throws, and keeps the messages of its causes. */
	messages: z.array(text).catch([]),
	/** n8n 2 passes the request on. */
	request: z
		.object({ socket: z.object({ secureConnecting: z.unknown(), _bytesDispatched: z.unknown() }) })
		.catch({ socket: {} }),
});
type Thrown = z.infer<typeof thrown>;

/** Causes can form a circle. */
const mostCauses = 30;

/** How Node.js begins the message of a connection that was not made. */
const attemptMessage = /^(?<syscall>connect|getaddrinfo) (?<code>[A-Z_]+)\b/;

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
const tlsFailed = 'the TLS handshake was not completed';
const notAllowed = 'this n8n does not allow requests to it';

interface Rule {
	readonly field: 'code' | 'syscall' | 'message' | 'name';
	readonly pattern: RegExp;
	/** Why nothing was sent. */
	readonly reason: string;
}

/** What certainly happened before anything left. The first rule that fits counts. */
const rules: readonly Rule[] = [
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
		pattern:
			/^(CERT_.+|DEPTH_ZERO_SELF_SIGNED_CERT|SELF_SIGNED_CERT_IN_CHAIN|UNABLE_TO_.+|ERR_TLS_CERT_ALTNAME_INVALID|HOSTNAME_MISMATCH)$/,
		reason: 'its certificate is not trusted',
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

function reasonOf(cause: Thrown): string | undefined {
	// A connection was there, whatever code comes with it.
	if (/^(read|write)$/.test(cause.syscall)) return undefined;
	return rules.find(({ field, pattern }) => pattern.test(cause[field]))?.reason;
}

const isTimeout = ({ code, message }: Thrown) =>
	/^(ETIMEDOUT|ECONNABORTED|ESOCKETTIMEDOUT)$/.test(code) ||
	/^timeout of \d+ms exceeded/.test(message);

/**
 * Why a request was not sent, by its socket. Both properties keep their value when it is destroyed:
 * `secureConnecting` is true until the certificate is accepted, `_bytesDispatched` is 0 until anything was handed
 * to the operating system (Node.js 20 to 24: `lib/_tls_wrap.js`, `lib/net.js`).
 */
function unsentReason(causes: readonly Thrown[]): string | undefined {
	const sockets = causes.map(({ request }) => request.socket);
	if (sockets.some((socket) => socket._bytesDispatched === 0)) return 'connection timed out';
	return sockets.some((socket) => socket.secureConnecting === true) ? tlsFailed : undefined;
}

/** What became of a request that threw: it was not sent, or it may have arrived. */
export type TransportFault =
	/** `reason` follows "Could not connect to push.example:". */
	| { readonly kind: 'notConnected'; readonly reason: string }
	| { readonly kind: 'timeout' }
	| { readonly kind: 'connectionLost' };

/**
 * Decides from an error that a request threw whether anything can have reached the service. Nothing of the error
 * itself is passed on: it holds the request's headers.
 */
export function classifyTransportError(error: unknown): TransportFault {
	const causes = causesOf(error);
	const reason = causes.map(reasonOf).find((each) => each !== undefined) ?? unsentReason(causes);
	if (reason !== undefined) return { kind: 'notConnected', reason };
	return { kind: causes.some(isTimeout) ? 'timeout' : 'connectionLost' };
}
