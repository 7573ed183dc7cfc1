import { z } from 'zod/v3';

import { explain, reasons } from '../../service/failures';
import { failureCauses } from '../../service/failureWords';
import { parseJson } from '../../service/json';
import type { SendKind } from '../../service/kinds';
import type { SendAttempt, SendOutcome } from '../sendOutcome';
import { alreadySent, notRequested } from '../sendOutcome';

// Executions that n8n saved with one version of this package are retried with the next: what is written here
// must be readable for good.

const savedProblem = z.object({
	type: z.string(),
	outcome: z.literal('unknown'),
	message: z.string(),
	description: z.string(),
	httpCode: z.string().optional(),
	cause: z.enum(failureCauses),
});

const optionalText = z.string().nullable();
/**
 * How a send ended, as n8n saves it:
 *
 * | first     | then                                                                                                |
 * | --------- | --------------------------------------------------------------------------------------------------- |
 * | `sent`    | source, description, campaign ID, schedule; no description if its answer is lost                    |
 * | `unknown` | source, the reason as JSON, the IDs of the executions that left it so, the digest of its key        |
 *
 * Lists and not objects: n8n saves a text that occurs more than once only once, and names would be saved each time.
 */
const savedSend = z.union([
	z.tuple([z.literal('sent'), optionalText, optionalText, optionalText, optionalText]),
	z.tuple([z.literal('unknown'), optionalText, z.string(), z.array(z.string()), optionalText]),
]);
export type SavedSend = z.infer<typeof savedSend>;

export const savedLedger = z.object({
	id: z.string(),
	/** By position and content. */
	sends: z.record(z.string(), savedSend),
});
export type SavedLedger = z.infer<typeof savedLedger>;

/** What is saved of a send beside its outcome. */
interface SendDetails {
	readonly source: string | null;
	readonly key: string | null;
	readonly executionIds: string[];
}

/** What is to be saved of a send; nothing of one that did not happen here. */
export function pack(
	outcome: SendAttempt,
	{ source, key, executionIds }: SendDetails,
): SavedSend | undefined {
	if (outcome.kind === 'done' && outcome.value !== 'alreadySent') {
		const { description, campaignId = null, sendAt = null } = outcome.value;
		return ['sent', source, description, campaignId, sendAt];
	}
	if (outcome.kind === 'failed' && outcome.problem.outcome === 'unknown') {
		return ['unknown', source, JSON.stringify(outcome.problem), executionIds, key];
	}
	return undefined;
}

/** How a send of this kind ended that was saved. */
export function unpack(send: SavedSend, kind: SendKind): SendOutcome {
	if (send[0] === 'unknown') {
		const { data } = savedProblem.safeParse(parseJson(send[2]));
		const problem = data ?? explain(reasons.canceled, kind, send[4] !== null);
		return notRequested({ kind: 'failed', problem });
	}
	const [, , description, campaignId, sendAt] = send;
	if (description === null) return alreadySent;
	const value = {
		description,
		campaignId: campaignId ?? undefined,
		sendAt: sendAt ?? undefined,
	};
	return notRequested({ kind: 'done', value });
}
