/** A JSON object as it came: own keys, values of any kind. */
export type JsonObject = Record<string, unknown>;

/** Whether a parsed JSON value is an object (and neither an array nor null). */
export function isJsonObject(value: unknown): value is JsonObject {
	return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Parses JSON text; undefined where it is none. */
export function parseJson(text: string): unknown {
	try {
		const value: unknown = JSON.parse(text);
		return value;
	} catch {
		return undefined;
	}
}

/** Whether a text is longer than `limit` characters, counted as Unicode code points. */
export function isLongerThan(text: string, limit: number): boolean {
	// No text has more code points than code units, so most need no counting.
	return text.length > limit && [...text].length > limit;
}
