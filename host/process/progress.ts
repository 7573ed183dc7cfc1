/** How often a step says that it is still running. */
const everyMs = 15_000;

/** Prints a line when a step begins, every 15 seconds, and when it ends. */
export class Progress {
	constructor(private readonly stream: NodeJS.WritableStream) {}

	/**
	 * Runs a step.
	 *
	 * @param work may say what it does now, or how far it is, such as `812 of 2,100 packages`
	 */
	async step<T>(name: string, work: (reach: (amount: string) => void) => Promise<T>): Promise<T> {
		const since = Date.now();
		let amount = '';
		const say = (how: string) => {
			const seconds = Math.floor((Date.now() - since) / 1000);
			this.stream.write(`${name}${how}${seconds > 1 ? ` (${seconds} s)` : ''}\n`);
		};
		say(' …');
		const timer = setInterval(() => say(amount === '' ? ' …' : `: ${amount}`), everyMs).unref();
		try {
			const result = await work((reached) => {
				amount = reached;
			});
			say(': done');
			return result;
		} catch (error) {
			say(': failed');
			throw error;
		} finally {
			clearInterval(timer);
		}
	}
}
