import { createHash } from 'node:crypto';
import { z } from 'zod';
import { audiences, type Audience } from './operations';
import { audienceSizeOf } from './subscribers';

/** The delivery counters, named as the service names them. */
export const counterNames = [
	'total_attempts',
	'successfully_sent',
	'failed_to_send',
	'delivered',
	'clicked',
	'closed',
] as const;

export type Counters = Record<(typeof counterNames)[number], number>;

/** Counters that are set by hand; the others grow. Any whole number: tests need odd ones. */
const fixedCountersSchema = z.record(z.enum(counterNames), z.number().int());

export type FixedCounters = z.infer<typeof fixedCountersSchema>;

/** A campaign as the service keeps it. */
export const campaignSchema = z.object({
	/** A send to one subscriber has an ID here, `sid-1` and up, which no client learns. */
	id: z.string(),
	audience: z.enum(audiences),
	/** As it was accepted. */
	body: z.record(z.unknown()),
	audienceSize: z.number(),
	/** Epoch milliseconds. */
	createdAt: z.number(),
	/** When it goes out, epoch milliseconds. */
	dueAt: z.number(),
	/** How fast its counters grow; if it is left out, as fast as all others. */
	speed: z.number().optional(),
	/** In place of the status that it would have. */
	status: z.string().optional(),
	counters: fixedCountersSchema,
	/** Clicks that were made by hand. */
	extraClicks: z.number(),
});

export type Campaign = z.infer<typeof campaignSchema>;

/** A campaign that is there without having been sent; what is left out is as usual. */
export type NewCampaign = Partial<Omit<Campaign, 'createdAt' | 'extraClicks'>>;

/** A campaign with what it shows at one moment. */
export interface CampaignView extends Campaign {
	readonly status: string;
	readonly counters: Counters;
	readonly isWaiting: boolean;
	/** How many of those who have it could still click by hand. */
	readonly clickable: number;
}

// At speed 1, for somebody who watches: attempts take seconds, most deliveries a minute or two, and clicks
// trickle in for ten minutes.
const attemptsTakeMs = 6_000;
const deliveryPaceMs = 25_000;
const closePaceMs = 80_000;
const clickPaceMs = 120_000;

/** The share of those who have a campaign that neither click nor close it in its own time: 1 - 0.16 - 0.6. */
const clickableShare = 0.24;

/** The counters of a campaign that began to go out so long ago. They add up at any age, and none ever falls. */
export function countersAt(campaignId: string, audienceSize: number, ageMs: number): Counters {
	const seed = createHash('sha256').update(campaignId).digest();
	// From one campaign to the next the rates differ.
	const rate = (index: number, least: number, spread: number) =>
		least + (spread * seed.readUInt8(index)) / 256;
	const grown = (paceMs: number) => 1 - Math.exp(-ageMs / paceMs);
	const attempts = Math.floor(audienceSize * Math.min(1, ageMs / attemptsTakeMs));
	const failed = Math.floor(attempts * rate(0, 0.01, 0.04));
	const sent = attempts - failed;
	const delivered = Math.round(sent * rate(1, 0.82, 0.15) * grown(deliveryPaceMs));
	return {
		total_attempts: attempts,
		successfully_sent: sent,
		failed_to_send: failed,
		delivered,
		clicked: Math.floor(delivered * rate(2, 0.04, 0.12) * grown(clickPaceMs)),
		closed: Math.floor(delivered * rate(3, 0.3, 0.3) * grown(closePaceMs)),
	};
}

/**
 * What a campaign shows at `now` (epoch milliseconds). The specification shows one status, `Sent`; here it is
 * `Scheduled` before its time and `Sending` while attempts are made.
 */
export function viewOf(campaign: Campaign, now: number, speedOfAll: number): CampaignView {
	const { id, audienceSize, dueAt, extraClicks, speed = speedOfAll } = campaign;
	const isWaiting = now < dueAt;
	const grown = countersAt(id, audienceSize, Math.max(0, now - dueAt) * speed);
	const isSending = speed > 0 && grown.total_attempts < audienceSize;
	const label = isWaiting ? 'Scheduled' : isSending ? 'Sending' : 'Sent';
	const clicked = grown.clicked + extraClicks;
	return {
		...campaign,
		status: campaign.status ?? label,
		counters: { ...grown, clicked, ...campaign.counters },
		isWaiting,
		clickable: Math.max(0, Math.floor(grown.delivered * clickableShare) - extraClicks),
	};
}

/** The campaigns by ID, oldest first. IDs begin with 1001, those of sends to one subscriber with `sid-1`. */
export class Campaigns {
	readonly byId = new Map<string, Campaign>();
	private nextId = 1001;
	private nextSubscriberSend = 1;

	/**
	 * Keeps a campaign; gives its ID.
	 *
	 * @param now epoch milliseconds
	 * @param active how many subscribers there are
	 */
	add(campaign: NewCampaign, now: number, active: number): string {
		const { audience = 'all', body = {}, speed, status, counters = {} } = campaign;
		const id = campaign.id ?? this.freeId(audience);
		const audienceSize = campaign.audienceSize ?? audienceSizeOf(audience, body, active);
		const times = { createdAt: now, dueAt: campaign.dueAt ?? now };
		const shown = { speed, status, counters, extraClicks: 0 };
		this.byId.set(id, { id, audience, body, audienceSize, ...times, ...shown });
		return id;
	}

	/** The campaign with this ID; throws a RangeError if there is none. */
	find(id: string): Campaign {
		const campaign = this.byId.get(id);
		if (!campaign) throw new RangeError(`No campaign ${id}`);
		return campaign;
	}

	private freeId(audience: Audience): string {
		const next = () =>
			audience === 'sid' ? `sid-${this.nextSubscriberSend++}` : String(this.nextId++);
		let id = next();
		while (this.byId.has(id)) id = next();
		return id;
	}
}
