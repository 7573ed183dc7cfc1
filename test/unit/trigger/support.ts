import type { IDataObject } from 'n8n-workflow';
import { z } from 'zod';
import type { Reading } from '../../../nodes/PushCampaign/trigger/compare';

const changesSchema = z.record(
	z.string(),
	z.object({
		from: z.union([z.number(), z.string(), z.null()]),
		to: z.union([z.number(), z.string()]),
		by: z.number().optional(),
	}),
);

/** The changes in an item. */
export const changesIn = ({ changes }: IDataObject) => changesSchema.parse(changes);

/** A campaign as a poll reads it. */
export const readingOf = (
	counters: Reading['counters'],
	{ id = '1001', status = 'Sent' }: { readonly id?: string; readonly status?: string | null } = {},
): Reading => ({
	id,
	status,
	counters,
	head: { campaignId: id, status },
	numbers: { ...counters },
	observedAt: 0,
});
