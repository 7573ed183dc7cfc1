/** What progress is written to: a terminal's line is written over, anything else gets whole lines. */
export interface ProgressStream {
	isTTY?: boolean;
	columns?: number;
	write(text: string): unknown;
}

/** Seconds between two lines about the same step where lines cannot be written over. */
const lineEvery = 15;

/** Tells, calmly, what is being done and for how long. */
export class Progress {
	constructor(private readonly stream: ProgressStream) {}

	/** Runs one step under a name; the name may be changed while it runs. */
	async step<T>(name: string, work: (rename: (name: string) => void) => Promise<T>): Promise<T> {
		let end = this.begin(name);
		try {
			const result = await work((next) => {
				end('✓');
				end = this.begin(next);
			});
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
		const tell = () => {
			const line = `… ${name}${elapsed(seconds())}`;
			if (isTTY) this.stream.write(`\r\x1b[2K${line.slice(0, columns - 1)}`);
			else if (seconds() % lineEvery === 0) this.stream.write(`${line}\n`);
		};
		tell();
		const ticking = setInterval(tell, 1000).unref();
		return (mark) => {
			clearInterval(ticking);
			// What one wants to know before, in brackets, is no longer news.
			const line = `${mark} ${name.replace(/ \(.*/, '')}${elapsed(seconds())}\n`;
			this.stream.write(isTTY ? `\r\x1b[2K${line}` : line);
		};
	}
}

function elapsed(seconds: number): string {
	if (seconds < 2) return '';
	const minutes = Math.floor(seconds / 60);
	return minutes > 0 ? ` (${minutes} min ${seconds % 60} s)` : ` (${seconds} s)`;
}
