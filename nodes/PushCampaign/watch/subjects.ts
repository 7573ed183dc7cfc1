import type { IDataObject } from 'n8n-workflow';

import type { Counters } from '../service/answers';
import { campaignStatusOf, subscriberCount, toRates } from '../service/answers';
import type { Client, Result } from '../service/client';
import { campaignStatusPath, subscriberCountPath } from '../service/rules';

/** A campaign or the site, as the service shows it at one moment. */
export interface Snapshot {
	/** Null for the site, which has no status. */
	readonly status: string | null;
	/** In the order of the item. */
	readonly counters: Counters;
	/** What the trigger's item begins with. */
	readonly fields: IDataObject;
}

/** What a trigger watches: an ID with counters, and perhaps a status. */
export interface Subject {
	/** Reads it once. Never throws. */
	readonly read: (client: Client, id: string, timeoutMs: number) => Promise<Result<Snapshot>>;
	/** The subject of a sentence about `count` of them. */
	readonly describe: (ids: string, count: number) => string;
}

/** Specification, GET status. */
const campaign: Subject = {
	async read(client, id, timeoutMs) {
		const path = campaignStatusPath(id);
		// The message about all campaigns that fail names them.
		const request = { kind: 'poll', path, requestedId: { of: 'campaign' } } as const;
		const result = await client.request(request, campaignStatusOf(id), timeoutMs);
		if (result.kind === 'failed') return result;
		const { notification_status: status, count } = result.value;
		// The most wanted counters come first, so that they are on the screen.
		const { delivered = null, clicked = null, closed = null } = count;
		const counters = { delivered, clicked, closed, ...count };
		const fields = { campaignId: id, status, ...counters, ...toRates(count) };
		return { kind: 'done', value: { status, counters, fields } };
	},
	describe: (ids, count) => (count === 1 ? `Campaign ${ids}` : `Campaigns ${ids}`),
};

/** Specification, GET subscriber_count. */
const site: Subject = {
	async read(client, _id, timeoutMs) {
		const request = { kind: 'poll', path: subscriberCountPath } as const;
		const result = await client.request(request, subscriberCount, timeoutMs);
		if (result.kind === 'failed') return result;
		const { activeSubscribers = null } = result.value;
		const counters = { activeSubscribers, ...result.value };
		return { kind: 'done', value: { status: null, counters, fields: counters } };
	},
	describe: () => 'The subscriber count',
};

export const subjects = { campaign, site };
