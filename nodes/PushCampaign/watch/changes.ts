import type { CounterName, Counters } from '../service/answers';
import { counterNames } from '../service/answers';
import type { Baseline } from './baseline';

/** How one counter moved; `by` is negative when the service took something back. */
export interface Change {
	readonly from: number;
	readonly to: number;
	readonly by: number;
}

export type Changes = Partial<Record<CounterName, Change>>;

/** Every watched counter that moved; one that the service does not give can't be compared. */
export function findChanges(
	from: Baseline['counters'],
	to: Counters,
	watched: readonly CounterName[],
): Changes {
	const changes: Changes = {};
	for (const name of counterNames) {
		const now = to[name];
		if (!watched.includes(name) || now === null || now === from[name]) continue;
		changes[name] = { from: from[name], to: now, by: now - from[name] };
	}
	return changes;
}

/** Whether one of the changes is large enough to be worth an event. */
export function isWorthAnEvent(changes: Changes, minimumChange: number): boolean {
	return Object.values(changes).some(({ by }) => Math.abs(by) >= minimumChange);
}
