import { ownWords } from './answers';

/** What stands in the place of a text that repeats a secret. */
export const withheld = '(withheld: this text repeats the API Key or the Auth Token)';

/** Shorter values occur in ordinary words: to hide those would garble every answer. */
const shortestSecret = 6;

/** Escapes of addresses, of HTML and of JSON, as far as they hide letters and digits. */
const escapes = /%([\da-f]{2})|&#x([\da-f]{2,6});|&#(\d{2,7});|\\u([\da-f]{4})/gi;

const unescape = (text: string) =>
	text.replace(escapes, (_, percent?: string, hex?: string, decimal?: string, unit?: string) =>
		String.fromCharCode(
			decimal === undefined ? parseInt(percent ?? hex ?? unit ?? '', 16) : Number(decimal),
		),
	);

/** A text as it is, and with its escapes undone once and twice. */
function readingsOf(text: string): string[] {
	const once = unescape(text.replaceAll('&amp;', '&'));
	return [text, once, unescape(once.replaceAll('&amp;', '&'))];
}

/** Letters and digits alone: any other character may stand behind a backslash, or as a named entity of HTML. */
const bare = (text: string) =>
	text
		.toLowerCase()
		.replace(/&[a-z]+;/g, '')
		.replace(/[^a-z0-9]+/g, '');

/** Hides the secrets in what comes from outside. */
export interface Redactor {
	/** Gives a text back, or `withheld` in its place if it repeats a secret. */
	text(text: string): string;
	/** Gives a JSON value back, with each text, name and number in it that repeats a secret withheld. */
	json(value: unknown): unknown;
}

/**
 * Makes a redactor: a service that echoes its headers must not carry them into outputs and saved executions. It
 * finds secrets in upper and lower case, and by their letters and digits behind escapes. What the interface itself
 * says (`status`, `success`) stays, and so does a longer number that contains a secret.
 */
export function createRedactor(secrets: readonly string[]): Redactor {
	const hidden = secrets.filter((secret) => secret.length >= shortestSecret);
	const exactForms = hidden.map((secret) => secret.toLowerCase());
	const bareForms = hidden.map(bare).filter((form) => form.length >= shortestSecret);

	const repeatsSecret = (reading: string) => {
		const [exact, letters] = [reading.toLowerCase(), bare(reading)];
		return (
			exactForms.some((form) => exact.includes(form)) ||
			bareForms.some((form) => letters.includes(form))
		);
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
