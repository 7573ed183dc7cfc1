import { z } from 'zod';

import type { FailureCause } from './failureWords';
import { checkBaseUrl } from './failureWords';

/** Why no connection was made. A request leaves after that, so certainly nothing was sent. */
export interface NoConnection {
	/** Follows "Could not connect to push.example:". */
	readonly reason: string;
	/** What to mend, if that is known: sentences. */
	readonly fix?: string;
	/** If it does not pass by itself. */
	readonly cause?: FailureCause;
}

/** Of Node.js, `dns`. With the first one DNS says that there is no such host, with the others it may not have answered. */
const unknownHost = 'ENOTFOUND';
const dnsCodes = new Set(['EAI_AGAIN', 'EAI_FAIL', 'EAI_NODATA', 'EAI_NONAME']);

/**
 * Of Node.js, `tls`. It checks the certificate at the end of the handshake, before it writes the request. Other codes
 * of TLS (`EPROTO`, `ERR_SSL_…`) come later, too.
 */
const certificateCodes = new Set(
	`CERT_CHAIN_TOO_LONG CERT_HAS_EXPIRED CERT_NOT_YET_VALID CERT_REJECTED CERT_REVOKED CERT_SIGNATURE_FAILURE
	CERT_UNTRUSTED DEPTH_ZERO_SELF_SIGNED_CERT ERR_TLS_CERT_ALTNAME_INVALID HOSTNAME_MISMATCH INVALID_CA
	INVALID_PURPOSE SELF_SIGNED_CERT_IN_CHAIN UNABLE_TO_GET_ISSUER_CERT UNABLE_TO_GET_ISSUER_CERT_LOCALLY
	UNABLE_TO_VERIFY_LEAF_SIGNATURE`.split(/\s+/),
);

/** Names of n8n's errors (2.41.1: `@n8n/backend-network`, `ssrf/`), which have no code. */
const blockedNames = new Set(['SsrfBlockedHostnameError', 'SsrfBlockedIpError']);

const text = z.string().catch('');
const thrown = z.object({
	code: text,
	/** n8n 1 keeps the code here alone. */
	httpCode: text,
	name: text,
	syscall: text,
	cause: z.unknown().optional(),
	/** The attempts per address that Node.js bundles into one error. */
	errors: z.array(z.unknown()).catch([]),
});
type Thrown = z.infer<typeof thrown>;

/** Causes can form a circle. */
const maxDepth = 6;

/** An error, and what caused it. */
function causesOf(error: unknown, depth = 0): Thrown[] {
	const { data } = thrown.safeParse(error);
	if (data === undefined || depth === maxDepth) return [];
	const inner = [data.cause, ...data.errors];
	return [data, ...inner.flatMap((each) => causesOf(each, depth + 1))];
}

const trustIt =
	"If the certificate is your company's own, name its authority in NODE_EXTRA_CA_CERTS in n8n's environment.";
const allowIt = 'Ask the administrator of this n8n to allow requests to it.';

function toNoConnection(error: Thrown): NoConnection | undefined {
	const code = error.code || error.httpCode;
	if (code === 'ECONNREFUSED') return { reason: 'connection refused' };
	if (code === unknownHost) {
		return { reason: 'host not found', fix: checkBaseUrl, cause: 'configuration-invalid' };
	}
	if (dnsCodes.has(code)) return { reason: 'host not found' };
	if (error.syscall === 'connect') return { reason: 'the address cannot be reached' };
	if (certificateCodes.has(code)) {
		return { reason: `its certificate was not accepted (${code})`, fix: trustIt };
	}
	if (blockedNames.has(error.name)) {
		return { reason: 'this n8n does not allow requests to it', fix: allowIt };
	}
	return undefined;
}

/**
 * Says why no connection was made, if an error shows that; after any other error the request may have arrived.
 * Nothing else of the error is passed on, because it holds the request's headers.
 */
export function readNoConnection(error: unknown): NoConnection | undefined {
	return causesOf(error)
		.map(toNoConnection)
		.find((each) => each !== undefined);
}
