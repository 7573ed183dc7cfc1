import { createHash } from 'crypto';

/**
 * A short digest of any JSON value: 96 bits, so that two sends never look alike.
 * @throws TypeError for what is no JSON: what holds itself, or a BigInt
 */
export const digest = (value: unknown): string =>
	createHash('sha256').update(JSON.stringify(value)).digest('base64url').slice(0, 16);
