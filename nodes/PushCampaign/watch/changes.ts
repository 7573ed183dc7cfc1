import type { CounterName, Counters } from '../service/answers';
import { counterNames } from '../service/answers';

/** How one counter moved; `by` is negative when the service took something back. */
export interface Change {
	readonly from: number;
	readonly to: number;
	readonly by: number;
}

export type Changes = Partial<Record<CounterName, Change>>;

/** The counters of a campaign that was never emitted. */
export const zeroCounters: Counters = Object.freeze({
	totalAttempts: 0,
	successfullySent: 0,
	failedToSend: 0,
	delivered: 0,
	clicked: 0,
	closed: 0,
});

/** Every watched counter that moved between two records. */
export function findChanges(
	from: Counters,
	to: Counters,
	watched: readonly CounterName[],
): Changes {
	const moved = counterNames.filter((name) => watched.includes(name) && from[name] !== to[name]);
	return Object.fromEntries(
		moved.map((name) => [name, { from: from[name], to: to[name], by: to[name] - from[name] }]),
	);
}

/** Whether one of the changes is large enough to be worth an event. */
export function isWorthAnEvent(changes: Changes, minimumChange: number): boolean {
	return Object.values(changes).some(({ by }) => Math.abs(by) >= minimumChange);
}
