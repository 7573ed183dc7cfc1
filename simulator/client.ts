import { z } from 'zod';
import { campaignSchema } from './campaigns';
import type { Fault, NewCampaign, SettingsChanges } from './schemas';

const stateSchema = z.object({
	requestCount: z.number(),
	campaignCount: z.number(),
	campaigns: z.array(campaignSchema),
});
const requestSchema = z.object({
	at: z.number(),
	answered: z.object({ at: z.number() }).nullable(),
});

/** Drives a simulator of another process over HTTP; the methods are the simulator's own. */
export class SimulatorControl {
	private readonly origin: string;

	/** @param url - an address of the simulator. */
	constructor(url: string) {
		this.origin = new URL(url).origin;
	}

	/** Counts and campaigns, with the latest `last` campaigns only where that is given. */
	async state(...last: number[]) {
		return stateSchema.parse(await this.call('state', ...last));
	}

	/** When the requests that are kept came and were answered, oldest first; epoch milliseconds. */
	async requests() {
		return z.array(requestSchema).parse(await this.call('requests'));
	}

	async clearRequests(): Promise<void> {
		await this.call('clearRequests');
	}

	async addFault(fault: Fault): Promise<void> {
		await this.call('addFault', fault);
	}

	/** Gives the campaign's ID. */
	async addCampaign(campaign: NewCampaign = {}): Promise<string> {
		return z.string().parse(await this.call('addCampaign', campaign));
	}

	async configure(changes: SettingsChanges): Promise<void> {
		await this.call('configure', changes);
	}

	async reset(): Promise<void> {
		await this.call('reset');
	}

	private async call(method: string, ...args: unknown[]): Promise<unknown> {
		const response = await fetch(`${this.origin}/_simulator/${method}`, {
			method: 'POST',
			body: JSON.stringify(args),
			signal: AbortSignal.timeout(30_000),
		});
		const text = await response.text();
		if (!response.ok) throw new Error(`${method}: ${response.status} ${text}`);
		return z.object({ result: z.unknown() }).parse(JSON.parse(text)).result;
	}
}
