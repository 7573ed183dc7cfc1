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
