import { counterNames, countersAt, type Counters } from './counters';
import type { JsonObject } from './json';
import type { Audience } from './operations';
import type { CounterChanges } from './schemas';

/** A campaign as the service keeps it. */
export interface Campaign {
	/** The campaign ID; a send to one subscriber has none that a client learns, here `sid-…`. */
	readonly id: string;
	readonly audience: Audience;
	/** The accepted body. */
	readonly body: JsonObject;
	readonly audienceSize: number;
	/** Epoch milliseconds, like `dueAt`, the moment when it goes out. */
	readonly createdAt: number;
	readonly dueAt: number;
	/** For how long delivery is attempted, in milliseconds. */
	readonly expiryMs: number;
	/** What `auto_hide` asked for in the operation's own reading; null where it was left out. */
	readonly closesByItself: boolean | null;
	/** Set by hand, before what the campaign's life would show. */
	readonly fixedStatus: string | null;
	readonly fixedCounters: CounterChanges;
}

/** A campaign with what it shows at one moment. */
export interface CampaignView extends Campaign {
	readonly status: string;
	readonly counters: Counters;
}

export type CampaignDraft = Omit<Campaign, 'id'> & { readonly id?: string | undefined };

const firstCampaignId = 1001;

function seedOf(id: string): number {
	let seed = 17;
	for (const character of id) seed = (Math.imul(seed, 31) + character.charCodeAt(0)) | 0;
	return seed;
}

/**
 * What a campaign shows at `now` (epoch milliseconds). Its labels: `Scheduled` before its time,
 * `Sending` while attempts go on, then `Sent`, the one that the specification shows.
 */
export function viewOf(campaign: Campaign, now: number, lifeSpeed: number): CampaignView {
	const living = countersAt({
		seed: seedOf(campaign.id),
		audienceSize: campaign.audienceSize,
		elapsedMs: now - campaign.dueAt,
		expiryMs: campaign.expiryMs,
		speed: lifeSpeed,
	});
	const sending = lifeSpeed > 0 && living.total_attempts < campaign.audienceSize;
	const label = now < campaign.dueAt ? 'Scheduled' : sending ? 'Sending' : 'Sent';
	const counters = { ...living };
	for (const name of counterNames) counters[name] = campaign.fixedCounters[name] ?? living[name];
	return {
		...campaign,
		status: campaign.fixedStatus ?? label,
		counters,
	};
}

/** The campaigns, oldest first; beyond `limit` the oldest are forgotten. */
export class Campaigns {
	private readonly byId = new Map<string, Campaign>();
	private nextId = firstCampaignId;
	private nextSubscriberSend = 1;

	constructor(private readonly limit: number) {}

	get all(): ReadonlyMap<string, Campaign> {
		return this.byId;
	}

	/** Keeps a campaign under its ID, or the next one. */
	add({ id, ...draft }: CampaignDraft): Campaign {
		const campaign: Campaign = { ...draft, id: id ?? this.freeId(draft.audience) };
		this.byId.set(campaign.id, campaign);
		for (const oldest of this.byId.keys()) {
			if (this.byId.size <= this.limit) break;
			this.byId.delete(oldest);
		}
		return campaign;
	}

	/** Fixes counters of a campaign by hand; throws where there is none with this ID. */
	fixCounters(id: string, counters: CounterChanges): void {
		const campaign = this.byId.get(id);
		if (!campaign) throw new RangeError(`No campaign ${id}`);
		const fixedCounters = { ...campaign.fixedCounters, ...counters };
		this.byId.set(id, { ...campaign, fixedCounters });
	}

	/** Whether there was one to remove. */
	remove(id: string): boolean {
		return this.byId.delete(id);
	}

	clear(): void {
		this.byId.clear();
		this.nextId = firstCampaignId;
		this.nextSubscriberSend = 1;
	}

	private freeId(audience: Audience): string {
		if (audience === 'sid') return `sid-${this.nextSubscriberSend++}`;
		while (this.byId.has(String(this.nextId))) this.nextId += 1;
		return String(this.nextId++);
	}
}
