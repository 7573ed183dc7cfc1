import { z } from 'zod';
import { campaignViewSchema, savedCampaignsSchema } from './campaigns';
import { settingsSchema, type RateLimit, type WaitingCounters } from './schemas';

/** What a simulator is started with; everything may be left out. */
export interface SimulatorOptions {
	/** Default `127.0.0.1`. */
	host?: string;
	/** Default 0: a free one. */
	port?: number;
	/** What stands before `/v1/`, e.g. `/push`. */
	pathPrefix?: string;
	/** Default `demo-key`. */
	serviceKey?: string;
	/** Default `demo-token`. */
	authToken?: string;
	/** Default `serviceKey`. */
	keyHeader?: string;
	/** Default `serviceAuthToken`. */
	tokenHeader?: string;
	/** How long each answer takes, in milliseconds; the request is processed when it arrives. */
	latencyMs?: number;
	/** The HTTP status of every failure body; by default `mapped`, the usual one for its type. */
	failureStatus?: 'mapped' | number;
	rateLimit?: RateLimit;
	/** Active ones have the IDs 5001 and up. Default: 10,000 active of 12,500. */
	subscribers?: { active: number; lifetime: number };
	/** How a campaign that waits for its time shows its counters. Default `zero`. */
	waitingCounters?: WaitingCounters;
	/** How fast counters move: 1 takes minutes, 0 stands still (all at 0 unless set by hand). */
	lifeSpeed?: number;
	/** How many of the latest requests are kept. Default 20,000. */
	maxRequests?: number;
	/** How many of the latest campaigns are kept. Default 50,000. */
	maxCampaigns?: number;
	/** Gives epoch milliseconds. */
	clock?: () => number;
	/** Keeps campaigns and the chat here, so that the next start has them. Left out: nowhere. */
	stateFile?: string;
	/** Is told where a state file went that could not be read. */
	onUnreadableState?: (path: string) => void;
}

/** What stays as it is while the service runs. */
export interface ServiceShape {
	/** What stands before `/v1/`, e.g. `/push`; empty for nothing. */
	readonly pathPrefix: string;
	readonly keyHeader: string;
	readonly tokenHeader: string;
	readonly lifeSpeed: number;
	/** How many campaigns are kept. */
	readonly maxCampaigns: number;
}

/** A message that was posted to the chat; `at` is epoch milliseconds. */
const messageSchema = z.object({ at: z.number(), text: z.string() });

/** Everything that the simulator is, at one moment. */
export const simulatorStateSchema = z.object({
	now: z.number(),
	url: z.string(),
	settings: settingsSchema.omit({ serviceKey: true, authToken: true }),
	requestCount: z.number(),
	campaignCount: z.number(),
	/** Those that are still waiting, with how often each will strike; 0 is forever. */
	faults: z.array(z.object({ id: z.number(), times: z.number() })),
	/** Oldest first. */
	campaigns: z.array(campaignViewSchema),
	/** The chat, oldest first. */
	messages: z.array(messageSchema),
});

export type SimulatorState = z.infer<typeof simulatorStateSchema>;

/** What the next start is to have. */
export const savedSchema = savedCampaignsSchema.extend({ messages: z.array(messageSchema) });
