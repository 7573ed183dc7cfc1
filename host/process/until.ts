import { setTimeout as sleep } from 'node:timers/promises';

export interface Patience<T> {
	/** Milliseconds. */
	within: number;
	/** Milliseconds between two looks. Default 100. */
	every?: number;
	/** What is thrown when the time is over, by what was seen last. */
	late: (seen: T) => string;
}

/**
 * Looks again and again until what is seen is enough.
 *
 * @returns what was seen then
 */
export async function until<T>(
	look: () => T | Promise<T>,
	isEnough: (seen: T) => boolean,
	{ within, every = 100, late }: Patience<T>,
): Promise<T> {
	const deadline = Date.now() + within;
	for (;;) {
		const seen = await look();
		if (isEnough(seen)) return seen;
		if (Date.now() > deadline) throw new Error(late(seen));
		await sleep(every);
	}
}
