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
	/** n8n 2 hands the request on. */
	request: z
		.object({ socket: z.object({ secureConnecting: z.unknown(), _bytesDispatched: z.unknown() }) })
		.catch({ socket: {} }),
});
type Thrown = z.infer<typeof thrown>;

/** Causes may turn in a circle. */
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

const unknownName = 'its name is not known';
const notSecure = 'the address does not make the connection secure';
const forbidden = 'this n8n does not allow requests to it';

/** What certainly came before anything left: a field of the error, how it reads, and why nothing was sent. */
const reasons = [
	['code', /^ECONNREFUSED$/, 'the address refuses connections'],
	['code', /^(ENOTFOUND|EAI_[A-Z]+|ENODATA|ESERVFAIL)$/, unknownName],
	['syscall', /^getaddrinfo$/, unknownName],
	['syscall', /^connect$/, 'the address is out of reach'],
	// Certificates are judged when the handshake is over. Other codes of TLS (`EPROTO`, `ERR_SSL_…`) come in
	// the handshake, and from what a server or a proxy writes later.
	[
		'code',
		/^(CERT_.+|DEPTH_ZERO_SELF_SIGNED_CERT|SELF_SIGNED_CERT_IN_CHAIN|UNABLE_TO_.+|ERR_TLS_CERT_ALTNAME_INVALID|HOSTNAME_MISMATCH)$/,
		'its certificate is not trusted',
	],
	['message', /before secure TLS connection was established/, notSecure],
	[
		'code',
		/^(ERR_INVALID_(HTTP_TOKEN|CHAR|URL|PROTOCOL)|ERR_UNESCAPED_CHARACTERS|ERR_BAD_OPTION.*)$/,
		'the request is not one that can be sent',
	],
	['name', /^Ssrf.*Error$/, forbidden],
	['message', /^Domain not allowed|not allowed to be used with domains/, forbidden],
] as const;

function reasonOf(cause: Thrown): string | undefined {
	// Of a connection that is there, whatever code comes with it.
	if (/^(read|write)$/.test(cause.syscall)) return undefined;
	return reasons.find(([field, pattern]) => pattern.test(cause[field]))?.[2];
}

const isTimeout = ({ code, message }: Thrown) =>
	/^(ETIMEDOUT|ECONNABORTED|ESOCKETTIMEDOUT)$/.test(code) ||
	/^timeout of \d+ms exceeded/.test(message);

/**
 * Words for a request that its socket shows not to have left. Both of its properties keep their value when it
 * is destroyed: `secureConnecting` is true until the certificate is accepted, `_bytesDispatched` is 0 until
 * anything was handed to the system.
 */
function unsentReason(causes: readonly Thrown[]): string | undefined {
	const sockets = causes.map(({ request }) => request.socket);
	if (sockets.some((socket) => socket._bytesDispatched === 0)) return 'the address does not answer';
	return sockets.some((socket) => socket.secureConnecting === true) ? notSecure : undefined;
}

/**
 * Decides from an error that a request threw whether anything can have reached the service. Nothing
 * of the error itself goes on: it holds the request's headers.
 * @returns `notConnected`: nothing left, `reason` completes "No connection could be made: …"; `timeout` and
 * `connectionLost`: the request may have arrived
 */
export function classifyTransportError(error: unknown) {
	const causes = causesOf(error);
	const reason = causes.map(reasonOf).find((each) => each !== undefined) ?? unsentReason(causes);
	if (reason !== undefined) return { kind: 'notConnected', reason } as const;
	return { kind: causes.some(isTimeout) ? 'timeout' : 'connectionLost' } as const;
}
