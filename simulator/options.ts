import type { CampaignView } from './campaigns';
import type { FaultName } from './faults';
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

/** A send that its client does not know to be a success. */
export interface FailedSend {
	readonly at: number;
	readonly audience: string;
	/** What the client read; null if it got no answer. */
	readonly answered: { readonly status: number; readonly type: string | null } | null;
	/** The campaign that went out nevertheless. */
	readonly campaignId: string | null;
}

/** The whole simulator at one moment. */
export interface SimulatorState {
	readonly now: number;
	readonly url: string;
	readonly settings: Omit<Settings, 'serviceKey' | 'authToken'>;
	readonly requestCount: number;
	readonly campaignCount: number;
	/** How many of them a search found; all without one. */
	readonly foundCount: number;
	/**
	 * Those that still apply to coming requests: to how many (0: to all), and the name of those that the
	 * page switched on.
	 */
	readonly faults: ReadonlyArray<{ id: number; times: number; name: FaultName | null }>;
	/** The latest sends that were refused, or whose answer a fault changed; oldest first. */
	readonly failedSends: readonly FailedSend[];
	/** Oldest first. */
	readonly campaigns: readonly CampaignView[];
	/** The chat, oldest first. */
	readonly messages: readonly Message[];
}
