/** When its signal ends, an action has this long to say what became of its request. */
const graceMs = 1;

/** What ends an action before its time. */
export interface DeadlineOptions {
	readonly timeoutMs: number;
	/** Ends when the user stops the execution, or when a poll has no more time. */
	readonly signal?: AbortSignal | undefined;
	/** Waits the given milliseconds. */
	readonly sleep: (milliseconds: number) => Promise<void>;
}

/**
 * Runs an action until it ends, its time is over, or the signal ends. The action's own signal ends in the last two
 * cases alone. Never throws.
 * @returns the action's value; or what it threw (`undefined` if it did not end) and whether its time was over
 */
export async function withDeadline<Value>(
	action: (signal: AbortSignal) => Promise<Value>,
	{ timeoutMs, signal, sleep }: DeadlineOptions,
) {
	const timeout = AbortSignal.timeout(timeoutMs);
	const either = signal === undefined ? timeout : AbortSignal.any([signal, timeout]);
	let giveUp = () => {};
	const hanging = new Promise<never>((_resolve, reject) => {
		giveUp = () => void sleep(graceMs).then(reject, reject);
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
