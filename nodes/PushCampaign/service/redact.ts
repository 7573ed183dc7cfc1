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
