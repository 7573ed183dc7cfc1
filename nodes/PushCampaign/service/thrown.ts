/** What the user entered can't be sent, and nothing has left. */
export class InvalidInput extends Error {
	/**
	 * @param message what is wrong: a sentence without its full stop that names the field
	 * @param advice what to do: sentences
	 */
	constructor(
		message: string,
		readonly advice: string,
	) {
		super(message);
		this.name = 'InvalidInput';
	}
}

/** n8n's database or a vault does not give what the node needs, and nothing has left. */
export class Unavailable extends Error {
	/**
	 * @param message what happened: a sentence without its full stop
	 * @param advice what to do: sentences
	 */
	constructor(
		message: string,
		readonly advice: string,
	) {
		super(message);
		this.name = 'Unavailable';
	}
}

/** What was thrown, in its own words. */
export function messageOf(error: unknown): string {
	// Not by `instanceof`: n8n's sandbox for expressions has an `Error` of its own.
	const hasMessage = typeof error === 'object' && error !== null && 'message' in error;
	return String(hasMessage ? error.message : error);
}
