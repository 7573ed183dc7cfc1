import { DateTime } from 'luxon';
import type { IExecuteFunctions } from 'n8n-workflow';

import type { PreparedSend } from '../operations/operation';
import { requireTimezone } from '../operations/timing';
import { digest } from '../send/digest';

/** What a send is sent once under. */
export interface SendKey {
	readonly text: string;
	/** Whether this node made it for Send Only Once. Otherwise a user entered it. */
	readonly isMade: boolean;
	/** Whether the same send has another key on another day. */
	readonly isDaily: boolean;
}

/**
 * Gives the keys of the sends of a run. What Send Only Once makes is of the site, of the content as it was entered,
 * the audience among it, and with Once a Day of the day on which the run began: equal items have equal keys, also at
 * midnight.
 * @returns a function that throws InvalidInput if the day is needed and the workflow's timezone is not known
 */
export function keysFor(
	context: IExecuteFunctions,
): (send: PreparedSend, site: string) => SendKey | undefined {
	const began = Date.now();

	function today(): string | null {
		const zone = requireTimezone(context.getTimezone());
		return DateTime.fromMillis(began, { zone }).toISODate();
	}

	return ({ options: { idempotencyKey, sendOnce }, content }, site) => {
		if (idempotencyKey !== undefined) {
			return { text: idempotencyKey, isMade: false, isDaily: false };
		}
		if (sendOnce === undefined) return undefined;
		const isDaily = sendOnce === 'perDay';
		const text = `Send Only Once ${digest([site, content, isDaily ? today() : 'ever'])}`;
		return { text, isMade: true, isDaily };
	};
}
