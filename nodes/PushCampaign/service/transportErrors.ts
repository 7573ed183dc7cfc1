import { z } from 'zod/v3';

/**
 * What a request that threw tells for certain:
 * - `notConnected`: nothing left, `reason` completes "No connection could be made: …"
 * - `timeout`, `connectionLost`, `plainAnswer` (not in TLS, though https:// asked for it): the request
 *   may have arrived
 */
export type TransportFault =
	| { readonly kind: 'notConnected'; readonly reason: string }
	| { readonly kind: 'timeout' | 'connectionLost' | 'plainAnswer' };

const deepestCause = 6;
const mostInnerErrors = 8;

const text = z.string().catch('');
const socket = z.object({ secureConnecting: z.unknown(), _bytesDispatched: z.unknown() });
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
	request: z.object({ socket }).optional().catch(undefined),
});

interface Fact extends Pick<z.infer<typeof thrown>, 'code' | 'syscall' | 'message' | 'name'> {
	readonly socket?: z.infer<typeof socket> | undefined;
}

/** How Node.js begins the message of a connection that was not made. */
const attemptMessage = /^(connect|getaddrinfo) ([A-Z_]+)\b/;

function factOfMessage(message: string): Fact {
	const [, syscall = '', code = ''] = attemptMessage.exec(message) ?? [];
	return { code, syscall, message, name: '' };
}

/** The error, and what caused it. */
function factsOf(error: unknown, depth = 0): Fact[] {
	const { data } = thrown.safeParse(error);
	if (data === undefined || depth > deepestCause) return [];
	const { code, httpCode, syscall, message, name, request } = data;
	const inner = [data.cause, ...data.errors.slice(0, mostInnerErrors)];
	return [
		{ code: code || httpCode, syscall, message, name, socket: request?.socket },
		...data.messages.slice(0, mostInnerErrors).map(factOfMessage),
		...inner.flatMap((each) => factsOf(each, depth + 1)),
	];
}

const refused = 'the address refuses connections';
const silent = 'the address does not answer';
const attemptEnded = 'the connection attempt ended';
const noHandshake = 'the address ends the connection before it is secure';

const connectReasons: Record<string, string> = {
	ECONNREFUSED: refused,
	ETIMEDOUT: silent,
	EHOSTUNREACH: 'the address is out of reach',
	ENETUNREACH: 'the network is out of reach',
	ECONNRESET: 'the address ends connections at once',
	EADDRNOTAVAIL: 'the address is not available',
};

/** What certainly came before anything left. */
const reasons: ReadonlyArray<
	readonly [field: Exclude<keyof Fact, 'socket'>, pattern: RegExp, reason: string]
> = [
	['code', /^ECONNREFUSED$/, refused],
	['code', /^(ENOTFOUND|EAI_[A-Z]+|ENODATA|ESERVFAIL)$/, 'its name is not known'],
	['syscall', /^getaddrinfo$/, 'its name is not known'],
	// Certificates are judged when the handshake is over. Other codes of TLS (`EPROTO`, `ERR_SSL_…`) come in
	// the handshake, and from what a server or a proxy writes later.
	[
		'code',
		/^(CERT_.+|DEPTH_ZERO_SELF_SIGNED_CERT|SELF_SIGNED_CERT_IN_CHAIN|UNABLE_TO_.+|ERR_TLS_CERT_ALTNAME_INVALID|HOSTNAME_MISMATCH)$/,
		'its certificate is not trusted',
	],
	['message', /before secure TLS connection was established/, noHandshake],
	[
		'code',
		/^(ERR_INVALID_(HTTP_TOKEN|CHAR|URL|PROTOCOL)|ERR_UNESCAPED_CHARACTERS|ERR_BAD_OPTION.*)$/,
		'the request is not one that can be sent',
	],
	['name', /^Ssrf.*Error$/, 'this n8n does not allow requests to it'],
	[
		'message',
		/^Domain not allowed|not allowed to be used with domains/,
		'this n8n does not allow requests to it',
	],
];

function reasonOf(fact: Fact): string | undefined {
	if (fact.syscall === 'connect') return connectReasons[fact.code] ?? attemptEnded;
	// Of a connection that is there, whatever code comes with it.
	if (/^(read|write)$/.test(fact.syscall)) return undefined;
	return reasons.find(([field, pattern]) => pattern.test(fact[field]))?.[2];
}

const isTimeout = ({ code, message }: Fact) =>
	/^(ETIMEDOUT|ECONNABORTED|ESOCKETTIMEDOUT)$/.test(code) ||
	/^timeout of \d+ms exceeded/.test(message);
/** What OpenSSL says about an answer that is not TLS at all. */
const isPlainAnswer = ({ code, message }: Fact) =>
	code === 'ERR_SSL_WRONG_VERSION_NUMBER' || /:wrong version number:/.test(message);

/**
 * Words for a request that its socket shows not to have left. Both of its properties keep their value when it
 * is destroyed: `secureConnecting` is true until the certificate is accepted, `_bytesDispatched` is 0 until
 * anything was handed to the system.
 */
function unsentReason(facts: readonly Fact[]): string | undefined {
	// Our own signal ends a request too, and stands for a timeout where nobody stopped the execution.
	const isGivenUp = facts.some((fact) => fact.code === 'ERR_CANCELED' || isTimeout(fact));
	const sockets = facts.map((fact) => fact.socket);
	if (sockets.some((each) => each?._bytesDispatched === 0)) {
		return isGivenUp ? silent : attemptEnded;
	}
	if (!sockets.some((each) => each?.secureConnecting === true)) return undefined;
	if (facts.some(isPlainAnswer)) {
		return 'the address does not speak https://, its port may be one for http://';
	}
	return isGivenUp ? 'the address does not make the connection secure' : noHandshake;
}

/**
 * Decides from an error that a request threw whether anything can have reached the service. Nothing
 * of the error itself goes on: it holds the request's headers.
 */
export function classifyTransportError(error: unknown): TransportFault {
	const facts = factsOf(error);
	const reason = facts.map(reasonOf).find((each) => each !== undefined) ?? unsentReason(facts);
	if (reason !== undefined) return { kind: 'notConnected', reason };
	if (facts.some(isPlainAnswer)) return { kind: 'plainAnswer' };
	return { kind: facts.some(isTimeout) ? 'timeout' : 'connectionLost' };
}
