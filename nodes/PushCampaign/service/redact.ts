const MASK = '***';
/** Shorter values occur in ordinary words, and hiding those would garble every answer. */
const shortestSecret = 6;

function spellings(secret: string): string[] {
	const base64 = btoa(
		Array.from(new TextEncoder().encode(secret), (byte) => String.fromCharCode(byte)).join(''),
	);
	const unpadded = base64.replace(/=+$/, '');
	const base64url = unpadded.replace(/\+/g, '-').replace(/\//g, '_');
	return [secret, encodeURIComponent(secret), base64, unpadded, base64url];
}

/**
 * Makes a function that hides the given secrets, plain, percent-encoded or in base64, in every text of
 * a JSON value: a service that echoes its headers must not carry them into outputs and saved executions.
 */
export function createRedactor(secrets: readonly string[]): (value: unknown) => unknown {
	const hidden = [
		...new Set(secrets.filter((secret) => secret.length >= shortestSecret).flatMap(spellings)),
	].sort((one, other) => other.length - one.length);
	const redactText = (text: string) =>
		hidden.some((secret) => text.includes(secret))
			? hidden.reduce((result, secret) => result.split(secret).join(MASK), text)
			: text;
	const redact = (value: unknown): unknown => {
		if (typeof value === 'string') return redactText(value);
		if (Array.isArray(value)) return value.map(redact);
		if (typeof value === 'object' && value !== null) {
			return Object.fromEntries(
				Object.entries(value).map(([name, inner]) => [redactText(name), redact(inner)]),
			);
		}
		return value;
	};
	return redact;
}
