import { z } from 'zod';
import { clickableShare, counterChangesSchema, counterNames, countersAt, hashOf } from './counters';
import type { Counters } from './counters';
import { audiences, type Audience } from './operations';
import type { WaitingCounters } from './schemas';

/** A campaign as the service keeps it. */
export const campaignSchema = z.object({
	/** The campaign ID; a send to one subscriber has none that a client learns, here `sid-…`. */
	id: z.string(),
	audience: z.enum(audiences),
	/** The accepted body. */
	body: z.record(z.unknown()),
	audienceSize: z.number(),
	/** Epoch milliseconds, like `dueAt`, the moment when it is to go out. */
	createdAt: z.number(),
	dueAt: z.number(),
	/** For how long delivery is attempted, in milliseconds. */
	expiryMs: z.number(),
	/** How fast its counters move; null: as fast as the simulator's. */
	speed: z.number().nullable(),
	/** What `auto_hide` asked for in the operation's own reading; null where it was left out. */
	closesByItself: z.boolean().nullable(),
	/** Set by hand; overrides what the campaign's life would show. */
	fixedStatus: z.string().nullable(),
	fixedCounters: counterChangesSchema,
	/** Clicks made by hand, in addition to those of its life. */
	extraClicks: z.number(),
});

export type Campaign = Readonly<z.infer<typeof campaignSchema>>;

/** A campaign with what it shows at one moment. */
export interface CampaignView extends Campaign {
	readonly status: string;
	readonly counters: Counters;
	/** Since it went out, in milliseconds; negative before. */
	readonly elapsedMs: number;
	/** How many of those who have it could still click by hand. */
	readonly clickable: number;
}

/** What the next start needs. */
export const savedCampaignsSchema = z.object({
	campaigns: z.array(campaignSchema),
	nextId: z.number(),
	nextSubscriberSend: z.number(),
});

type SavedCampaigns = z.infer<typeof savedCampaignsSchema>;

/**
 * What a campaign shows at `now` (epoch milliseconds). Its labels: `Scheduled` before its time,
 * `Sending` while attempts go on, then `Sent`, the one that the specification shows.
 */
export function viewOf(campaign: Campaign, now: number, lifeSpeed: number): CampaignView {
	const { id, audienceSize, expiryMs, extraClicks } = campaign;
	const speed = campaign.speed ?? lifeSpeed;
	const elapsedMs = now - campaign.dueAt;
	const living = countersAt({ seed: hashOf(id), audienceSize, elapsedMs, expiryMs, speed });
	const sending = speed > 0 && living.total_attempts < audienceSize;
	const label = elapsedMs < 0 ? 'Scheduled' : sending ? 'Sending' : 'Sent';
	const clicked = living.clicked + extraClicks;
	return {
		...campaign,
		status: campaign.fixedStatus ?? label,
		counters: { ...living, clicked, ...campaign.fixedCounters },
		elapsedMs,
		clickable: Math.max(0, Math.floor(living.delivered * clickableShare) - extraClicks),
	};
}

/**
 * A campaign's counters as they are answered.
 *
 * @param whileWaiting how they are shown before its time where they were not set by hand
 */
export function countOf(
	{ counters, elapsedMs, fixedCounters }: CampaignView,
	whileWaiting: WaitingCounters,
): Record<string, string | null> {
	const isNull = elapsedMs < 0 && whileWaiting === 'null';
	const count: Record<string, string | null> = {};
	for (const name of counterNames) {
		const isHidden = isNull && fixedCounters[name] === undefined;
		count[name] = isHidden ? null : String(counters[name]);
	}
	return count;
}

/** An ID as the service writes it: a whole number has no leading zeros, so `0012` is `12`. */
export const plainId = (id: string) => (/^\d+$/.test(id) ? id.replace(/^0+(?=\d)/, '') : id);

const mostKept = 50_000;

/** The campaigns, oldest first; beyond 50,000 the oldest are forgotten. */
export class Campaigns {
	private readonly byId = new Map<string, Campaign>();
	private nextId = 1001;
	private nextSubscriberSend = 1;

	get all(): ReadonlyMap<string, Campaign> {
		return this.byId;
	}

	/** Keeps a campaign under its ID, or the next one; gives the ID. */
	add(draft: Omit<Campaign, 'id'>, id = this.freeId(draft.audience)): string {
		this.byId.set(id, { ...draft, id });
		const [oldest] = this.byId.keys();
		if (this.byId.size > mostKept && oldest !== undefined) this.byId.delete(oldest);
		return id;
	}

	/** The campaign with this ID; throws where there is none. */
	of(id: string): Campaign {
		const campaign = this.byId.get(id);
		if (!campaign) throw new RangeError(`No campaign ${id}`);
		return campaign;
	}

	/** Changes a campaign; throws where there is none with this ID. */
	change(id: string, changes: Partial<Campaign>): void {
		this.byId.set(id, { ...this.of(id), ...changes });
	}

	/** Whether there was one to remove. */
	remove(id: string): boolean {
		return this.byId.delete(id);
	}

	clear(): void {
		this.restore({ campaigns: [], nextId: 1001, nextSubscriberSend: 1 });
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

	private freeId(audience: Audience): string {
		if (audience === 'sid') return `sid-${this.nextSubscriberSend++}`;
		while (this.byId.has(String(this.nextId))) this.nextId += 1;
		return String(this.nextId++);
	}
}
