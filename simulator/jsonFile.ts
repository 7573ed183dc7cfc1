import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import type { z } from 'zod';

/** A value that is kept in a file from one start to the next. */
export class JsonFile<T> {
	private written = '';

	constructor(
		private readonly path: string,
		private readonly schema: z.ZodType<T, z.ZodTypeDef, unknown>,
	) {}

	/** The value that was written last; undefined if none was. Throws if the file holds something else. */
	read(): T | undefined {
		if (!existsSync(this.path)) return undefined;
		try {
			return this.schema.parse(JSON.parse(readFileSync(this.path, 'utf8')));
		} catch (error) {
			throw new Error(`${this.path} can't be read. Delete it to start over.`, { cause: error });
		}
	}

	/** Replaces the value if it differs. A process that is killed meanwhile leaves the former one intact. */
	write(value: T): void {
		const text = JSON.stringify(value);
		if (text === this.written) return;
		mkdirSync(dirname(this.path), { recursive: true });
		writeFileSync(`${this.path}.new`, text, { flush: true });
		renameSync(`${this.path}.new`, this.path);
		this.written = text;
	}
}

const keepEveryMs = 200;

/**
 * Writes a value that changes all the time: every 200 ms, and when this process ends.
 *
 * @returns a function that writes it now, for the last time
 */
export function keep<T>(file: JsonFile<T>, value: () => T): () => void {
	const write = () => file.write(value());
	const writing = setInterval(write, keepEveryMs).unref();
	process.on('exit', write);
	return () => {
		clearInterval(writing);
		process.off('exit', write);
		write();
	};
}
