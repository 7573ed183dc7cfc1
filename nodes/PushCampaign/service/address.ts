import { InvalidInput } from './invalidInput';

const EXAMPLE = 'https://push.example.com';
const LOOPBACK = /^(localhost|127(\.\d{1,3}){3}|\[::1\])$/i;

/**
 * Reads a URL; `undefined` if a text is none. Not by `URL.canParse`: after some thousand calls Node.js 20
 * denies every URL that holds a character such as `ü` (measured with 20.20.2).
 */
export function parseUrl(text: string, base?: string): URL | undefined {
	try {
		return new URL(text, base);
	} catch {
		return undefined;
	}
}

/** Whether a text is an http or https URL as it stands. */
export function isWebUrl(text: string): boolean {
	if (!/^https?:\/\/[^/?#]/i.test(text)) return false;
	// The URL parser mends what a browser can't open: spaces, line breaks, backslashes.
	if (/[\s\\]/.test(text) || invisibleIn(text) !== undefined) return false;
	return parseUrl(text) !== undefined;
}

/** Encodes U+200C and U+200D: nobody sees them, but a word or an emoji is another one without them. */
export const encodeJoiners = (text: string) => text.replace(/[\u200C\u200D]/g, encodeURIComponent);

/**
 * Names a character that nobody sees, such as `U+200B` for a zero-width space, which copying can add to an
 * address; `undefined` if there is none.
 */
export function invisibleIn(text: string): string | undefined {
	const code = /[\p{Cc}\p{Cf}]/u.exec(text)?.[0].codePointAt(0);
	if (code === undefined) return undefined;
	return `U+${code.toString(16).toUpperCase().padStart(4, '0')}`;
}

/**
 * Checks the address of the service, and takes the slashes from its end, so that paths can be appended.
 * Specification, Base address.
 * @param baseUrl as entered; may carry a path prefix and trailing slashes
 * @param allowHttp whether plain http is accepted for hosts that are not this machine
 * @throws InvalidInput naming the Base URL
 */
export function parseBaseUrl(baseUrl: unknown, allowHttp: boolean): string {
	const text = typeof baseUrl === 'string' ? baseUrl.trim() : '';
	if (text === '') {
		throw refuse(
			'is missing',
			`Enter the address that your push service gave you, e.g. ${EXAMPLE}.`,
		);
	}
	if (!isWebUrl(text)) throw refuse('is not a valid https:// address');
	if (/^https?:\/\/[^/?#]*@/i.test(text)) throw refuse('holds a user name or password');
	if (text.includes('?')) throw refuse('holds a query (the part from the question mark on)');
	if (text.includes('#')) throw refuse('holds a fragment (the part from the # on)');
	const url = new URL(text);
	if (url.protocol === 'http:' && !allowHttp && !LOOPBACK.test(url.hostname)) {
		throw refuse(
			'starts with http://, which would send the key and token unencrypted',
			"Enter the service's https:// address. Only if you trust the whole network in between, turn on Allow HTTP.",
		);
	}
	// Looks at each row of slashes once: without the lookbehind, 50,000 of them took 12 seconds.
	return `${url.origin}${url.pathname.replace(/(?<!\/)\/+$/, '')}`;
}

const refuse = (what: string, advice = `Enter the address alone, e.g. ${EXAMPLE}.`) =>
	new InvalidInput(`Base URL of the credential ${what}`, advice);
