import { sleep as n8nSleep } from 'n8n-workflow';

/**
 * Waits the given milliseconds.
 * @throws the signal's reason, as soon as the signal ends
 */
export async function sleep(milliseconds: number, signal?: AbortSignal): Promise<void> {
	if (signal === undefined) return await n8nSleep(milliseconds);
	let stop = () => {};
	const stopped = new Promise<never>((_resolve, reject) => {
		stop = () => reject(signal.reason);
	});
	signal.addEventListener('abort', stop);
	if (signal.aborted) stop();
	try {
		// n8n 2 ends its timer with the signal; n8n 1 takes no signal, so there the race alone ends the wait.
		await Promise.race([stopped, n8nSleep(milliseconds, signal)]);
	} finally {
		signal.removeEventListener('abort', stop);
	}
}
