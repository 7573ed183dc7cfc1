import { sleep as n8nSleep } from 'n8n-workflow';

/**
 * Waits the given milliseconds.
 * @throws the signal's reason, as soon as the signal ends
 */
export async function sleep(milliseconds: number, signal: AbortSignal): Promise<void> {
	let stop: (() => void) | undefined;
	const stopped = new Promise<never>((_resolve, reject) => {
		stop = () => reject(signal.reason);
		if (signal.aborted) stop();
		else signal.addEventListener('abort', stop, { once: true });
	});
	try {
		// n8n 2 ends its timer with the signal; n8n 1 takes no signal, so there the race alone ends the wait.
		await Promise.race([stopped, n8nSleep(milliseconds, signal)]);
	} finally {
		if (stop !== undefined) signal.removeEventListener('abort', stop);
	}
}

/**
 * Makes a sleep of which any number can be under way at once. They share one listener: n8n's log warns
 * of a leak when a signal has many.
 * @param signal ends all of them
 */
export function createSleep(signal: AbortSignal): (milliseconds: number) => Promise<void> {
	const asleep = new Set<AbortController>();
	signal.addEventListener('abort', () => asleep.forEach((one) => one.abort(signal.reason)), {
		once: true,
	});
	return async (milliseconds) => {
		signal.throwIfAborted();
		const own = new AbortController();
		asleep.add(own);
		try {
			await sleep(milliseconds, own.signal);
		} finally {
			asleep.delete(own);
		}
	};
}
