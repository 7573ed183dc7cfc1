/** Runs of some characters at the ends of a text. Each one at the end is tried once: behind such a character none begins. */
const outer = (characters: string) =>
	new RegExp(`^[${characters}]+|(?<![${characters}])[${characters}]+$`, 'gu');

const outerBlanks = outer('\\s\\p{Cc}\\u200B\\u2060');

/** A text without the blanks around it, also those that nobody sees and that `trim` keeps. */
export const trimBlanks = (text: string): string => text.replace(outerBlanks, '');

/**
 * What nobody sees and people copy along, such as marks of direction and soft hyphens. Not the joiners: they are letters
 * of Persian, and parts of emoji, as tags are.
 */
const hidden =
	'\\p{Cc}\\u00AD\\u061C\\u115F\\u1160\\u180E\\u200B\\u200E\\u200F\\u202A-\\u202E\\u2060-\\u206F\\u2800\\u3164\\uFEFF\\uFFA0\\uFFF9-\\uFFFB';
const outerHidden = outer(`\\s${hidden}`);
const firstHidden = new RegExp(`(?![\\t-\\r])[${hidden}\\p{Surrogate}]`, 'u');

/** A text that is compared or followed, such as an ID or an address, without what nobody sees around it. */
export const trimHidden = (text: string): string => text.replace(outerHidden, '');

/** The first character that nobody sees, but for blanks; or half of one, such as of an emoji that was cut. */
export const hiddenIn = (text: string): string | undefined => firstHidden.exec(text)?.[0];

/** What nobody sees: blanks of all kinds, control characters, and characters that are made to be invisible. */
const invisible = /^[\s\p{Cc}\p{Cf}\p{Default_Ignorable_Code_Point}\u2800]*$/u;

/** Whether nothing of a text is visible. */
export const isBlankText = (text: string): boolean => invisible.test(text);

const maxClipped = 300;

/** Shortens a text from outside so that it fits into a message: one line of at most 300 characters. */
export function clip(text: string): string {
	const line = text.replace(/\s+/g, ' ').trim();
	if (line.length <= maxClipped) return line;
	return `${line.slice(0, maxClipped - 1).replace(/\p{Surrogate}/gu, '')}…`;
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

/** Whether the host of an address is another address: `https://https://shop.example`. */
const isDoubled = (text: string): boolean =>
	/^https?:\/\/(?:[^/?#]*https?:\/|https?\/\/|([^/?#]+)\/+https?:\/\/\1(?![^/?#]))/i.test(text);

/** What the URL parser makes of a host that can be one: names with single dots between them, in letters of ASCII; or `[::1]`. */
const host = /^(?:[\w-]{1,63}\.)*[\w-]{1,63}\.?$|^\[/;
/** With the dot that may stand at its end. */
const longestHost = 254;

/** Whether a text is an http or https URL as it stands: the URL parser drops blanks and invisible characters. */
export function isWebUrl(text: string): boolean {
	if (!/^https?:\/\/[^/?#]/i.test(text) || isDoubled(text)) return false;
	if (/[\s\\]/.test(text) || hiddenIn(text) !== undefined) return false;
	const { hostname } = parseUrl(text) ?? {};
	return hostname !== undefined && hostname.length <= longestHost && host.test(hostname);
}
