import type { RateLimit } from './rateLimiter';

/** How the service is set up. */
export interface Settings {
	/** What stands before `/v1/`, such as `/push`. */
	readonly pathPrefix: string;
	readonly keyHeader: string;
	readonly tokenHeader: string;
	readonly serviceKey: string;
	readonly authToken: string;
	readonly subscribers: { readonly active: number; readonly lifetime: number };
	/** How fast counters grow: with 1 it takes minutes, with 0 they stand still. */
	readonly lifeSpeed: number;
	/** How a campaign that waits for its time shows the counters that were not set by hand. */
	readonly waitingCounters: 'zero' | 'null';
	/** How long each answer takes, in milliseconds; a request is carried out when it arrives. */
	readonly latencyMs: number;
	/** null: there is none. */
	readonly rateLimit: RateLimit | null;
}

export const defaultSettings: Settings = {
	pathPrefix: '',
	keyHeader: 'serviceKey',
	tokenHeader: 'serviceAuthToken',
	serviceKey: 'demo-key',
	authToken: 'demo-token',
	subscribers: { active: 10_000, lifetime: 12_500 },
	lifeSpeed: 1,
	waitingCounters: 'zero',
	latencyMs: 0,
	rateLimit: null,
};

/** What a simulator is started with. */
export interface SimulatorOptions extends Partial<Settings> {
	/** A free one if it is left out. */
	readonly port?: number;
	/** Gives epoch milliseconds. */
	readonly clock?: () => number;
	/** Where campaigns are kept for the next start; nowhere if it is left out. */
	readonly stateFile?: string;
}
