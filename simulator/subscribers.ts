import { isJsonObject, type JsonObject } from './json';
import type { Audience } from './operations';

/** The active subscribers have the IDs from here on, without a gap. */
export const firstSubscriberId = 5001;

/** A subscriber whose ID is no exact JSON number (2^53 + 1), so that tests see whether digits get lost. */
const longSubscriberId = '9007199254740993';

/** How many of the active subscribers are in some segments. */
export const segmentShares = new Map([
	['101', 0.25],
	['102', 0.05],
	['105', 0.05],
	['110', 0.9],
]);

/** How many are in any other segment, or have any attribute. */
const otherShare = 0.1;

/** Whether one of so many active subscribers has this ID. */
export function isSubscriber(id: string, active: number): boolean {
	if (id === longSubscriberId) return true;
	if (!/^[1-9]\d{0,14}$/.test(id)) return false;
	const index = Number(id) - firstSubscriberId;
	return index >= 0 && index < active;
}

/** How many of the active subscribers an audience has; one of its segments or attributes is enough. */
export function audienceSizeOf(audience: Audience, body: JsonObject, active: number): number {
	if (audience === 'sid') return 1;
	if (audience === 'all') return active;
	const { segment, attribute } = body;
	const segments = Array.isArray(segment) ? segment.map(String) : [];
	const attributes = Object.keys(isJsonObject(attribute) ? attribute : {});
	const shares = [...segments, ...attributes].map(
		(label) => segmentShares.get(label) ?? otherShare,
	);
	const missed = shares.reduce((left, share) => left * (1 - share), 1);
	return Math.round(active * (1 - missed));
}
