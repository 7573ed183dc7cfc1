import { IANAZone } from 'luxon';
import type { INodeProperties, INodePropertyOptions } from 'n8n-workflow';

import { minimumLeadMinutes } from '../service/rules';
import type { Schedule } from '../service/schedule';
import { parseSchedule } from '../service/schedule';
import { expiry } from '../service/schemas';
import type { Fields } from './parameters';
import { check, invalid, isBlank, toFields } from './parameters';

export const sendAt = {
	displayName: 'Send At',
	name: 'sendAt',
	type: 'dateTime',
	default: '',
	description: `When to send, at least ${minimumLeadMinutes} minutes from now. A date without a UTC offset is read in Send At Timezone, or else in the time zone of the workflow. Seconds are rounded up to the next minute.`,
} as const satisfies INodeProperties;

// Apart from the name: n8n's linter would have it end in 'Name or ID', and here the name is the value.
const timezoneList = {
	type: 'options',
	typeOptions: { loadOptionsMethod: 'getTimezones' },
} as const;

export const sendAtTimezone = {
	displayName: 'Send At Timezone',
	name: 'sendAtTimezone',
	...timezoneList,
	default: '',
	description:
		'The time zone Send At is read in, such as Europe/Berlin. Without it, that of the workflow. A date with a UTC offset of its own keeps it.',
} as const satisfies INodeProperties;

/** What `Intl` leaves out of its list, or lists by an older name alone: places that people look for. */
const notListed = [
	'UTC',
	...['Africa/Asmara', 'America/Atikokan', 'America/Nuuk', 'Asia/Ho_Chi_Minh', 'Asia/Kathmandu'],
	...['Asia/Kolkata', 'Asia/Yangon', 'Atlantic/Faroe', 'Europe/Kyiv'],
	...['Pacific/Chuuk', 'Pacific/Kanton', 'Pacific/Pohnpei'],
	...['America/Indiana/Indianapolis', 'America/Kentucky/Louisville'],
	...['Buenos_Aires', 'Catamarca', 'Cordoba', 'Jujuy', 'Mendoza'].map(
		(city) => `America/Argentina/${city}`,
	),
];

/** The list of Send At Timezone: IANA names, in their order. */
export function timezones(): INodePropertyOptions[] {
	const names = new Set([...notListed, ...Intl.supportedValuesOf('timeZone')]);
	return [...names].sort().map((name) => ({ name, value: name }));
}

export const expireAfter = {
	displayName: 'Expire After',
	name: 'expireAfter',
	type: 'fixedCollection',
	placeholder: 'Add Duration',
	// n8n's editor drops an empty one as soon as another field is added.
	default: { duration: { amount: 1, unit: 'd' } },
	description:
		'How long to keep trying while a subscriber is offline. Without it, the service tries for 4 weeks.',
	options: [
		{
			displayName: 'Duration',
			name: 'duration',
			values: [
				{
					displayName: 'Amount',
					name: 'amount',
					type: 'number',
					typeOptions: { minValue: 1, numberPrecision: 0 },
					default: 1,
					description: 'How many minutes, hours or days',
				},
				{
					displayName: 'Unit',
					name: 'unit',
					type: 'options',
					default: 'd',
					options: [
						{ name: 'Days', value: 'd' },
						{ name: 'Hours', value: 'h' },
						{ name: 'Minutes', value: 'm' },
					],
				},
			],
		},
	],
} satisfies INodeProperties;

/**
 * Reads a duration as the service writes it, such as `7d`; `undefined` where none was added.
 * @throws InvalidInput naming Expire After
 */
export function readExpiry(given: unknown): string | undefined {
	const { displayName } = expireAfter;
	const { duration } = toFields(given, displayName);
	if (duration === undefined) return undefined;
	return check(expiry, duration, displayName);
}

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
			`Choose one from the list, or remove ${displayName} from the additional fields to use the time zone of the workflow.`,
		);
	}
	const timezone = typeof given === 'string' ? given.trim() : '';
	// Newer versions of Node.js take an offset for a name, older ones don't.
	if (!/^[+-]/.test(timezone) && IANAZone.isValidZone(timezone)) return timezone;
	throw invalid(
		displayName,
		'is not the name of a time zone',
		'Choose one from the list, or give an IANA name such as Europe/Berlin, America/New_York or UTC.',
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
