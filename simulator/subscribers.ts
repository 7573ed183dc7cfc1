import { isJsonObject, type JsonObject } from './json';
import type { Audience } from './operations';

const firstSubscriberId = 5001;
/** 2^53 + 1. */
const longSubscriberId = '9007199254740993';

/** The fraction of all subscribers that one tag or segment reaches, the same each time. */
function reachOf(label: string): number {
	let hash = 7;
	for (const character of label) {
		hash = (Math.imul(hash, 31) + (character.codePointAt(0) ?? 0)) >>> 0;
	}
	return 0.03 + (hash % 1000) / 4000;
}

/** The subscribers of the site: 5001 and up, as many as are active, and one whom no JSON number names. */
export class Subscribers {
	/** @param active - gives how many are active. */
	constructor(private readonly active: () => number) {}

	/** Whether a subscriber has exactly this ID. */
	has(id: string): boolean {
		if (id === longSubscriberId) return true;
		if (!/^[1-9]\d{0,14}$/.test(id)) return false;
		const index = Number(id) - firstSubscriberId;
		return index >= 0 && index < this.active();
	}

	/** How many subscribers an audience has: any of its tags or segments is enough. */
	audienceSize(audience: Audience, { segment, attribute }: JsonObject): number {
		if (audience === 'sid') return 1;
		if (audience === 'all') return this.active();
		const segments = Array.isArray(segment) ? segment.map(String) : [];
		const tags = Object.entries(isJsonObject(attribute) ? attribute : {});
		const labels = new Set([...segments, ...tags.map(([key, value]) => `${key}=${String(value)}`)]);
		let missed = 1;
		for (const label of labels) missed *= 1 - reachOf(label);
		return Math.round(this.active() * (1 - missed));
	}
}
