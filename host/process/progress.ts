/** What progress is written to: a terminal's line is written over, anything else gets whole lines. */
export interface ProgressStream {
	isTTY?: boolean;
	columns?: number;
	write(text: string): unknown;
}

/** Seconds between two lines about the same step where lines cannot be written over. */
const lineEvery = 15;

/** Shows what is being done, for how long, and how far it is. */
export class Progress {
	/** How far the current step is, such as `812 of 2,100 packages`. */
	private amount = '';

	constructor(private readonly stream: ProgressStream) {}

	/** Runs a step under a name. `begin` ends it and begins another; `reach` says how far it is. */
	async step<T>(
		name: string,
		work: (begin: (name: string) => void, reach: (amount: string) => void) => Promise<T>,
	): Promise<T> {
		let end = this.begin(name);
		const begin = (next: string) => {
			end('✓');
			end = this.begin(next);
		};
		const reach = (amount: string) => {
			this.amount = amount;
		};
		try {
			const result = await work(begin, reach);
			end('✓');
			return result;
		} catch (error) {
			end('✗');
			throw error;
		}
	}

	private begin(name: string): (mark: string) => void {
		const { isTTY = false, columns = 80 } = this.stream;
		const since = Date.now();
		const seconds = () => Math.floor((Date.now() - since) / 1000);
		this.amount = '';
		const show = () => {
			const amount = this.amount === '' ? '' : `: ${this.amount}`;
			const text = `… ${name}${amount}${elapsed(seconds())}`;
			if (isTTY) this.stream.write(`\r\x1b[2K${text.slice(0, columns - 1)}`);
			else if (seconds() % lineEvery === 0) this.stream.write(`${text}\n`);
		};
		show();
		const ticking = setInterval(show, 1000).unref();
		return (mark) => {
			clearInterval(ticking);
			// The words in brackets say what to expect, which is over.
			const text = `${mark} ${name.replace(/ \(.*/, '')}${elapsed(seconds())}\n`;
			this.stream.write(isTTY ? `\r\x1b[2K${text}` : text);
		};
	}
}

function elapsed(seconds: number): string {
	if (seconds < 2) return '';
	const minutes = Math.floor(seconds / 60);
	return minutes > 0 ? ` (${minutes} min ${seconds % 60} s)` : ` (${seconds} s)`;
}
