import { z } from 'zod';
import { simulatorStateSchema, type SimulatorState } from './options';
import { recordedRequestSchema, type RecordedRequest } from './recorder';
import type { Fault, NewCampaign, RateLimit, SettingsChanges } from './schemas';

/** Drives a simulator of another process over HTTP; the methods are the simulator's own. */
export class SimulatorControl {
	/** @param origin - the simulator's origin, without a path prefix. */
	constructor(readonly origin: string) {}

	/** The whole state, with the latest `last` campaigns only where that is given. */
	async state(...last: number[]): Promise<SimulatorState> {
		return simulatorStateSchema.parse(await this.call('state', ...last));
	}

	/** The requests that are kept, oldest first. */
	async requests(): Promise<RecordedRequest[]> {
		return z.array(recordedRequestSchema).parse(await this.call('requests'));
	}

	async clearRequests(): Promise<void> {
		await this.call('clearRequests');
	}

	async addFault(fault: Fault): Promise<number> {
		return z.number().parse(await this.call('addFault', fault));
	}

	async addCampaign(campaign: NewCampaign = {}): Promise<string> {
		return z.string().parse(await this.call('addCampaign', campaign));
	}

	async configure(changes: SettingsChanges): Promise<void> {
		await this.call('configure', changes);
	}

	async setRateLimit(rateLimit: RateLimit | undefined): Promise<void> {
		await this.configure({ rateLimit: rateLimit ?? null });
	}

	async setLatency(latencyMs: number): Promise<void> {
		await this.configure({ latencyMs });
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
