import ora from 'ora';

/** How often the line of a terminal is written again. */
const lineEveryMs = 1_000;

/** How often a new line is written if lines can't be written again, as in the log of a CI run. */
const newLineEveryMs = 15_000;

/** Shows what is being done, for how long, and how far it is. */
export class Progress {
	/** How far the current step is, such as `812 of 2,100 packages`. */
	private amount = '';

	constructor(private readonly stream: NodeJS.WritableStream) {}

	/** Runs a step under a name. `begin` ends it and begins another; `reach` says how far it is. */
	async step<T>(
		name: string,
		work: (begin: (name: string) => void, reach: (amount: string) => void) => Promise<T>,
	): Promise<T> {
		let end = this.begin(name);
		const begin = (next: string) => {
			end('succeed');
			end = this.begin(next);
		};
		const reach = (amount: string) => {
			this.amount = amount;
		};
		try {
			const result = await work(begin, reach);
			end('succeed');
			return result;
		} catch (error) {
			end('fail');
			throw error;
		}
	}

	private begin(name: string): (how: 'succeed' | 'fail') => void {
		const since = Date.now();
		this.amount = '';
		const spinner = ora({ stream: this.stream, discardStdin: false });
		const show = () => {
			const amount = this.amount === '' ? '' : `: ${this.amount}`;
			spinner.start(`${name}${amount}${elapsedSince(since)}`);
		};
		show();
		const canOverwrite = spinner.isSpinning;
		const showing = setInterval(show, canOverwrite ? lineEveryMs : newLineEveryMs).unref();
		return (how) => {
			clearInterval(showing);
			// The words in brackets say what to expect, which is over.
			spinner[how](`${name.replace(/ \(.*/, '')}${elapsedSince(since)}`);
		};
	}
}

function elapsedSince(since: number): string {
	const seconds = Math.floor((Date.now() - since) / 1000);
	if (seconds < 2) return '';
	const minutes = Math.floor(seconds / 60);
	return minutes > 0 ? ` (${minutes} min ${seconds % 60} s)` : ` (${seconds} s)`;
}
