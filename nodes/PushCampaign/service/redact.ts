import { ownWords } from './answers';

/** What stands in the place of a text that repeats a secret. */
export const withheld = '(withheld: this text repeats the API Key or the Auth Token)';

/** Shorter values occur in ordinary words: to hide those would garble every answer. */
const shortestSecret = 6;

/** Escapes of addresses, of HTML and of strings, as far as they hide letters and digits. */
const escapes = /%[\da-f]{2}|&#x[\da-f]{2,9};?|&#\d{2,9};?|&amp;|\\u[\da-f]{4}|\\x[\da-f]{2}/gi;

function unescapeToken(token: string): string {
	const [code] = /[\da-f]{2,}/i.exec(token) ?? [];
	if (code === undefined) return '&';
	return String.fromCharCode(parseInt(code, /^&#\d/.test(token) ? 10 : 16));
}

/** A text as it is, and with its escapes undone, once for each of up to six layers of them. */
function readingsOf(text: string, depth = 6): string[] {
	const next = text.replace(escapes, unescapeToken);
	const isLast = next === text || depth === 0;
	return [text.toLowerCase(), ...(isLast ? [] : readingsOf(next, depth - 1))];
}

/** Letters and digits alone: any other character may stand behind a backslash, or as a named entity of HTML. */
const bare = (reading: string) => reading.replace(/&[a-z]+;/g, '').replace(/[^a-z0-9]+/g, '');

/** A secret in hex, and the part of it that is the same in every base64, at each of three offsets in a group. */
function codesOf(secret: string): string[] {
	const bytes = Buffer.from(secret);
	const base64 = [0, 1, 2].map((before) =>
		Buffer.concat([Buffer.alloc(before), bytes])
			.toString('base64')
			.slice(Math.ceil((before * 4) / 3), Math.floor(((before + bytes.length) * 4) / 3)),
	);
	return [...base64, bytes.toString('hex')];
}

/** Hides the secrets in what comes from outside. */
export interface Redactor {
	/** Gives a text back, or `withheld` in its place if it repeats a secret. */
	text(text: string): string;
	/** Gives a JSON value back, with each text, name and number in it that repeats a secret withheld. */
	json(value: unknown): unknown;
}

/**
 * Makes a redactor: a service that echoes its headers must not carry them into outputs and saved executions. It
 * finds secrets in upper and lower case, in base64 and hex, and by their letters and digits behind escapes. What
 * the interface itself says (`status`, `success`) stays, and so does a longer number that contains a secret.
 */
export function createRedactor(secrets: readonly string[]): Redactor {
	const hidden = secrets.filter((secret) => secret.length >= shortestSecret);
	const exactForms = hidden.map((secret) => secret.toLowerCase());
	const bareForms = hidden
		.flatMap((secret) => [...readingsOf(secret), ...codesOf(secret)])
		.map((form) => bare(form.toLowerCase()))
		.filter((form) => form.length >= shortestSecret);

	const repeatsSecret = (reading: string) => {
		if (exactForms.some((form) => reading.includes(form))) return true;
		const letters = bare(reading);
		return bareForms.some((form) => letters.includes(form));
	};
	function isWithheld(text: string): boolean {
		if (text.length < shortestSecret || ownWords.has(text)) return false;
		// IDs and counters: a key of digits may occur in one by chance.
		if (/^\d+$/.test(text)) return hidden.includes(text);
		return readingsOf(text).some(repeatsSecret);
	}
	const redactText = (text: string) => (isWithheld(text) ? withheld : text);

	function redactJson(value: unknown): unknown {
		if (typeof value === 'string') return redactText(value);
		if (typeof value === 'number') return isWithheld(String(value)) ? withheld : value;
		if (Array.isArray(value)) return value.map(redactJson);
		if (typeof value !== 'object' || value === null) return value;
		return Object.fromEntries(
			Object.entries(value).map(([name, inner]) => [redactText(name), redactJson(inner)]),
		);
	}
	return { text: redactText, json: redactJson };
}
