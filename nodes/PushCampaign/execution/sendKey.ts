import { DateTime } from 'luxon';
import type { IExecuteFunctions } from 'n8n-workflow';
import { z } from 'zod/v3';

import type { PreparedSend } from '../operations/operation';
import { requireTimezone } from '../operations/timing';
import { digest } from '../send/digest';
import { readsItemAlone } from './template';

/** What a send is sent once under. */
export interface SendKey {
	readonly text: string;
	/** Whether this node made it for Send Only Once. Otherwise a user entered it. */
	readonly isMade: boolean;
	/** Whether a Retry of the execution certainly gives it to the same send, on another day too. */
	readonly isStable: boolean;
}

/** What is read of the parameters of a node. */
const written = z.object({ options: z.object({ idempotencyKey: z.unknown() }).optional() });

/**
 * Returns the keys of the sends of a run. Send Only Once makes a key of the site, the audience and everything that is
 * sent, and with Once a Day of the day on which the run began: equal items have equal keys, also at midnight.
 * @returns a function that throws InvalidInput if the day is needed and the workflow's timezone is not known
 */
export function keysFor(
	context: IExecuteFunctions,
): (send: PreparedSend, site: string) => SendKey | undefined {
	const began = Date.now();
	const { parameters } = context.getNode();
	const isEnteredStable = readsItemAlone(
		written.safeParse(parameters).data?.options?.idempotencyKey,
	);
	const isMadeStable = readsItemAlone(parameters);

	function today(): string | null {
		const zone = requireTimezone(context.getTimezone());
		return DateTime.fromMillis(began, { zone }).toISODate();
	}

	return ({ options: { idempotencyKey, sendOnce }, recipients, notification }, site) => {
		if (idempotencyKey !== undefined) {
			return { text: idempotencyKey, isMade: false, isStable: isEnteredStable };
		}
		if (sendOnce === undefined) return undefined;
		const day = sendOnce === 'perDay' ? today() : 'ever';
		const text = `Send Only Once ${digest([site, recipients, notification, day])}`;
		return { text, isMade: true, isStable: sendOnce === 'ever' && isMadeStable };
	};
}
