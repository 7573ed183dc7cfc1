import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import type { z } from 'zod';

/** A value that is kept in a file from one start to the next. */
export class JsonFile<T> {
	constructor(
		readonly path: string,
		private readonly schema: z.ZodType<T, z.ZodTypeDef, unknown>,
	) {}

	/**
	 * What was written last; undefined where nothing was. A file that holds no such value is put aside,
	 * as `<path>.unreadable`, and counts as none; `putAside` is told.
	 */
	read(putAside: (path: string) => void = () => {}): T | undefined {
		let text: string;
		try {
			text = readFileSync(this.path, 'utf8');
		} catch {
			return undefined;
		}
		try {
			return this.schema.parse(JSON.parse(text));
		} catch {
			const aside = `${this.path}.unreadable`;
			renameSync(this.path, aside);
			putAside(aside);
			return undefined;
		}
	}

	/** Replaces the value: whoever is killed meanwhile leaves the former one whole. */
	write(value: T): void {
		mkdirSync(dirname(this.path), { recursive: true });
		writeFileSync(`${this.path}.new`, JSON.stringify(value), { flush: true });
		renameSync(`${this.path}.new`, this.path);
	}
}

const soonMs = 100;

/** Writes a value that changes, many changes at once: a moment later, or when this process ends. */
export class Keeper<T> {
	private saving: NodeJS.Timeout | undefined;
	private readonly save = () => {
		clearTimeout(this.saving);
		this.saving = undefined;
		this.file.write(this.value());
	};

	/** @param value - gives it as it is now. */
	constructor(
		private readonly file: JsonFile<T>,
		private readonly value: () => T,
	) {
		process.on('exit', this.save);
	}

	changed(): void {
		this.saving ??= setTimeout(this.save, soonMs).unref();
	}

	/** Writes it now, for the last time. */
	close(): void {
		process.off('exit', this.save);
		this.save();
	}
}
