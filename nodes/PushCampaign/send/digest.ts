import { createHash } from 'crypto';

/** Characters of a digest that are kept: 96 bits, so that two sends never look alike. */
export const digestLength = 16;

/** A short digest of any JSON value; what holds itself, or a BigInt, has one too. */
export function digest(value: unknown): string {
	return createHash('sha256').update(toText(value)).digest('base64url').slice(0, digestLength);
}

function toText(value: unknown): string {
	try {
		return JSON.stringify(value);
	} catch {
		const seen = new WeakSet();
		return JSON.stringify(value, (_name, inner: unknown) => {
			if (typeof inner === 'bigint') return String(inner);
			if (typeof inner !== 'object' || inner === null) return inner;
			if (seen.has(inner)) return 'seen before';
			seen.add(inner);
			return inner;
		});
	}
}
