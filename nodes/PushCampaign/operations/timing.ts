import { IANAZone } from 'luxon';
import type { INodeProperties, INodePropertyOptions } from 'n8n-workflow';

import { minimumLeadMinutes } from '../service/rules';
import { parseSchedule } from '../service/schedule';
import { expiry } from '../service/schemas';
import type { Fields } from './parameters';
import { check, invalid, toFields } from './parameters';
import { quietHours, readQuietHours } from './quietHours';

export const sendAt = {
	displayName: 'Send At',
	name: 'sendAt',
	type: 'dateTime',
	default: '',
	description: `When to send, at least ${minimumLeadMinutes} minutes from now. A date without a UTC offset is read in Send At Timezone, or else in the workflow's time zone. Seconds are rounded up to the next minute.`,
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
		"The time zone that Send At and Quiet Hours are read in, such as Europe/Berlin. Without it, the workflow's time zone. A date with a UTC offset of its own keeps it.",
} as const satisfies INodeProperties;

/** Names that people search for and that `Intl` does not list, or only by an older name. */
const notListed = [
	'UTC',
	...['Africa/Asmara', 'America/Atikokan', 'America/Nuuk', 'Asia/Ho_Chi_Minh', 'Asia/Kathmandu'],
	...['Asia/Kolkata', 'Asia/Yangon', 'Atlantic/Faroe', 'Europe/Kyiv'],
	...['Pacific/Chuuk', 'Pacific/Kanton', 'Pacific/Pohnpei'],
];

/** The list of Send At Timezone: IANA names, in their order. */
export function timezones(): INodePropertyOptions[] {
	const names = new Set([...notListed, ...Intl.supportedValuesOf('timeZone')]);
	return [...names].sort().map((name) => ({ name, value: name }));
}

const amount = {
	displayName: 'Amount',
	name: 'amount',
	type: 'number',
	typeOptions: { minValue: 1, numberPrecision: 0 },
	default: 1,
	description: 'How many minutes, hours or days',
} satisfies INodeProperties;

const unit = {
	displayName: 'Unit',
	name: 'unit',
	type: 'options',
	default: 'd',
	options: [
		{ name: 'Days', value: 'd' },
		{ name: 'Hours', value: 'h' },
		{ name: 'Minutes', value: 'm' },
	],
} satisfies INodeProperties;

export const expireAfter = {
	displayName: 'Expire After',
	name: 'expireAfter',
	type: 'fixedCollection',
	placeholder: 'Add Duration',
	// n8n's editor drops an empty one as soon as another field is added.
	default: { duration: { amount: 1, unit: 'd' } },
	description:
		'How long to keep trying while a subscriber is offline. Without it, the service tries for 4 weeks.',
	options: [{ displayName: 'Duration', name: 'duration', values: [amount, unit] }],
} satisfies INodeProperties;

/**
 * Reads a duration as the service writes it, such as `7d`; `undefined` if none was added.
 * @throws InvalidInput naming Expire After
 */
export function readExpiry(given: unknown): string | undefined {
	const { duration } = toFields(given, expireAfter.displayName);
	return duration === undefined ? undefined : check(expiry, duration, expireAfter.displayName);
}

/**
 * Reads when to send. A field that was added and is blank is refused: sending right away, or at another hour,
 * what was meant for later can't be undone.
 * @throws InvalidInput naming Send At, its time zone or Quiet Hours
 */
export function readTiming(fields: Fields, workflowTimezone: string) {
	const { sendAt: date, sendAtTimezone: zone = workflowTimezone } = fields;
	const hasZone = sendAtTimezone.name in fields;
	const hasQuietHours = quietHours.name in fields;
	if (hasZone && date === undefined && !hasQuietHours) throw zoneAlone();
	const timezone = typeof zone === 'string' ? zone.trim() : '';
	// Newer versions of Node.js take an offset for a name, older ones don't.
	if (hasZone && (/^[+-]/.test(timezone) || !IANAZone.isValidZone(timezone))) {
		throw invalid(
			sendAtTimezone.displayName,
			'is not the name of a time zone',
			'Choose one from the list, give an IANA name such as Europe/Berlin or UTC, or remove Send At Timezone to use the time zone of the workflow.',
		);
	}
	const needsZone = date !== undefined || hasQuietHours;
	if (!hasZone && needsZone && !IANAZone.isValidZone(timezone)) {
		throw invalid(
			`The timezone of the workflow, ${timezone},`,
			'is not the name of a time zone',
			'Choose a timezone in the settings of the workflow, or add Send At Timezone.',
		);
	}
	const quiet = hasQuietHours ? readQuietHours(fields[quietHours.name], timezone) : undefined;
	if (hasZone && date === undefined && quiet === undefined) throw zoneAlone();
	const schedule = date === undefined ? undefined : parseSchedule(date, timezone);
	return { timezone, schedule, quietHours: quiet };
}

const zoneAlone = () =>
	invalid(
		sendAtTimezone.displayName,
		'is there without Send At',
		'Add Send At or Quiet Hours, or remove Send At Timezone from the additional fields to send right away.',
	);
