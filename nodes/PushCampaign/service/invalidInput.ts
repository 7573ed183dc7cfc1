/** What the user entered can't be sent; nothing has left. Turned into n8n's error by the node. */
export class InvalidInput extends Error {
	/**
	 * @param field display name of the parameter at fault
	 * @param message what is wrong, a whole sentence without its full stop
	 * @param advice how to go on
	 */
	constructor(
		readonly field: string,
		message: string,
		readonly advice: string,
	) {
		super(message);
		this.name = 'InvalidInput';
	}
}
