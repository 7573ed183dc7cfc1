import { createHash } from 'crypto';

import { jsonStringify } from 'n8n-workflow';

function toText(value: unknown): string {
	try {
		return JSON.stringify(value);
	} catch {
		// It holds itself. n8n's own way is slower, and leaves out names such as `constructor`.
		return jsonStringify(value, { replaceCircularRefs: true });
	}
}

/**
 * A short digest of any JSON value; what holds itself, or a BigInt, has one too. 96 bits are kept, so that two
 * sends never look alike.
 */
export function digest(value: unknown): string {
	return createHash('sha256').update(toText(value)).digest('base64url').slice(0, 16);
}
