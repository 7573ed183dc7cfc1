import { isOwnWord } from './answers';

/** What stands in the place of a text that repeats a secret. */
export const withheld = '(withheld: this text repeats the API Key or the Auth Token)';

/** Shorter values occur in ordinary words, and hiding those would garble every answer. */
const shortestSecret = 6;

/** Escapes of addresses, of HTML and of strings, as far as they hide letters and digits. */
const escapes =
	/(?:%[\da-f]{2})+|&#(?:x([\da-f]{1,9})|(\d{1,9}));?|&(amp|lt|gt|quot|apos);|\\(?:u([\da-f]{4})|x([\da-f]{2}))/gi;

const entities = new Map(Object.entries({ amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" }));

function unescape(text: string): string {
	return text.replace(
		escapes,
		(
			token: string,
			hex?: string,
			decimal?: string,
			name?: string,
			unit?: string,
			byte?: string,
		) => {
			if (name) return entities.get(name) ?? '';
			if (!token.startsWith('%')) {
				return String.fromCharCode(
					decimal ? Number(decimal) : parseInt(hex ?? unit ?? byte ?? '', 16),
				);
			}
			try {
				return decodeURIComponent(token);
			} catch {
				return token.replace(/%(..)/g, (_code, each: string) =>
					String.fromCharCode(parseInt(each, 16)),
				);
			}
		},
	);
}

/** A text as it is and behind each of its escapes: those of three kinds, each twice. */
function readingsOf(text: string): string[] {
	const readings = [text.toLowerCase()];
	for (let before = text, depth = 0; depth < 6; depth++) {
		const next = unescape(before);
		if (next === before) break;
		readings.push(next.toLowerCase());
		before = next;
	}
	return readings;
}

/** Letters and digits alone: whatever else there is may stand behind a backslash, or under a name in HTML. */
const bare = (reading: string) => reading.replace(/&[a-z]+;/g, '').replace(/[^a-z0-9]+/g, '');

/** A secret in hex, and what any base64 holds that holds the secret, at each of three places in a group. */
function codesOf(secret: string): string[] {
	const bytes = Array.from(new TextEncoder().encode(secret));
	const base64 = [[], [0], [0, 0]].map((before) =>
		btoa(String.fromCharCode(...before, ...bytes)).slice(
			Math.ceil((before.length * 4) / 3),
			Math.floor(((before.length + bytes.length) * 4) / 3),
		),
	);
	return [...base64, bytes.map((byte) => byte.toString(16).padStart(2, '0')).join('')];
}

/**
 * Makes a function that withholds every text of a JSON value that repeats one of the secrets: a service that
 * echoes its headers must not carry them into outputs and saved executions. They are found in upper and lower
 * case, in base64 and hex, and behind escapes. What the interface itself says (`status`, `success`) stays, and
 * so does a number in which a secret of digits occurs.
 */
export function createRedactor(secrets: readonly string[]): (value: unknown) => unknown {
	const hidden = secrets.filter((secret) => secret.length >= shortestSecret);
	const exactForms = hidden.flatMap(readingsOf);
	const bareForms = [...exactForms, ...hidden.flatMap(codesOf)]
		.map((form) => bare(form.toLowerCase()))
		.filter((form) => form.length >= shortestSecret);
	const repeats = (reading: string) => {
		const letters = bare(reading);
		return (
			exactForms.some((form) => reading.includes(form)) ||
			bareForms.some((form) => letters.includes(form))
		);
	};
	const redactText = (text: string) => {
		if (text.length < shortestSecret || isOwnWord(text)) return text;
		const isFound = /^\d+$/.test(text) ? hidden.includes(text) : readingsOf(text).some(repeats);
		return isFound ? withheld : text;
	};
	const redact = (value: unknown): unknown => {
		if (typeof value === 'string') return redactText(value);
		if (Array.isArray(value)) return value.map(redact);
		if (typeof value !== 'object' || value === null) return value;
		return Object.fromEntries(
			Object.entries(value).map(([name, inner]) => [redactText(name), redact(inner)]),
		);
	};
	return hidden.length === 0 ? (value) => value : redact;
}
