import { jsonParse, jsonStringify } from 'n8n-workflow';

/** No answer of the service is nested deeper; a deeper one would overflow the stack of what reads it. */
const deepestNesting = 64;

const longNumber = /\d{16}/;
// No strings as a whole: one of megabytes would exhaust the expression's stack.
const quoteOrNumber = /\\.|"|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/g;

/** Turns whole numbers that a JavaScript number can't hold into texts, so that no digit is lost. */
function quoteLongNumbers(json: string): string {
	let isInString = false;
	return json.replace(quoteOrNumber, (token) => {
		if (token === '"') isInString = !isInString;
		const isLong = !isInString && /^-?\d{16,}$/.test(token);
		return isLong && !Number.isSafeInteger(Number(token)) ? `"${token}"` : token;
	});
}

function isTooDeep(value: unknown, depth = 0): boolean {
	if (typeof value !== 'object' || value === null) return false;
	if (depth >= deepestNesting) return true;
	return Object.values(value).some((inner) => isTooDeep(inner, depth + 1));
}

/**
 * Reads an answer's body: JSON text, or what an HTTP helper has parsed already. Text that is not JSON
 * comes back as it is; JSON nested too deeply as `undefined`.
 */
export function parseJson(body: unknown): unknown {
	let value = body;
	if (typeof body === 'string') {
		const text = body.replace(/^\uFEFF/, '');
		const json = longNumber.test(text) ? quoteLongNumbers(text) : text;
		value = jsonParse<unknown>(json, { fallbackValue: body });
	}
	return isTooDeep(value) ? undefined : value;
}

/** The JSON text of any value, also of one that holds itself. */
export function toJson(value: unknown): string {
	try {
		return JSON.stringify(value) ?? '';
	} catch {
		// n8n's own way is slower, and leaves out names such as `constructor`.
		return jsonStringify(value, { replaceCircularRefs: true });
	}
}
