/** How often a step says how far it is, in milliseconds: in a terminal it does so in its one line. */
const everyMs = { terminal: 1_000, file: 60_000 };

/** Says when a step begins, how far it is, and when it ends. */
export class Progress {
	constructor(
		private readonly stream: Pick<NodeJS.WriteStream, 'write'> & Partial<NodeJS.WriteStream>,
	) {}

	/**
	 * Runs a step.
	 *
	 * @param work may say what it does now, or how far it is, such as `812 of 2,100 packages`
	 */
	async step<T>(name: string, work: (reach: (amount: string) => void) => Promise<T>): Promise<T> {
		const { isTTY: isTerminal = false, columns = 80 } = this.stream;
		const since = Date.now();
		let amount = '';
		const say = (how: string, end = '\n') => {
			const seconds = Math.floor((Date.now() - since) / 1000);
			const line = `${name}${how}${seconds > 1 ? ` (${seconds} s)` : ''}`;
			// Back to the beginning of the line, and without what stood there, which only works within one line.
			const rewritten = `\r\x1b[K${line.slice(0, columns - 1)}${end}`;
			this.stream.write(isTerminal ? rewritten : `${line}\n`);
		};
		const sayHowFar = () => say(amount === '' ? ' …' : `: ${amount}`, '');
		sayHowFar();
		const timer = setInterval(sayHowFar, isTerminal ? everyMs.terminal : everyMs.file).unref();
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
