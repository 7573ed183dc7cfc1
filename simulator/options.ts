import type { CampaignView } from './campaigns';
import type { Settings, SettingsChanges } from './schemas';

/** What a simulator is started with; everything may be left out. */
export interface SimulatorOptions extends SettingsChanges {
	/** Default 0: a free one. */
	port?: number;
	/** What stands before `/v1/`, e.g. `/push`. */
	pathPrefix?: string;
	/** Default `serviceKey`. */
	keyHeader?: string;
	/** Default `serviceAuthToken`. */
	tokenHeader?: string;
	/** How fast counters move: 1 (the default) takes minutes, 0 stands still (all at 0 unless set by hand). */
	lifeSpeed?: number;
	/** Gives epoch milliseconds. */
	clock?: () => number;
	/** Keeps campaigns and the chat here, so that the next start has them. Left out: nowhere. */
	stateFile?: string;
}

/** A message that was posted to the chat; `at` is epoch milliseconds. */
export interface Message {
	readonly at: number;
	readonly text: string;
}

/** Everything that the simulator is, at one moment. */
export interface SimulatorState {
	readonly now: number;
	readonly url: string;
	readonly settings: Omit<Settings, 'serviceKey' | 'authToken'>;
	readonly requestCount: number;
	readonly campaignCount: number;
	/** Those that are still waiting, with how often each will strike; 0 is forever. */
	readonly faults: ReadonlyArray<{ id: number; times: number }>;
	/** Oldest first. */
	readonly campaigns: readonly CampaignView[];
	/** The chat, oldest first. */
	readonly messages: readonly Message[];
}
