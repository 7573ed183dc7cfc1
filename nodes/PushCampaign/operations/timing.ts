import { IANAZone } from 'luxon';
import type { INodeProperties, INodePropertyOptions } from 'n8n-workflow';
import { z } from 'zod/v3';

import { minimumLeadMinutes } from '../service/rules';
import { exampleDate, isNow, parseSchedule } from '../service/schedule';
import { expiry } from '../service/schemas';
import { quote } from '../service/text';
import { issueWith } from '../service/textSchemas';
import { groupOf, invalid, isBlank } from './parameters';
import { quietHoursSchema } from './quietHours';

export const sendAt = {
	displayName: 'Send At',
	name: 'sendAt',
	type: 'dateTime',
	default: '',
	description: `When to send, at least ${minimumLeadMinutes} minutes from now. The word now (in an expression) sends right away. A date without a UTC offset is read in Send At Timezone, or else in the workflow's time zone. Seconds are rounded up to the next minute.`,
} as const satisfies INodeProperties;

// Apart from the name: n8n's linter would have it end in 'Name or ID', and here the name is the value.
const timezoneList = {
	type: 'options',
	typeOptions: { loadOptionsMethod: 'getTimezones' },
	// Else n8n's editor shows the field in red as long as nothing is chosen. What is chosen is checked here.
	allowArbitraryValues: true,
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

/** The time zone that a city's name is the end of: `Europe/Paris` of `Paris`. */
function timezoneOf(city: string): string | undefined {
	const ending = `/${city.toLowerCase().replace(/\s+/g, '_')}`;
	const names = timezones().map(({ name }) => name);
	return names.find((name) => name.toLowerCase().endsWith(ending));
}

/** The name of a time zone. */
const timezoneName = z.unknown().transform((given, context): string => {
	const name = typeof given === 'string' ? given.trim() : '';
	// Newer versions of Node.js take an offset for a name, older ones don't.
	if (!/^[+-]/.test(name) && IANAZone.isValidZone(name)) return name;
	const choose = 'Choose one from the list, or give an IANA name such as Europe/Berlin or UTC.';
	const meant = name === '' ? undefined : timezoneOf(name);
	const advice = meant === undefined ? choose : `${meant}? ${choose}`;
	const what = isBlank(given) ? 'is empty' : `is not the name of a time zone: ${quote(given)}`;
	context.addIssue({ code: 'custom', ...issueWith(what, advice) });
	return z.NEVER;
});

/** A time in any form, or the word `now`. The message names the word: an agent gets the message alone. */
const givenTime = z
	.unknown()
	.refine(
		(given) => !isBlank(given),
		issueWith(
			'is empty: give a time, or the word now to send right away',
			`Enter a time such as ${exampleDate}, let the expression give now where there is no time, or remove Send At.`,
		),
	);

/**
 * The fields that say when to send. One that was added and is blank is refused: sending right away, or at another
 * hour, what was meant for later can't be undone.
 */
export const timingSchema = z.object({
	expireAfter: groupOf(expireAfter.displayName, 'duration', expiry).optional(),
	quietHours: quietHoursSchema.optional(),
	sendAt: givenTime.optional(),
	sendAtTimezone: timezoneName.optional(),
});

/**
 * @param orElse what else helps, to follow the advice
 * @throws InvalidInput if the time zone that n8n gives a workflow is not known
 */
export function requireTimezone(ofWorkflow: string, orElse = ''): string {
	if (IANAZone.isValidZone(ofWorkflow)) return ofWorkflow;
	throw invalid(
		'The time zone of the workflow',
		`is not known: ${quote(ofWorkflow)}`,
		`Choose a time zone in the settings of the workflow${orElse}.`,
	);
}

/**
 * When to send, of the fields that were added.
 * @returns no schedule if it is sent right away, also if Send At is the word `now`
 * @throws InvalidInput naming Send At or its time zone
 */
export function toTiming(fields: z.infer<typeof timingSchema>, workflowTimezone: string) {
	const hasTime = fields.sendAt !== undefined && !isNow(fields.sendAt);
	if (fields.sendAtTimezone !== undefined && fields.sendAt === undefined && !fields.quietHours) {
		throw invalid(
			sendAtTimezone.displayName,
			'is set without Send At or Quiet Hours',
			'Add Send At or Quiet Hours, or remove Send At Timezone from the additional fields to send right away.',
		);
	}
	const timezone = fields.sendAtTimezone ?? workflowTimezone;
	if (hasTime || fields.quietHours) requireTimezone(timezone, ', or add Send At Timezone');
	return {
		timezone,
		schedule: hasTime ? parseSchedule(fields.sendAt, timezone) : undefined,
		quietHours: fields.quietHours && { ...fields.quietHours, timezone },
	};
}
