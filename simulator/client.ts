import { z } from 'zod';
import type { CampaignView } from './campaigns';
import { simulatorStateSchema, type SimulatorState } from './controlled';
import type { CounterChanges } from './counters';
import { recordedRequestSchema, type RecordedRequest } from './recorder';
import type { Fault, NewCampaign, RateLimit, SettingsChanges } from './schemas';

/** Drives a simulator of another process over HTTP; the methods are the simulator's own. */
export class SimulatorControl {
	/** @param origin - the simulator's origin, without a path prefix. */
	constructor(readonly origin: string) {}

	/** The whole state, with the latest `last` campaigns only where that is given. */
	async state(last?: number): Promise<SimulatorState> {
		const query = last === undefined ? '' : `?last=${last}`;
		return await this.call('GET', `state${query}`, simulatorStateSchema);
	}

	/** The requests that are kept, oldest first; those with an ID above `after` where given. */
	async requests(after = 0): Promise<RecordedRequest[]> {
		const schema = z.object({ requests: z.array(recordedRequestSchema) });
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
