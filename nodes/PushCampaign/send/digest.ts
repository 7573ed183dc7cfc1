import { createHash } from 'crypto';

import { jsonStringify } from 'n8n-workflow';

/**
 * A short digest of any JSON value; what holds itself, or a BigInt, has one too. 96 bits are kept, so that two
 * sends never look alike.
 */
export function digest(value: unknown): string {
	const text = jsonStringify(value, { replaceCircularRefs: true });
	return createHash('sha256').update(text).digest('base64url').slice(0, 16);
}
