import { plainId } from './campaigns';
import { hashOf, shareOf } from './counters';
import { isJsonObject, type JsonObject } from './json';
import type { Audience } from './operations';

const firstSubscriberId = 5001;
/** 2^53 + 1: no JSON number is exactly this ID. */
const longSubscriberId = '9007199254740993';

/** Whether a subscriber has this ID: 5001 and up, as many as are active. */
export function isSubscriber(id: string, active: number): boolean {
	const plain = plainId(id);
	if (plain === longSubscriberId) return true;
	if (!/^[1-9]\d{0,14}$/.test(plain)) return false;
	const index = Number(plain) - firstSubscriberId;
	return index >= 0 && index < active;
}

/** How many subscribers an audience has: any of its tags or segments is enough. */
export function audienceSizeOf(
	audience: Audience,
	{ segment, attribute }: JsonObject,
	active: number,
): number {
	if (audience === 'sid') return 1;
	if (audience === 'all') return active;
	const segments = Array.isArray(segment) ? segment.map(String) : [];
	const tags = Object.entries(isJsonObject(attribute) ? attribute : {});
	const labels = new Set([...segments, ...tags.map(([key, value]) => `${key}=${String(value)}`)]);
	let missed = 1;
	// One tag or segment reaches the same fraction of all subscribers each time: 3 to 28 %.
	for (const label of labels) missed *= 0.97 - shareOf(hashOf(label), 0) / 4;
	return Math.round(active * (1 - missed));
}
