import { Duration } from 'luxon';

const longestQuote = 300;

/** Cuts a text from outside that is longer than anyone reads. */
export function truncate(text: string): string {
	if (text.length <= longestQuote) return text;
	// Half of a surrogate pair is no character.
	return `${text.slice(0, longestQuote).replace(/[\uD800-\uDBFF]$/, '')}…`;
}

/** Shortens text from outside so that it fits into a message, on one line. */
export const clip = (text: string) => truncate(text.replace(/\s+/g, ' ').trim());

/** Names a refused value in a message: text in quotes, anything else in the form that an expression has it. Throws nothing. */
export function quote(value: unknown): string {
	if (typeof value === 'string') return `"${clip(value)}"`;
	try {
		const text = String(value);
		// Arrays, and objects that have no words for themselves.
		const isUnclear = Array.isArray(value) || text.startsWith('[object ');
		return clip(isUnclear ? JSON.stringify(value) : text);
	} catch {
		return `a value of type ${typeof value}`;
	}
}

export const capitalize = (text: string) => text.charAt(0).toUpperCase() + text.slice(1);

/** A time that someone is to wait, in whole seconds, never shorter than it is: `1 hour, 30 minutes`. */
export function describeWait(milliseconds: number): string {
	const seconds = Math.ceil(milliseconds / 1000);
	return Duration.fromObject({ seconds }, { locale: 'en-US' }).rescale().toHuman();
}

/** Characters as the limits count them: code points, of which a flag or a family has several. Specification, Limits. */
export const countCharacters = (text: string) => Array.from(text).length;
