/** Time for an action that is given up to say how far it had come. */
const lastWordsMs = 1;

/** What ends an action before its time. */
export interface DeadlineOptions {
	readonly timeoutMs: number;
	/** Ends it when the user stops the execution, or when a poll has no more time. */
	readonly signal?: AbortSignal | undefined;
	/** Waits the given milliseconds. */
	readonly sleep: (milliseconds: number) => Promise<void>;
}

/**
 * Runs an action until it ends, takes longer than it may, or the signal ends. The action's own signal
 * ends in the last two cases, and in no other. Never throws.
 * @returns its value, or what it threw (`undefined` where it hangs on) and whether it took longer than it may
 */
export async function withDeadline<Value>(
	action: (signal: AbortSignal) => Promise<Value>,
	{ timeoutMs, signal, sleep }: DeadlineOptions,
) {
	const timeout = AbortSignal.timeout(timeoutMs);
	const either = signal === undefined ? timeout : AbortSignal.any([signal, timeout]);
	let giveUp = () => {};
	const hanging = new Promise<never>((_resolve, reject) => {
		giveUp = () => void sleep(lastWordsMs).then(reject, reject);
	});
	either.addEventListener('abort', giveUp);
	try {
		const ending = Promise.race([action(either), hanging]);
		if (either.aborted) giveUp();
		return { kind: 'settled', value: await ending } as const;
	} catch (error) {
		return { kind: 'failed', error, isLate: timeout.aborted } as const;
	} finally {
		either.removeEventListener('abort', giveUp);
	}
}
