import type { WatchState, Version } from './baseline';

/**
 * For how long after an emission a poll may still start from a cursor that does not show it, in
 * milliseconds. n8n's durable engine reads the cursor when it begins with a poll's task, gives the poll
 * 45 s (N8N_SCHEDULER_POLL_TIMEOUT), and takes nothing from a task whose lease of 60 s has ended
 * (N8N_SCHEDULER_LEASE_DURATION, looked at every 30 s): 90 s in all. After that, an emission that no
 * cursor shows was not saved.
 */
export const staleCursorMs = 120_000;

/**
 * The same after a poll that emitted nothing but changed its state: n8n saves that with two short
 * queries as soon as the poll is over, so that only a poll that had begun before can miss it. In
 * milliseconds; short, because n8n does not save it at all where the poll is the test of an activation.
 */
const quietWriteMs = 10_000;

interface Write {
	readonly number: number;
	/** When it was made, by the clock. */
	readonly at: number;
	readonly isEmission: boolean;
	readonly reported: WatchState['reported'];
}

interface TriggerMemory {
	running: number;
	/** The oldest first. */
	writes: Write[];
}

/** What a poll may ask of the polls that this process made before it, or makes beside it. */
export interface PollMemory {
	/** Whether the poll's state does not show what was emitted or changed, and n8n may yet save that. */
	isBehind(version: Version): boolean;
	/** Which failures were reported since the poll's state was saved; nothing where none was. */
	reportedSince(version: Version): WatchState['reported'] | undefined;
	/** Notes what the poll gives n8n to save, and gives the version to save it under. */
	note(state: WatchState, isEmission: boolean): Version;
}

/**
 * What this process emitted a short while ago, by trigger. n8n's durable engine gives each poll a copy
 * of the state from when it began with it, its cursor, and saves the copy whole together with what the
 * poll emits. After a restart it begins with all missed polls at once, so many start from the same old
 * cursor, and each would emit the same change. A poll whose cursor does not show what was emitted before
 * it therefore emits nothing and saves nothing: the next one starts from a newer cursor. To count from
 * what was emitted, and go on, would lose it where n8n could not save it.
 */
export class RecentEmissions {
	private readonly triggers = new Map<string, TriggerMemory>();
	private lastNumber = 0;

	/**
	 * @param writer names this process in the version of what it saves
	 * @param now milliseconds from any fixed moment, by a clock that nobody sets
	 */
	constructor(
		private readonly writer: string,
		private readonly now: () => number,
	) {}

	/** Runs a poll of a trigger. */
	async during<Value>(
		trigger: string,
		poll: (memory: PollMemory) => Promise<Value>,
	): Promise<Value> {
		const memory = this.triggers.get(trigger) ?? { running: 0, writes: [] };
		this.triggers.set(trigger, memory);
		memory.running += 1;
		const startedAt = this.now();
		// By the poll's start: what was recent when it read its cursor stays so until its end.
		const isRecent = ({ at }: Write, spanMs: number) => at > startedAt - spanMs;
		const unseen = (version: Version) =>
			memory.writes.filter(({ number }) => number > (version[this.writer] ?? 0));
		try {
			return await poll({
				isBehind: (version) =>
					unseen(version).some((write) =>
						isRecent(write, write.isEmission ? staleCursorMs : quietWriteMs),
					),
				reportedSince: (version) =>
					unseen(version)
						.filter((write) => isRecent(write, staleCursorMs))
						.at(-1)?.reported,
				note: (state, isEmission) => {
					const { version, reported } = state;
					const number = (this.lastNumber += 1);
					memory.writes.push({ number, at: this.now(), isEmission, reported });
					return nextVersion(version, this.writer, number);
				},
			});
		} finally {
			memory.running -= 1;
			this.forget();
		}
	}

	/** Lets go of what no poll can ask for any more. */
	private forget(): void {
		// No poll of the durable engine lasts as long as this, so what is older is recent to none.
		const oldest = this.now() - 2 * staleCursorMs;
		for (const [trigger, memory] of this.triggers) {
			memory.writes = memory.writes.filter(({ at }) => at > oldest);
			if (memory.running === 0 && memory.writes.length === 0) this.triggers.delete(trigger);
		}
	}
}

/** How many processes a version names: more mains than that do not poll one trigger by turns. */
const mostWriters = 8;

/** The version after a write; whoever wrote longest ago is left out where there are too many. */
function nextVersion(version: Version, writer: string, number: number): Version {
	const others = Object.entries(version).filter(([name]) => name !== writer);
	return Object.fromEntries([...others.slice(1 - mostWriters), [writer, number]]);
}
