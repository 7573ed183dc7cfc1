import { IANAZone } from 'luxon';
import type { INodeProperties } from 'n8n-workflow';

import { minimumLeadMinutes } from '../service/rules';
import type { Schedule } from '../service/schedule';
import { parseSchedule } from '../service/schedule';
import type { Fields } from './parameters';
import { invalid, isBlank } from './parameters';

export const sendAt = {
	displayName: 'Send At',
	name: 'sendAt',
	type: 'dateTime',
	default: '',
	description: `When to send, at least ${minimumLeadMinutes} minutes ahead. Without an offset the date is read in Send At Timezone, or else in the timezone of the workflow. Seconds are rounded up to the next minute.`,
} as const satisfies INodeProperties;

export const sendAtTimezone = {
	displayName: 'Send At Timezone',
	name: 'sendAtTimezone',
	type: 'string',
	default: '',
	placeholder: 'e.g. Europe/Berlin',
	description:
		'Where the clock of Send At hangs, by its IANA name. Left out, it is the timezone of the workflow. A date with an offset of its own is read as it is.',
} as const satisfies INodeProperties;

/**
 * Reads the timezone of Send At. A wrong or forgotten one must not move the moment of sending.
 * @param workflowTimezone where none was given
 */
function readTimezone(fields: Fields, workflowTimezone: string): string {
	const { displayName, name } = sendAtTimezone;
	if (!(name in fields)) return workflowTimezone;
	if (!(sendAt.name in fields)) {
		throw invalid(
			displayName,
			'is there without Send At',
			`Add Send At, or remove ${displayName} from the additional fields to send at once.`,
		);
	}
	const given = fields[name];
	if (isBlank(given)) {
		throw invalid(
			displayName,
			'is empty',
			`Enter a name such as Europe/Berlin, or remove ${displayName} from the additional fields to use the timezone of the workflow.`,
		);
	}
	const timezone = typeof given === 'string' ? given.trim() : '';
	// Newer versions of Node.js take an offset for a name, older ones don't.
	if (!/^[+-]/.test(timezone) && IANAZone.isValidZone(timezone)) return timezone;
	throw invalid(
		displayName,
		'is not the name of a timezone',
		'Enter an IANA name such as Europe/Berlin, America/New_York or UTC.',
	);
}

/** When a campaign is sent. */
export interface Timing {
	/** Missing where it is sent at once. */
	readonly schedule?: Schedule;
	/** IANA name of the timezone in which Send At is read where it has no offset. */
	readonly timezone: string;
}

/**
 * Reads when to send.
 * @throws InvalidInput naming Send At or its timezone
 */
export function readTiming(fields: Fields, workflowTimezone: string): Timing {
	const timezone = readTimezone(fields, workflowTimezone);
	if (!(sendAt.name in fields)) return { timezone };
	const given = fields[sendAt.name];
	// Sending at once what was meant for later can't be undone.
	if (isBlank(given)) {
		throw invalid(
			sendAt.displayName,
			'is empty',
			'Choose a date, or remove Send At from the additional fields to send at once.',
		);
	}
	return { schedule: parseSchedule(given, timezone), timezone };
}
