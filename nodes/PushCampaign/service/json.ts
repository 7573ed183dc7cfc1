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

/** The names in valid JSON, each as often as it is written: of two that are alike `JSON.parse` keeps the last. */
export const namesIn = (json: string): string[] =>
	Array.from(json.matchAll(/("[^"\\]*(?:\\.[^"\\]*)*")(\s*:)?/g))
		.filter(([, , colon]) => colon !== undefined)
		.map(([, name = '']) => String(JSON.parse(name)));

/**
 * Reads an answer's body; undefined if it is not JSON.
 * @param redact what becomes of each field
 */
export function parseBody(
	body: unknown,
	redact: (name: string, value: unknown) => unknown,
): unknown {
	const text = typeof body === 'string' ? body : (JSON.stringify(body) ?? '');
	try {
		return JSON.parse(quoteLongNumbers(text), redact);
	} catch {
		return undefined;
	}
}
