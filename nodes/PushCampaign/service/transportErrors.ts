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

const errorFacts = z.object({
	code: z.unknown(),
	syscall: z.unknown(),
	message: z.unknown(),
	name: z.unknown(),
	cause: z.unknown(),
	errors: z.unknown(),
	httpCode: z.unknown(),
	messages: z.unknown(),
	request: z.unknown(),
});

/**
 * The socket of a request, as far as n8n 2 hands it on. Both properties keep their value when the socket
 * is destroyed: `secureConnecting` is true until the handshake is over and the certificate accepted,
 * `_bytesDispatched` is 0 until anything was handed to the system.
 */
const socketFacts = z.object({
	socket: z.object({ secureConnecting: z.unknown(), _bytesDispatched: z.unknown() }),
});

/** How far a request had come when it ended. */
type Stage = 'connecting' | 'securing' | 'unknown';

interface Fact {
	readonly code: string;
	readonly syscall: string;
	readonly message: string;
	readonly name: string;
	readonly stage: Stage;
}

const deepestCause = 6;
const mostInnerErrors = 8;

/** How Node.js begins the message of a connection that was not made. */
const attemptMessage = /^(connect|getaddrinfo) ([A-Z_]+)\b/;

/** n8n 1 loses the cause of the error that it throws, and keeps the messages of its causes. */
function factOfMessage(message: unknown): Fact[] {
	if (typeof message !== 'string') return [];
	const [, syscall = '', code = ''] = attemptMessage.exec(message) ?? [];
	return [{ code, syscall, message, name: '', stage: 'unknown' }];
}

function stageOf(request: unknown): Stage {
	const { data } = socketFacts.safeParse(request);
	if (data?.socket._bytesDispatched === 0) return 'connecting';
	return data?.socket.secureConnecting === true ? 'securing' : 'unknown';
}

const firstOf = (list: unknown): unknown[] =>
	Array.isArray(list) ? list.slice(0, mostInnerErrors) : [];

/** The error, what caused it, and the attempts per address that Node.js bundles into one error. */
function collectFacts(error: unknown, depth = 0): Fact[] {
	if (depth > deepestCause) return [];
	const { data } = errorFacts.safeParse(error);
	if (data === undefined) return [];
	const text = (value: unknown) => (typeof value === 'string' ? value : '');
	const fact: Fact = {
		// n8n 1 keeps the code of the cause under this name alone.
		code: text(data.code) || text(data.httpCode),
		syscall: text(data.syscall),
		message: text(data.message),
		name: text(data.name),
		stage: stageOf(data.request),
	};
	const inner = [data.cause, ...firstOf(data.errors)];
	return [
		fact,
		...firstOf(data.messages).flatMap(factOfMessage),
		...inner.flatMap((each) => collectFacts(each, depth + 1)),
	];
}

const connectReasons: Record<string, string> = {
	ECONNREFUSED: 'the address refuses connections',
	ETIMEDOUT: 'the address does not answer',
	EHOSTUNREACH: 'the address is out of reach',
	ENETUNREACH: 'the network is out of reach',
	ECONNRESET: 'the address ends connections at once',
	EADDRNOTAVAIL: 'the address is not available',
};

const dnsCodes = /^(ENOTFOUND|EAI_[A-Z]+|ENODATA|ESERVFAIL)$/;

/**
 * Certificates are judged when the handshake is over and before anything leaves. Other codes of TLS
 * (`EPROTO`, `ERR_SSL_…`) come in the handshake, and from what a server or a proxy writes later.
 */
const certificateCodes =
	/^(CERT_.+|DEPTH_ZERO_SELF_SIGNED_CERT|SELF_SIGNED_CERT_IN_CHAIN|UNABLE_TO_.+|ERR_TLS_CERT_ALTNAME_INVALID|HOSTNAME_MISMATCH)$/;
const handshakeMessage = /before secure TLS connection was established/;
/** What OpenSSL says about an answer that is not TLS at all. */
const plainMessage = /:wrong version number:/;

/** Node.js and n8n refuse these before a connection is opened. */
const refusedCodes =
	/^(ERR_INVALID_(HTTP_TOKEN|CHAR|URL|PROTOCOL)|ERR_UNESCAPED_CHARACTERS|ERR_BAD_OPTION.*)$/;
const policyNames = /^Ssrf.*Error$/;
const policyMessage = /^Domain not allowed|not allowed to be used with domains/;

const timeoutCodes = /^(ETIMEDOUT|ECONNABORTED|ESOCKETTIMEDOUT)$/;
const timeoutMessage = /^timeout of \d+ms exceeded/;

const isTimeout = ({ code, message }: Fact) =>
	timeoutCodes.test(code) || timeoutMessage.test(message);
/** Ended by our own signal, which stands for a timeout where nobody stopped the execution. */
const isGivenUp = (fact: Fact) => fact.code === 'ERR_CANCELED' || isTimeout(fact);
const isPlainAnswer = ({ code, message }: Fact) =>
	code === 'ERR_SSL_WRONG_VERSION_NUMBER' || plainMessage.test(message);

const noHandshake = 'the address ends the connection before it is secure';

/** These are of a connection that is there, whatever code comes with them. */
const transferCalls = /^(read|write)$/;

function notConnectedReason({ code, syscall, message, name }: Fact): string | undefined {
	if (syscall === 'connect')
		return connectReasons[code] ?? `the connection attempt ended (${code})`;
	if (transferCalls.test(syscall)) return undefined;
	if (code === 'ECONNREFUSED') return connectReasons[code];
	if (dnsCodes.test(code) || syscall === 'getaddrinfo') return 'its name is not known';
	if (certificateCodes.test(code)) return 'its certificate is not trusted';
	if (handshakeMessage.test(message)) return noHandshake;
	if (refusedCodes.test(code)) return 'the request is not one that can be sent';
	if (policyNames.test(name) || policyMessage.test(message)) {
		return 'this n8n does not allow requests to it';
	}
	return undefined;
}

/** Words for a request that its socket shows not to have left. */
function unsentReason(facts: readonly Fact[]): string | undefined {
	const stages = facts.map(({ stage }) => stage);
	if (stages.includes('connecting')) {
		return facts.some(isGivenUp) ? connectReasons['ETIMEDOUT'] : 'the connection attempt ended';
	}
	if (!stages.includes('securing')) return undefined;
	if (facts.some(isPlainAnswer)) {
		return 'the address does not speak https://, its port may be one for http://';
	}
	return facts.some(isGivenUp) ? 'the address does not make the connection secure' : noHandshake;
}

/**
 * Decides from an error that a request threw whether anything can have reached the service. Nothing
 * of the error itself goes on: it holds the request's headers.
 */
export function classifyTransportError(error: unknown): TransportFault {
	const facts = collectFacts(error);
	for (const fact of facts) {
		const reason = notConnectedReason(fact);
		if (reason !== undefined) return { kind: 'notConnected', reason };
	}
	const reason = unsentReason(facts);
	if (reason !== undefined) return { kind: 'notConnected', reason };
	if (facts.some(isPlainAnswer)) return { kind: 'plainAnswer' };
	return { kind: facts.some(isTimeout) ? 'timeout' : 'connectionLost' };
}
