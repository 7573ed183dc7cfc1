import type { Subject } from './subjects';

/** Starts the workflow when something moved since the last event. */
interface ChangedRule {
	readonly startsOn: 'change';
	/** Names of the counters that are watched. */
	readonly counters: readonly string[];
	readonly isStatusWatched: boolean;
	/** How far one of the counters has to move. Any change of the status is enough. */
	readonly minimumChange: number;
}

/** Starts the workflow once, when a counter reaches a target that no event of this rule has reported. */
interface ReachedRule {
	readonly startsOn: 'reach';
	/** Name of the counter that is watched. */
	readonly counter: string;
	readonly target: number;
}

export type TriggerRule = ChangedRule | ReachedRule;

/** What a trigger watches, and what starts the workflow. */
export interface Watched {
	readonly subject: Subject;
	readonly ids: readonly string[];
	readonly rule: TriggerRule;
}
