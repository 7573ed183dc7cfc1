import { createHash } from 'crypto';

import { toJson } from '../service/json';

/**
 * A short digest of any JSON value; what holds itself, or a BigInt, has one too. 96 bits are kept, so that two
 * sends never look alike.
 */
export function digest(value: unknown): string {
	return createHash('sha256').update(toJson(value)).digest('base64url').slice(0, 16);
}
