import { z } from 'zod';
import { counterChangesSchema } from './counters';
import { audiences } from './operations';

// What may be asked of the simulator itself, in its own process or over HTTP.

const whole = z.number().int().nonnegative();
const status = z.number().int().min(200).max(599);
const headers = z.record(z.string());

const kind = <Name extends string, Shape extends z.ZodRawShape>(name: Name, shape: Shape) =>
	z.strictObject({ kind: z.literal(name), ...shape });

const faultAction = z.discriminatedUnion('kind', [
	/** The connection is reset, nothing is processed. */
	kind('reset-before', {}),
	/** The request is processed, then the connection is reset without an answer. */
	kind('reset-after', {}),
	/** No answer ever comes; the request is processed or not. */
	kind('hang', { process: z.boolean() }),
	/** The request is processed, its answer comes `ms` later. */
	kind('delay', { ms: whole }),
	/** The request is processed, half of its answer comes, then the connection ends. */
	kind('truncate', {}),
	/** Any other answer: garbage, a gateway's page, JSON of the wrong shape. */
	kind('respond', {
		status: status.default(200),
		headers: headers.default({ 'content-type': 'application/json' }),
		body: z.string(),
		process: z.boolean().default(false),
	}),
	/** A failure body of the service's shape, without `type` for the generic one. */
	kind('failure', {
		type: z.string().optional(),
		description: z.string(),
		status: status.default(200),
		headers: headers.default({}),
	}),
	kind('redirect', {
		location: z.string(),
		status: z.number().int().min(300).max(399).default(302),
	}),
	/** That many megabytes of text; the request is processed or not. */
	kind('big', {
		megabytes: z.number().positive().max(256),
		process: z.boolean().default(false),
	}),
]);

/** A fault that is waiting for its requests. */
export const faultSchema = z.strictObject({
	match: z
		.strictObject({
			method: z.string().optional(),
			/** Part of the path. */
			path: z.string().optional(),
			/** Part of the body as it came. */
			bodyIncludes: z.string().optional(),
		})
		.default({}),
	/** How many matching requests pass before the fault begins. */
	skip: whole.default(0),
	/** How many requests it then befalls; 0 is every one. */
	times: whole.default(1),
	action: faultAction,
});

export type Fault = z.input<typeof faultSchema>;
export type ReadyFault = z.output<typeof faultSchema>;
export type FaultAction = ReadyFault['action'];

/** A campaign that is there without having been sent. */
export const newCampaignSchema = z.strictObject({
	/** Any text; the next number when left out. */
	id: z.string().min(1).optional(),
	audience: z.enum(audiences).default('all'),
	/** The body that would have been sent. */
	body: z.record(z.unknown()).default({}),
	/** How many subscribers it goes to; by its audience when left out. */
	audienceSize: whole.optional(),
	/** When it goes out, epoch milliseconds; now when left out. */
	dueAt: z.number().optional(),
	/** How fast its counters move, where not as fast as the simulator's. */
	speed: z.number().nonnegative().optional(),
	/** A fixed status label in place of the campaign's own. */
	status: z.string().optional(),
	counters: counterChangesSchema.default({}),
});

export type NewCampaign = z.input<typeof newCampaignSchema>;

/** A token bucket: `burst` requests at once, refilled by `perSecond`. */
const rateLimitSchema = z.strictObject({
	perSecond: z.number().nonnegative(),
	burst: z.number().min(1),
	/** Sends `Retry-After`; none when left out. */
	retryAfter: z.literal('seconds').optional(),
});

export type RateLimit = z.infer<typeof rateLimitSchema>;

/** How a campaign that waits for its time shows counters that were not set by hand. */
const waitingCountersSchema = z.enum(['zero', 'null']);

export type WaitingCounters = z.infer<typeof waitingCountersSchema>;

/** What can be changed while the simulator runs, and what it is unless it is started with another value. */
export const settingsSchema = z.strictObject({
	/** How long each answer takes, in milliseconds; the request is processed when it arrives. */
	latencyMs: z.number().nonnegative().default(0),
	/** null takes the limit away. */
	rateLimit: rateLimitSchema.nullable().default(null),
	serviceKey: z.string().min(1).default('demo-key'),
	authToken: z.string().min(1).default('demo-token'),
	/** Active ones have the IDs 5001 and up. */
	subscribers: z
		.strictObject({ active: whole, lifetime: whole })
		.default({ active: 10_000, lifetime: 12_500 }),
	waitingCounters: waitingCountersSchema.default('zero'),
});

export type Settings = z.output<typeof settingsSchema>;

export const settingsChangesSchema = settingsSchema.partial();
export type SettingsChanges = z.input<typeof settingsSchema>;
