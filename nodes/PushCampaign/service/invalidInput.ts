/** What the user entered can't be sent; nothing has left. Turned into n8n's error by the node. */
export class InvalidInput extends Error {
	/**
	 * @param message what is wrong, a whole sentence without its full stop, beginning with the parameter at fault
	 * @param advice how to go on
	 */
	constructor(
		message: string,
		readonly advice: string,
	) {
		super(message);
		this.name = 'InvalidInput';
	}
}

/** n8n did not give what the node needs from its database or from a vault. Nothing has left. */
export class Unavailable extends Error {
	/**
	 * @param message a whole sentence without its full stop
	 * @param advice how to go on
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
	// Not by `instanceof`: what evaluates expressions apart from the server has an `Error` of its own.
	const hasMessage = typeof error === 'object' && error !== null && 'message' in error;
	return String(hasMessage ? error.message : error);
}
