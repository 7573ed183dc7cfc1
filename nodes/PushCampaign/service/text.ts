/** Blanks of all kinds at the ends of a text. Each run at the end is tried once: behind a blank none begins. */
const outerBlanks =
	/^[\s\p{Cc}\u200B\u2060]+|(?<![\s\p{Cc}\u200B\u2060])[\s\p{Cc}\u200B\u2060]+$/gu;

/** A text without the blanks around it, also those that nobody sees and that `trim` keeps. */
export const trimBlanks = (text: string): string => text.replace(outerBlanks, '');

const maxClipped = 300;

/** Shortens a text from outside so that it fits into a message: one line of at most 300 characters. */
export function clip(text: string): string {
	const line = text.replace(/\s+/g, ' ').trim();
	if (line.length <= maxClipped) return line;
	// Half of a surrogate pair is no character.
	return `${line.slice(0, maxClipped - 1).replace(/[\uD800-\uDBFF]$/, '')}…`;
}

/** A refused value as messages show it: text in quotes, an array or an object as JSON. */
export function quote(value: unknown): string {
	if (typeof value === 'string') return `"${clip(value)}"`;
	try {
		const text = String(value);
		const hasNoWords = Array.isArray(value) || text.startsWith('[object ');
		return clip(hasNoWords ? JSON.stringify(value) : text);
	} catch {
		return `a value of type ${typeof value}`;
	}
}

/** Begins a sentence with a text. */
export const capitalize = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);

/** Counts characters as the service's limits do: Unicode code points. */
export const countCharacters = (text: string): number => Array.from(text).length;

/**
 * Reads a URL; undefined if the text is none. Not by `URL.canParse`: after some thousand calls Node.js 20.20.2
 * denies every URL that holds a character such as `ü`.
 */
export function parseUrl(text: string, base?: string): URL | undefined {
	try {
		return new URL(text, base);
	} catch {
		return undefined;
	}
}

/** The first character that nobody sees. Those that join characters are letters of Persian, and parts of emoji. */
export const hiddenIn = (text: string): string | undefined =>
	/(?![\u200C\u200D])[\p{Cc}\p{Cf}]/u.exec(text)?.[0];

/** Whether a text is an http or https URL as it stands: the URL parser drops blanks and invisible characters. */
export function isWebUrl(text: string): boolean {
	if (!/^https?:\/\/[^/?#]/i.test(text)) return false;
	if (/[\s\\\p{Cs}]/u.test(text) || hiddenIn(text) !== undefined) return false;
	return parseUrl(text) !== undefined;
}
