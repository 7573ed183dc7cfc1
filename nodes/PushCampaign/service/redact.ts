import { ownWords } from './answers';

/** What stands in the place of a text that repeats a secret. */
export const withheld = '(withheld: this text repeats the API Key or the Auth Token)';

/** Shorter values occur in ordinary words, and hiding those would garble every answer. */
const shortestSecret = 6;

/** Escapes of addresses, of HTML and of strings, as far as they hide letters and digits. */
const escapes = /%[\da-f]{2}|&#x[\da-f]{2,9};?|&#\d{2,9};?|&amp;|\\u[\da-f]{4}|\\x[\da-f]{2}/gi;

function unescapeToken(token: string): string {
	const [code] = /[\da-f]{2,}/i.exec(token) ?? [];
	if (code === undefined) return '&';
	return String.fromCharCode(parseInt(code, /^&#\d/.test(token) ? 10 : 16));
}

/** A text as it is, and behind its escapes: those of three kinds, each twice. */
function readingsOf(text: string, depth = 6): string[] {
	const next = text.replace(escapes, unescapeToken);
	const isLast = next === text || depth === 0;
	return [text.toLowerCase(), ...(isLast ? [] : readingsOf(next, depth - 1))];
}

/** Letters and digits alone: whatever else there is may stand behind a backslash, or under a name in HTML. */
const bare = (reading: string) => reading.replace(/&[a-z]+;/g, '').replace(/[^a-z0-9]+/g, '');

/** A secret in hex, and what any base64 holds that holds the secret, at each of three places in a group. */
function codesOf(secret: string): string[] {
	const bytes = Buffer.from(secret);
	const base64 = [0, 1, 2].map((before) =>
		Buffer.concat([Buffer.alloc(before), bytes])
			.toString('base64')
			.slice(Math.ceil((before * 4) / 3), Math.floor(((before + bytes.length) * 4) / 3)),
	);
	return [...base64, bytes.toString('hex')];
}

/**
 * Makes a function that withholds every text of a JSON value that repeats one of the secrets: a service that
 * echoes its headers must not carry them into outputs and saved executions. They are found in upper and lower
 * case, in base64 and hex, and by their letters and digits behind escapes. What the interface itself says
 * (`status`, `success`) stays, and so does a number in which a secret of digits occurs.
 */
export function createRedactor(secrets: readonly string[]) {
	const hidden = secrets.filter((secret) => secret.length >= shortestSecret);
	const exactForms = hidden.map((secret) => secret.toLowerCase());
	const bareForms = hidden
		.flatMap((secret) => [...readingsOf(secret), ...codesOf(secret)])
		.map((form) => bare(form.toLowerCase()))
		.filter((form) => form.length >= shortestSecret);
	const repeats = (reading: string) => {
		if (exactForms.some((form) => reading.includes(form))) return true;
		const letters = bare(reading);
		return bareForms.some((form) => letters.includes(form));
	};
	function redactText(text: string): string {
		if (text.length < shortestSecret || ownWords.has(text)) return text;
		const isFound = /^\d+$/.test(text) ? hidden.includes(text) : readingsOf(text).some(repeats);
		return isFound ? withheld : text;
	}
	function redact(value: string | undefined): string | undefined;
	function redact(value: unknown): unknown;
	function redact(value: unknown): unknown {
		if (typeof value === 'string') return redactText(value);
		if (Array.isArray(value)) return value.map((each: unknown) => redact(each));
		if (typeof value !== 'object' || value === null) return value;
		return Object.fromEntries(
			Object.entries(value).map(([name, inner]) => [redactText(name), redact(inner)]),
		);
	}
	return redact;
}
