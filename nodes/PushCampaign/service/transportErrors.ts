import { z } from 'zod/v3';

/**
 * What a request that threw tells for certain:
 * - `notConnected`: nothing left, `reason` completes "No connection could be made: …"
 * - `timeout`, `connectionLost`: the request may have arrived
 */
export type TransportFault =
	| { readonly kind: 'notConnected'; readonly reason: string }
	| { readonly kind: 'timeout' }
	| { readonly kind: 'connectionLost' };

const errorFacts = z.object({
	code: z.unknown(),
	syscall: z.unknown(),
	message: z.unknown(),
	name: z.unknown(),
	cause: z.unknown(),
	errors: z.unknown(),
	httpCode: z.unknown(),
	messages: z.unknown(),
});

interface Fact {
	readonly code: string;
	readonly syscall: string;
	readonly message: string;
	readonly name: string;
}

const deepestCause = 6;
const mostInnerErrors = 8;

/** How Node.js begins the message of a connection that was not made. */
const attemptMessage = /^(connect|getaddrinfo) ([A-Z_]+)\b/;

/** n8n 1 loses the cause of the error that it throws, and keeps the messages of its causes. */
function factOfMessage(message: unknown): Fact[] {
	if (typeof message !== 'string') return [];
	const [, syscall = '', code = ''] = attemptMessage.exec(message) ?? [];
	return [{ code, syscall, message, name: '' }];
}

const firstOf = (list: unknown): unknown[] =>
	Array.isArray(list) ? list.slice(0, mostInnerErrors) : [];

/** The error, what caused it, and the attempts per address that Node.js bundles into one error. */
function collectFacts(error: unknown, depth = 0): Fact[] {
	if (depth > deepestCause) return [];
	const { data } = errorFacts.safeParse(error);
	if (data === undefined) return [];
	const text = (value: unknown) => (typeof value === 'string' ? value : '');
	const fact = {
		// n8n 1 keeps the code of the cause under this name alone.
		code: text(data.code) || text(data.httpCode),
		syscall: text(data.syscall),
		message: text(data.message),
		name: text(data.name),
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

/** Certificates and handshakes: the request leaves only after them. */
const tlsCodes =
	/^(EPROTO|CERT_.+|DEPTH_ZERO_SELF_SIGNED_CERT|SELF_SIGNED_CERT_IN_CHAIN|UNABLE_TO_.+|ERR_TLS_CERT_ALTNAME_INVALID|ERR_SSL_WRONG_VERSION_NUMBER|ERR_SSL_UNSUPPORTED_PROTOCOL|ERR_SSL_PACKET_LENGTH_TOO_LONG|ERR_SSL_.*(HANDSHAKE|ALERT_PROTOCOL_VERSION).*|HOSTNAME_MISMATCH)$/;
const tlsMessage = /before secure TLS connection was established/;

/** Node.js and n8n refuse these before a connection is opened. */
const refusedCodes =
	/^(ERR_INVALID_(HTTP_TOKEN|CHAR|URL|PROTOCOL)|ERR_UNESCAPED_CHARACTERS|ERR_BAD_OPTION.*)$/;
const policyNames = /^Ssrf.*Error$/;
const policyMessage = /^Domain not allowed|not allowed to be used with domains/;

const timeoutCodes = /^(ETIMEDOUT|ECONNABORTED|ESOCKETTIMEDOUT)$/;
const timeoutMessage = /^timeout of \d+ms exceeded/;

function notConnectedReason({ code, syscall, message, name }: Fact): string | undefined {
	if (syscall === 'connect')
		return connectReasons[code] ?? `the connection attempt ended (${code})`;
	if (code === 'ECONNREFUSED') return connectReasons[code];
	if (dnsCodes.test(code) || syscall === 'getaddrinfo') return 'its name is not known';
	if (tlsCodes.test(code) || tlsMessage.test(message)) {
		return 'its certificate or encryption is not trusted';
	}
	if (refusedCodes.test(code)) return 'the request is not one that can be sent';
	if (policyNames.test(name) || policyMessage.test(message)) {
		return 'this n8n does not allow requests to it';
	}
	return undefined;
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
	const isTimeout = facts.some(
		({ code, message }) => timeoutCodes.test(code) || timeoutMessage.test(message),
	);
	return { kind: isTimeout ? 'timeout' : 'connectionLost' };
}
