/**
 * Whether a text is a URL as it stands.
 * @param pattern how it has to begin, with a character of the host at least
 */
export function isUrl(text: string, pattern: RegExp): boolean {
	// The URL parser mends what a browser can't open: spaces, line breaks, backslashes, missing slashes.
	return pattern.test(text) && !/[\s\\]/.test(text) && URL.canParse(text);
}
