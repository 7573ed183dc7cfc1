import type { IDataObject } from 'n8n-workflow';
import { z } from 'zod';
import type { Observation } from '../../../nodes/PushCampaign/watch/compare';

const changesSchema = z.record(
	z.object({
		from: z.union([z.number(), z.string(), z.null()]),
		to: z.union([z.number(), z.string()]),
		by: z.number().optional(),
	}),
);

/** The changes that an item tells of. */
export const changesIn = ({ changes }: IDataObject) => changesSchema.parse(changes);

export const idIn = ({ campaignId }: IDataObject) => z.string().parse(campaignId);

/** A campaign as a poll reads it. */
export const observationOf = (
	counters: Observation['counters'],
	{ id = '1001', status = 'Sent' }: { readonly id?: string; readonly status?: string | null } = {},
): Observation => ({
	id,
	status,
	counters,
	fields: { campaignId: id, status, ...counters },
	observedAt: 0,
});
