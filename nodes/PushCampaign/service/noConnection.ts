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

/**
 * Codes of Node.js, `tls`. It checks the certificate at the end of the handshake, before it writes the request. Other
 * codes of TLS (`EPROTO`, `ERR_SSL_…`) come later, too.
 */
const ofCertificate = /^(CERT|DEPTH_ZERO|ERR_TLS_CERT|INVALID|SELF_SIGNED|UNABLE_TO)_/;

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
	// Node.js, `dns`: there is no such host, or DNS did not answer.
	if (code === 'ENOTFOUND') {
		return { reason: 'host not found', fix: checkBaseUrl, cause: 'configuration-invalid' };
	}
	if (code.startsWith('EAI_')) return { reason: 'host not found' };
	if (error.syscall === 'connect') return { reason: 'the address cannot be reached' };
	if (ofCertificate.test(code)) {
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
