import type { IDataObject } from 'n8n-workflow';
import type { Reading } from '../../../nodes/PushCampaign/trigger/compare';

/** By how much the numbers in an item have moved, of those that are watched and known. */
export function movesIn(item: IDataObject): Record<string, number> {
	const moves: Record<string, number> = {};
	for (const [name, by] of Object.entries(item)) {
		if (name.endsWith('By') && typeof by === 'number') moves[name.slice(0, -'By'.length)] = by;
	}
	return moves;
}

/** A campaign as a poll reads it. */
export const readingOf = (
	counters: Reading['counters'],
	{ id = '1001', status = 'Sent' }: { readonly id?: string; readonly status?: string | null } = {},
): Reading => ({ id, status, counters, rates: {}, observedAt: 0 });
