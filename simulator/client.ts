import { z } from 'zod';
import type { CampaignView } from './campaigns';
import type { SimulatorState } from './controlled';
import { audiences } from './operations';
import type { RecordedRequest } from './recorder';
import { counterChangesSchema, rateLimitSchema, waitingCountersSchema } from './schemas';
import type { CounterChanges, Fault, NewCampaign, RateLimit, SettingsChanges } from './schemas';

const campaignSchema: z.ZodType<CampaignView> = z.object({
	id: z.string(),
	audience: z.enum(audiences),
	body: z.record(z.unknown()),
	audienceSize: z.number(),
	createdAt: z.number(),
	dueAt: z.number(),
	expiryMs: z.number(),
	closesByItself: z.boolean().nullable(),
	fixedStatus: z.string().nullable(),
	fixedCounters: counterChangesSchema,
	status: z.string(),
	counters: counterChangesSchema.required(),
});

const requestSchema: z.ZodType<RecordedRequest> = z.object({
	id: z.number(),
	method: z.string(),
	path: z.string(),
	headers: z.record(z.union([z.string(), z.array(z.string())])),
	body: z.string(),
	json: z.unknown(),
	at: z.number(),
	answered: z
		.object({ status: z.number(), type: z.string().nullable(), at: z.number() })
		.nullable(),
	fault: z.number().nullable(),
	campaignId: z.string().nullable(),
});

const stateSchema: z.ZodType<SimulatorState> = z.object({
	now: z.number(),
	url: z.string(),
	settings: z.object({
		latencyMs: z.number(),
		failureStatus: z.union([z.literal('mapped'), z.number()]),
		rateLimit: rateLimitSchema.nullable(),
		subscribers: z.object({ active: z.number(), lifetime: z.number() }),
		waitingCounters: waitingCountersSchema,
	}),
	requestCount: z.number(),
	campaignCount: z.number(),
	faults: z.array(z.object({ id: z.number(), times: z.number() })),
	campaigns: z.array(campaignSchema),
});

/** Drives a simulator of another process over HTTP; the methods are the simulator's own. */
export class SimulatorControl {
	/** @param origin - the simulator's origin, without a path prefix. */
	constructor(readonly origin: string) {}

	/** The whole state, with the latest `last` campaigns only where that is given. */
	async state(last?: number): Promise<SimulatorState> {
		const query = last === undefined ? '' : `?last=${last}`;
		return await this.call('GET', `state${query}`, stateSchema);
	}

	/** The requests that are kept, oldest first; those with an ID above `after` where given. */
	async requests(after = 0): Promise<RecordedRequest[]> {
		const schema = z.object({ requests: z.array(requestSchema) });
		return (await this.call('GET', `requests?after=${after}`, schema)).requests;
	}

	/** The campaigns by ID, oldest first, each with its present status and counters. */
	async campaigns(): Promise<Map<string, CampaignView>> {
		const { campaigns } = await this.state();
		return new Map(campaigns.map((campaign) => [campaign.id, campaign]));
	}

	async clearRequests(): Promise<void> {
		await this.call('DELETE', 'requests', z.unknown());
	}

	async addFault(fault: Fault): Promise<number> {
		return (await this.call('POST', 'faults', z.object({ id: z.number() }), fault)).id;
	}

	async clearFaults(): Promise<void> {
		await this.call('DELETE', 'faults', z.unknown());
	}

	async setCounters(id: string, counters: CounterChanges): Promise<void> {
		await this.call('POST', 'counters', z.unknown(), { id, counters });
	}

	async addCampaign(campaign: NewCampaign = {}): Promise<string> {
		return (await this.call('POST', 'campaigns', z.object({ id: z.string() }), campaign)).id;
	}

	async removeCampaign(id: string): Promise<boolean> {
		const schema = z.object({ removed: z.boolean() });
		return (await this.call('DELETE', 'campaigns', schema, { id })).removed;
	}

	async addSubscribers(ids: readonly string[]): Promise<void> {
		await this.call('POST', 'subscribers', z.unknown(), { ids });
	}

	async configure(changes: SettingsChanges): Promise<void> {
		await this.call('POST', 'settings', z.unknown(), changes);
	}

	async setRateLimit(rateLimit: RateLimit | undefined): Promise<void> {
		await this.configure({ rateLimit: rateLimit ?? null });
	}

	async setLatency(latencyMs: number): Promise<void> {
		await this.configure({ latencyMs });
	}

	async advance(ms: number): Promise<void> {
		await this.call('POST', 'advance', z.unknown(), { ms });
	}

	async reset(): Promise<void> {
		await this.call('POST', 'reset', z.unknown());
	}

	private async call<T>(
		method: string,
		path: string,
		schema: z.ZodType<T, z.ZodTypeDef, unknown>,
		body?: unknown,
	): Promise<T> {
		const response = await fetch(`${this.origin}/_simulator/${path}`, {
			method,
			...(body === undefined ? {} : { body: JSON.stringify(body) }),
			signal: AbortSignal.timeout(30_000),
		});
		const text = await response.text();
		if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text}`);
		return schema.parse(JSON.parse(text));
	}
}
