/** Why nothing has left, and what to mend. */
class NothingLeft extends Error {
	/**
	 * @param message what happened: a sentence without its full stop
	 * @param fix what to mend: sentences
	 */
	constructor(
		message: string,
		readonly fix: string,
	) {
		super(message);
		this.name = new.target.name;
	}
}

/** What the user entered can't be sent. The message names the field. */
export class InvalidInput extends NothingLeft {
	/** @param others what else can't be sent of the same item */
	constructor(
		message: string,
		fix: string,
		readonly others: readonly InvalidInput[] = [],
	) {
		super(message, fix);
	}
}

/** n8n's database or a vault does not give what the node needs. */
export class Unavailable extends NothingLeft {}

/** What was thrown, in its own words. */
export function messageOf(error: unknown): string {
	// Not by `instanceof`: n8n's sandbox for expressions has an `Error` of its own.
	const hasMessage = typeof error === 'object' && error !== null && 'message' in error;
	return String(hasMessage ? error.message : error);
}
