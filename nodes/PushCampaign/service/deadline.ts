/** How an action ended: with its value, or with what it threw (`undefined` where it hangs on). */
export type Ending<Value> =
	| { readonly kind: 'settled'; readonly value: Value }
	/** `isLate`: it took longer than it may. */
	| { readonly kind: 'failed'; readonly error: unknown; readonly isLate: boolean };

/** Time for an action that is given up to say how far it had come. */
const lastWordsMs = 1;

/** What ends an action before its time. */
export interface DeadlineOptions {
	/** How long the action may take. */
	readonly timeoutMs: number;
	/** Ends it when the user stops the execution, or when a poll has no more time. */
	readonly signal?: AbortSignal | undefined;
	/** Waits the given milliseconds. */
	readonly sleep: (milliseconds: number) => Promise<void>;
}

/**
 * Runs an action until it ends, takes longer than it may, or the signal ends. The action's own signal
 * ends in the last two cases, and in no other. Never throws.
 */
export async function withDeadline<Value>(
	action: (signal: AbortSignal) => Promise<Value>,
	{ timeoutMs, signal, sleep }: DeadlineOptions,
): Promise<Ending<Value>> {
	const timeout = AbortSignal.timeout(timeoutMs);
	const either = signal === undefined ? timeout : AbortSignal.any([signal, timeout]);
	let giveUp = () => {};
	const hanging = new Promise<Ending<Value>>((resolve) => {
		const end = () => resolve({ kind: 'failed', error: undefined, isLate: timeout.aborted });
		giveUp = () => void sleep(lastWordsMs).then(end, end);
	});
	either.addEventListener('abort', giveUp);
	try {
		if (either.aborted) giveUp();
		const settled = async (): Promise<Ending<Value>> => ({
			kind: 'settled',
			value: await action(either),
		});
		return await Promise.race([settled(), hanging]);
	} catch (error) {
		return { kind: 'failed', error, isLate: timeout.aborted };
	} finally {
		either.removeEventListener('abort', giveUp);
	}
}
