import { z } from 'zod';

/** The delivery counters of a campaign, named as the service names them. */
export const counterNames = [
	'total_attempts',
	'successfully_sent',
	'failed_to_send',
	'delivered',
	'clicked',
	'closed',
] as const;

export type CounterName = (typeof counterNames)[number];
export type Counters = Record<CounterName, number>;

/** Counters set by hand; those left out go on living. Any whole number: tests need odd ones. */
export const counterChangesSchema = z.record(z.enum(counterNames), z.number().int());

export type CounterChanges = z.infer<typeof counterChangesSchema>;

/** What the life of a campaign's counters depends on. */
interface CampaignLife {
	/** Makes one campaign's rates differ from another's; the same seed gives the same life. */
	readonly seed: number;
	readonly audienceSize: number;
	/** Since the campaign went out, in milliseconds; negative before. */
	readonly elapsedMs: number;
	/** For how long delivery is attempted, in milliseconds. */
	readonly expiryMs: number;
	/** 1 is a life of a few minutes, 60 one of a few seconds, 0 stands still. */
	readonly speed: number;
}

// In milliseconds at speed 1, chosen for someone who watches: attempts are made within seconds,
// most deliveries within a minute or two, clicks trickle in for some ten minutes.
const attemptsTakeMs = 6_000;
const deliveryPaceMs = 25_000;
const clickPaceMs = 120_000;
const closePaceMs = 80_000;

/** The share of what is delivered that a campaign's life neither clicks nor closes: 1 - 0.16 - 0.6. */
export const clickableShare = 0.24;

/** A whole number that depends on a text alone. */
export function hashOf(text: string): number {
	let hash = 17;
	for (const character of text) hash = (Math.imul(hash, 31) + character.charCodeAt(0)) | 0;
	return hash;
}

/** A number in [0, 1) that depends on the seed and the purpose alone. */
export function shareOf(seed: number, purpose: number): number {
	let hash = Math.imul(seed ^ (purpose * 0x9e3779b1), 0x85ebca6b);
	hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
	return ((hash ^ (hash >>> 16)) >>> 0) / 2 ** 32;
}

const saturating = (ms: number, paceMs: number): number => 1 - Math.exp(-ms / paceMs);

/**
 * The counters of a campaign at one moment. At any moment attempts = sent + failed,
 * delivered ≤ sent and clicked + closed ≤ delivered; with growing time none ever falls.
 */
export function countersAt(life: CampaignLife): Counters {
	const { seed, audienceSize } = life;
	const age = Math.max(0, life.elapsedMs) * life.speed;
	const deliveryAge = Math.min(Math.max(0, life.elapsedMs), life.expiryMs) * life.speed;

	const failRate = 0.01 + 0.04 * shareOf(seed, 1);
	const deliveryRate = 0.82 + 0.15 * shareOf(seed, 2);
	const clickRate = 0.04 + 0.12 * shareOf(seed, 3);
	const closeRate = 0.3 + 0.3 * shareOf(seed, 4);

	const attempts = Math.floor(audienceSize * Math.min(1, age / attemptsTakeMs));
	const failed = Math.floor(attempts * failRate);
	const sent = attempts - failed;
	const delivered = Math.round(sent * deliveryRate * saturating(deliveryAge, deliveryPaceMs));
	const clicked = Math.floor(delivered * clickRate * saturating(age, clickPaceMs));
	const closed = Math.floor(delivered * closeRate * saturating(age, closePaceMs));
	return {
		total_attempts: attempts,
		successfully_sent: sent,
		failed_to_send: failed,
		delivered,
		clicked,
		closed,
	};
}
