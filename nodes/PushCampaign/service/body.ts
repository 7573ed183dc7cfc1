const withheld = '(withheld)';

/** Shorter values occur in ordinary words. */
const minSecretLength = 6;

/** Replaces the key and the token in a text of the service, also as JSON writes them. */
export function createRedactor(secrets: readonly string[]): (text: string) => string {
	const forms = secrets
		.filter((secret) => secret.length >= minSecretLength)
		.flatMap((secret) => {
			const escaped = JSON.stringify(secret).slice(1, -1);
			return [secret, escaped, escaped.replaceAll('/', '\\/')];
		})
		// One secret may hold the other.
		.sort((one, other) => other.length - one.length);
	return (text) => forms.reduce((redacted, form) => redacted.replaceAll(form, withheld), text);
}

// Not a whole text at a time: one of megabytes exhausts the stack of the regular expression.
const quoteOrNumber = /\\.|"|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/g;

/** Makes texts of the whole numbers that a JavaScript number can't hold, so that no digit is lost. */
function quoteLongNumbers(json: string): string {
	if (!/\d{16}/.test(json)) return json;
	let isInText = false;
	return json.replace(quoteOrNumber, (token) => {
		if (token === '"') isInText = !isInText;
		const isWhole = !isInText && /^-?\d+$/.test(token);
		return isWhole && !Number.isSafeInteger(Number(token)) ? `"${token}"` : token;
	});
}

/** Reads an answer's body; undefined if it is not JSON. */
export function parseBody(body: unknown, redact: (text: string) => string): unknown {
	const text = typeof body === 'string' ? body : (JSON.stringify(body) ?? '');
	try {
		return JSON.parse(quoteLongNumbers(redact(text)));
	} catch {
		return undefined;
	}
}
