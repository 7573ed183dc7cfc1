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
	private current: { text: string; since: number; told: number } | undefined;
	private ticking: NodeJS.Timeout | undefined;

	constructor(
		private readonly stream: ProgressStream,
		private readonly now: () => number = Date.now,
	) {}

	/** Runs one step under a name; the name may be changed while it runs. */
	async step<T>(text: string, work: (rename: (text: string) => void) => Promise<T>): Promise<T> {
		this.begin(text);
		try {
			const result = await work((next) => {
				if (this.current?.text !== next) {
					this.end('done');
					this.begin(next);
				}
			});
			this.end('done');
			return result;
		} catch (error) {
			this.end('stopped');
			throw error;
		}
	}

	private begin(text: string): void {
		this.current = { text, since: this.now(), told: 0 };
		this.ticking = setInterval(() => this.tell(), 1000);
		this.ticking.unref();
		this.tell();
	}

	private tell(): void {
		if (this.current === undefined) return;
		const { text, since, told } = this.current;
		const seconds = Math.floor((this.now() - since) / 1000);
		if (this.stream.isTTY === true) this.rewrite(`… ${text}${elapsed(seconds)}`);
		else if (seconds === 0 || seconds - told >= lineEvery) {
			this.current.told = seconds;
			this.stream.write(`… ${text}${elapsed(seconds)}\n`);
		}
	}

	private end(how: 'done' | 'stopped'): void {
		clearInterval(this.ticking);
		if (this.current === undefined) return;
		const { text, since } = this.current;
		const seconds = Math.floor((this.now() - since) / 1000);
		// What one wants to know before, in brackets, is no longer news.
		const short = text.replace(/ \(.*/, '');
		const line = `${how === 'done' ? '✓' : '✗'} ${short}${elapsed(seconds)}`;
		if (this.stream.isTTY === true) this.rewrite(`${line}\n`);
		else this.stream.write(`${line}\n`);
		this.current = undefined;
	}

	private rewrite(line: string): void {
		const width = this.stream.columns ?? 80;
		const shown = line.endsWith('\n') ? line : line.slice(0, width - 1);
		this.stream.write(`\r\x1b[2K${shown}`);
	}
}

function elapsed(seconds: number): string {
	if (seconds < 2) return '';
	const minutes = Math.floor(seconds / 60);
	return minutes > 0 ? ` (${minutes} min ${seconds % 60} s)` : ` (${seconds} s)`;
}
