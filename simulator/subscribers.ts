import { isJsonObject, type JsonObject } from './json';
import type { Audience } from './operations';

const firstSubscriberId = 5001;

/** The fraction of all subscribers that one tag or segment reaches, the same each time. */
function reachOf(label: string): number {
	let hash = 7;
	for (const character of label) {
		hash = (Math.imul(hash, 31) + (character.codePointAt(0) ?? 0)) >>> 0;
	}
	return 0.03 + (hash % 1000) / 4000;
}

/** The subscribers of the site: 5001 and up, as many as are active, and those added. */
export class Subscribers {
	private readonly added = new Set<string>();

	constructor(
		public active: number,
		public lifetime: number,
	) {}

	/** Adds subscribers by their IDs, however long. */
	add(ids: readonly string[]): void {
		for (const id of ids) this.added.add(id);
	}

	forgetAdded(): void {
		this.added.clear();
	}

	/** Whether a subscriber has exactly this ID. */
	has(id: string): boolean {
		if (this.added.has(id)) return true;
		if (!/^[1-9]\d{0,14}$/.test(id)) return false;
		const number = Number(id);
		return number >= firstSubscriberId && number < firstSubscriberId + this.active;
	}

	/** How many subscribers an audience has: any of its tags or segments is enough. */
	audienceSize(audience: Audience, body: JsonObject): number {
		if (audience === 'sid') return 1;
		if (audience === 'all') return this.active;
		const missed = this.labels(body).reduce((share, label) => share * (1 - reachOf(label)), 1);
		return Math.round(this.active * (1 - missed));
	}

	private labels(body: JsonObject): string[] {
		const segments: unknown = body['segment'];
		if (Array.isArray(segments)) return [...new Set(segments.map(String))];
		const attributes = body['attribute'];
		if (!isJsonObject(attributes)) return [];
		return Object.entries(attributes).map(([key, value]) => `${key}=${String(value)}`);
	}
}
