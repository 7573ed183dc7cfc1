import { campaignCounters, siteCounters } from './rules';

const withheld = '(withheld)';

/** A shorter secret is replaced as a whole word alone: it occurs within other words and numbers. */
const minPartLength = 6;
const isNoWord = { before: '(?<![\\p{L}\\p{N}_])', after: '(?![\\p{L}\\p{N}_])' };

/** Specification: the fields with an ID or a number, which may have the digits of a token by chance. */
const numberFields = new Set([
	...['ID', 'notification_id'],
	...[...campaignCounters, ...siteCounters].map(({ serviceName }) => serviceName),
]);

const isWholeNumber = (value: unknown) => /^\d+$/.test(String(value).trim());

/** A secret as a pattern, as it is and as JSON writes it. */
function patternsOf(secret: string): string[] {
	const escaped = JSON.stringify(secret).slice(1, -1);
	return [...new Set([secret, escaped, escaped.replaceAll('/', '\\/')])].map((form) => {
		const literal = form.replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&');
		return secret.length < minPartLength ? isNoWord.before + literal + isNoWord.after : literal;
	});
}

/**
 * Replaces the key and the token in what the service says.
 * @param secrets none of them empty
 */
export function createRedactor(secrets: readonly string[]) {
	// One secret may hold the other: the longer one comes first.
	const byLength = [...secrets].sort((one, other) => other.length - one.length);
	const pattern = new RegExp(byLength.flatMap(patternsOf).join('|'), 'gu');
	const text = (given: string) => given.replace(pattern, withheld);
	return {
		text,
		/** For each field of a JSON text; see `JSON.parse`. */
		field(name: string, value: unknown): unknown {
			if (numberFields.has(name) && isWholeNumber(value)) return value;
			if (typeof value === 'string') return text(value);
			if (typeof value === 'number') return text(String(value)) === withheld ? withheld : value;
			if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
			return Object.fromEntries(Object.entries(value).map(([key, each]) => [text(key), each]));
		},
	};
}
