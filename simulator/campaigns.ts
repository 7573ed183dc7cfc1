import { z } from 'zod';
import { clickableShare, counterNames, countersAt, counterChangesSchema } from './counters';
import type { CounterChanges } from './counters';
import { audiences, type Audience } from './operations';
import type { WaitingCounters } from './schemas';

/** A campaign as the service keeps it. */
export const campaignSchema = z
	.object({
		/** The campaign ID; a send to one subscriber has none that a client learns, here `sid-…`. */
		id: z.string(),
		audience: z.enum(audiences),
		/** The accepted body. */
		body: z.record(z.unknown()),
		audienceSize: z.number(),
		/** Epoch milliseconds, like `dueAt`, the moment when it is to go out. */
		createdAt: z.number(),
		dueAt: z.number(),
		/** How much older it was made by hand, in milliseconds. */
		agedMs: z.number(),
		/** For how long delivery is attempted, in milliseconds. */
		expiryMs: z.number(),
		/** How fast its counters move; null: as fast as the simulator's. */
		speed: z.number().nullable(),
		/** What `auto_hide` asked for in the operation's own reading; null where it was left out. */
		closesByItself: z.boolean().nullable(),
		/** Set by hand, before what the campaign's life would show. */
		fixedStatus: z.string().nullable(),
		fixedCounters: counterChangesSchema,
		/** Clicks made by hand, beside those of its life. */
		extraClicks: z.number(),
	})
	.readonly();

export type Campaign = z.infer<typeof campaignSchema>;

/** A campaign with what it shows at one moment. */
export const campaignViewSchema = campaignSchema.unwrap().extend({
	status: z.string(),
	counters: counterChangesSchema.required(),
	/** Since it went out, in milliseconds; negative before. */
	elapsedMs: z.number(),
	/** How many of those who have it could still click by hand. */
	clickable: z.number(),
});

export type CampaignView = z.infer<typeof campaignViewSchema>;

export type CampaignDraft = Omit<Campaign, 'id' | 'agedMs' | 'extraClicks'> & {
	readonly id?: string | undefined;
};

/** All that a restart needs. */
export const savedCampaignsSchema = z.object({
	campaigns: z.array(campaignSchema),
	nextId: z.number(),
	nextSubscriberSend: z.number(),
});

type SavedCampaigns = z.infer<typeof savedCampaignsSchema>;

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
	const { audienceSize, expiryMs, extraClicks } = campaign;
	const speed = campaign.speed ?? lifeSpeed;
	const elapsedMs = now + campaign.agedMs - campaign.dueAt;
	const seed = seedOf(campaign.id);
	const living = countersAt({ seed, audienceSize, elapsedMs, expiryMs, speed });
	const sending = speed > 0 && living.total_attempts < audienceSize;
	const label = elapsedMs < 0 ? 'Scheduled' : sending ? 'Sending' : 'Sent';
	const counters = { ...living, clicked: living.clicked + extraClicks };
	for (const name of counterNames) counters[name] = campaign.fixedCounters[name] ?? counters[name];
	const clickable = Math.floor(living.delivered * clickableShare) - extraClicks;
	return {
		...campaign,
		status: campaign.fixedStatus ?? label,
		counters,
		elapsedMs,
		clickable: Math.max(0, clickable),
	};
}

/**
 * A campaign's counters as they are answered; null for none.
 *
 * @param whileWaiting how they are shown before its time where they were not set by hand
 */
export function countOf(
	{ counters, elapsedMs, fixedCounters }: CampaignView,
	whileWaiting: WaitingCounters,
): Record<string, string | null> | null {
	const waiting = elapsedMs < 0 ? whileWaiting : 'zero';
	const count: Record<string, string | null> = {};
	for (const name of counterNames) {
		const isThere = waiting === 'zero' || fixedCounters[name] !== undefined;
		if (isThere) count[name] = String(counters[name]);
		else if (waiting === 'empty') count[name] = '';
		else if (waiting === 'null') count[name] = null;
	}
	return waiting === 'none' && Object.keys(count).length === 0 ? null : count;
}

/** The campaigns, oldest first; beyond `limit` the oldest are forgotten. */
export class Campaigns {
	private readonly byId = new Map<string, Campaign>();
	private nextId = firstCampaignId;
	private nextSubscriberSend = 1;

	/** @param changed - is called after each change */
	constructor(
		private readonly limit: number,
		private readonly changed: () => void,
	) {}

	get all(): ReadonlyMap<string, Campaign> {
		return this.byId;
	}

	/** Keeps a campaign under its ID, or the next one. */
	add({ id, ...draft }: CampaignDraft): Campaign {
		const campaign = { ...draft, id: id ?? this.freeId(draft.audience), agedMs: 0, extraClicks: 0 };
		this.byId.set(campaign.id, campaign);
		for (const oldest of this.byId.keys()) {
			if (this.byId.size <= this.limit) break;
			this.byId.delete(oldest);
		}
		this.changed();
		return campaign;
	}

	/** Fixes counters of a campaign by hand; throws where there is none with this ID. */
	fixCounters(id: string, counters: CounterChanges): void {
		const campaign = this.of(id);
		this.put({ ...campaign, fixedCounters: { ...campaign.fixedCounters, ...counters } });
	}

	/** Has more people click a campaign. */
	click(campaign: Campaign, people: number): void {
		this.put({ ...campaign, extraClicks: campaign.extraClicks + people });
	}

	/** Makes all of them older, by milliseconds. */
	age(ms: number): void {
		for (const campaign of this.byId.values()) {
			this.put({ ...campaign, agedMs: campaign.agedMs + ms });
		}
	}

	/** Whether there was one to remove. */
	remove(id: string): boolean {
		const removed = this.byId.delete(id);
		this.changed();
		return removed;
	}

	clear(): void {
		this.restore({ campaigns: [], nextId: firstCampaignId, nextSubscriberSend: 1 });
		this.changed();
	}

	save(): SavedCampaigns {
		const { nextId, nextSubscriberSend } = this;
		return { campaigns: [...this.byId.values()], nextId, nextSubscriberSend };
	}

	restore({ campaigns, nextId, nextSubscriberSend }: SavedCampaigns): void {
		this.byId.clear();
		for (const campaign of campaigns) this.byId.set(campaign.id, campaign);
		this.nextId = nextId;
		this.nextSubscriberSend = nextSubscriberSend;
	}

	/** The campaign with this ID; throws where there is none. */
	of(id: string): Campaign {
		const campaign = this.byId.get(id);
		if (!campaign) throw new RangeError(`No campaign ${id}`);
		return campaign;
	}

	private put(campaign: Campaign): void {
		this.byId.set(campaign.id, campaign);
		this.changed();
	}

	private freeId(audience: Audience): string {
		if (audience === 'sid') return `sid-${this.nextSubscriberSend++}`;
		while (this.byId.has(String(this.nextId))) this.nextId += 1;
		return String(this.nextId++);
	}
}
