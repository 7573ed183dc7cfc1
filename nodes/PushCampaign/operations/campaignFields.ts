import { IANAZone } from 'luxon';
import type { IDisplayOptions, INodeProperties } from 'n8n-workflow';
import { z } from 'zod/v3';

import type { Audience, OptionalField } from '../service/rules';
import { audienceRules, autoHideValue, maxCharacters, minimumLeadMinutes } from '../service/rules';
import type { Schedule } from '../service/schedule';
import { formatExpiry, parseSchedule } from '../service/schedule';
import { expiry } from '../service/schemas';
import { sendOptions } from './options';
import {
	fieldNames,
	invalid,
	isBlank,
	nameOfField,
	required,
	toBoolean,
	toRecord,
} from './parameters';
import type { ItemParameters } from './parameters';
import { ellipsis, shortenText } from './shortenText';
import { addUtm, readUtm } from './utm';

// ---------------------------------------------------------------------------------------------
// The panel
// ---------------------------------------------------------------------------------------------

const atMost = (characters: number) => `At most ${characters} characters`;

/** A family may be seven code points: what people see is not what is counted. */
const howCharactersCount =
	'Characters are counted as Unicode code points: most emoji are one, flags and families are several';

function contentProperties(displayOptions: IDisplayOptions): INodeProperties[] {
	return [
		{
			displayName: 'Title',
			name: 'title',
			type: 'string',
			default: '',
			required: true,
			placeholder: 'e.g. Summer sale starts today',
			description: `First line of the notification. ${howCharactersCount}.`,
			hint: atMost(maxCharacters.title),
			displayOptions,
		},
		{
			displayName: 'Message',
			name: 'message',
			type: 'string',
			typeOptions: { rows: 3 },
			default: '',
			required: true,
			placeholder: 'e.g. 20% off everything until Sunday',
			description: `Text of the notification. ${howCharactersCount}.`,
			hint: atMost(maxCharacters.message),
			displayOptions,
		},
		{
			displayName: 'Target URL',
			name: 'targetUrl',
			type: 'string',
			default: '',
			required: true,
			placeholder: 'e.g. https://example.com/sale',
			description: 'Page that opens when the notification is clicked',
			hint: atMost(maxCharacters.targetUrl),
			displayOptions,
		},
	];
}

function additionalField(field: OptionalField, audience: Audience): INodeProperties {
	const { limitsActionButtons } = audienceRules[audience];
	const limit = (characters: number) =>
		limitsActionButtons ? { hint: atMost(characters) } : undefined;
	const fields: Record<OptionalField, INodeProperties> = {
		action_buttons: {
			displayName: 'Action Buttons',
			name: 'actionButtons',
			type: 'fixedCollection',
			typeOptions: { multipleValues: true, sortable: true },
			placeholder: 'Add Button',
			default: { button: [{ title: '', url: '' }] },
			description: 'Buttons below the notification. Not every browser and device shows them.',
			options: [
				{
					displayName: 'Button',
					name: 'button',
					values: [
						{
							displayName: 'Title',
							name: 'title',
							type: 'string',
							default: '',
							required: true,
							placeholder: 'e.g. Shop now',
							description: 'Text of the button',
							...limit(maxCharacters.buttonTitle),
						},
						{
							displayName: 'URL',
							name: 'url',
							type: 'string',
							default: '',
							required: true,
							placeholder: 'e.g. https://example.com/sale',
							description: 'Page that the button opens',
							...limit(maxCharacters.buttonUrl),
						},
					],
				},
			],
		},
		auto_hide: {
			displayName: 'Auto Hide',
			name: 'autoHide',
			type: 'boolean',
			default: true,
			description:
				'Whether the notification closes by itself after a few seconds. Otherwise it stays until the subscriber clicks or closes it.',
		},
		name: {
			displayName: 'Campaign Name',
			name: 'name',
			type: 'string',
			default: '',
			placeholder: 'e.g. Summer sale, newsletter readers',
			description: 'Name for reports and the dashboard of the service, never shown to subscribers',
			hint: atMost(maxCharacters.name),
		},
		expire_push: {
			displayName: 'Expire After',
			name: 'expireAfter',
			type: 'fixedCollection',
			placeholder: 'Add Duration',
			// n8n's editor drops an empty one as soon as another field is added.
			default: { duration: { amount: 1, unit: 'd' } },
			description:
				'How long delivery is attempted while a subscriber is offline. The service takes 4 weeks when left out.',
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
		},
		icon: {
			displayName: 'Icon URL',
			name: 'iconUrl',
			type: 'string',
			default: '',
			placeholder: 'e.g. https://example.com/icon.png',
			description:
				'Small picture beside the text: an https:// address of a PNG of 192 × 192 pixels',
		},
		image: {
			displayName: 'Image URL',
			name: 'imageUrl',
			type: 'string',
			default: '',
			placeholder: 'e.g. https://example.com/banner.jpg',
			description:
				'Large picture below the text: an https:// address. Only Chrome on Android and Edge show it.',
		},
		send_at: {
			displayName: 'Send At',
			name: 'sendAt',
			type: 'dateTime',
			default: '',
			description: `When to send, at least ${minimumLeadMinutes} minutes ahead. Without an offset the date is read in Send At Timezone, or else in the timezone of the workflow. Seconds are rounded up to the next minute.`,
		},
	};
	return fields[field];
}

/** Additional fields that the service does not know: what they say goes into other fields. */
const helpers: INodeProperties[] = [
	{
		displayName: 'Send At Timezone',
		name: 'sendAtTimezone',
		type: 'string',
		default: '',
		placeholder: 'e.g. Europe/Berlin',
		description:
			'Where the clock of Send At hangs, by its IANA name. Left out, it is the timezone of the workflow. A date with an offset of its own is read as it is.',
	},
	{
		displayName: 'UTM Parameters',
		name: 'utmParameters',
		type: 'fixedCollection',
		placeholder: 'Add Parameters',
		// As with Expire After: never an empty one.
		default: { parameters: { source: '', medium: '', campaign: '', term: '', content: '' } },
		description:
			'Added to Target URL and to the URL of every button, for your web analytics. They count towards the length of the URL. What is blank is left out, what a URL has already stays as it is.',
		options: [
			{
				displayName: 'Parameters',
				name: 'parameters',
				values: [
					{
						displayName: 'Campaign',
						name: 'campaign',
						type: 'string',
						default: '',
						placeholder: 'e.g. summer_sale',
						description: 'What the notification belongs to, sent as utm_campaign',
					},
					{
						displayName: 'Content',
						name: 'content',
						type: 'string',
						default: '',
						placeholder: 'e.g. title_b',
						description: 'Tells variants of one campaign apart, sent as utm_content',
					},
					{
						displayName: 'Medium',
						name: 'medium',
						type: 'string',
						default: '',
						placeholder: 'e.g. push',
						description: 'The kind of channel, sent as utm_medium',
					},
					{
						displayName: 'Source',
						name: 'source',
						type: 'string',
						default: '',
						placeholder: 'e.g. newsletter',
						description: 'Where visitors come from, sent as utm_source',
					},
					{
						displayName: 'Term',
						name: 'term',
						type: 'string',
						default: '',
						placeholder: 'e.g. running shoes',
						description: 'A keyword, sent as utm_term',
					},
				],
			},
		],
	},
];

/** The part of the panel that all sends share, with the fields that the service accepts for this audience. */
export function campaignProperties(
	audience: Audience,
	displayOptions: IDisplayOptions,
	audienceProperties: INodeProperties[] = [],
): INodeProperties[] {
	return [
		...audienceProperties,
		...contentProperties(displayOptions),
		{
			displayName: 'Additional Fields',
			name: 'additionalFields',
			type: 'collection',
			placeholder: 'Add Field',
			default: {},
			displayOptions,
			options: [
				...audienceRules[audience].accepts.map((field) => additionalField(field, audience)),
				...helpers,
			]
				// Not by localeCompare: its first use costs more than loading the rest of the package.
				.sort((one, other) => (one.displayName < other.displayName ? -1 : 1)),
		},
		sendOptions(displayOptions),
	];
}

// ---------------------------------------------------------------------------------------------
// What a user filled in
// ---------------------------------------------------------------------------------------------

/** The fields of a body that do not name the audience, and the schedule as a moment. */
export interface CampaignFields {
	readonly body: Record<string, unknown>;
	readonly schedule?: Schedule;
	/** IANA name of the timezone in which Send At is read where it has no offset. */
	readonly timezone: string;
	/** Where each button that is sent stands in the panel, from 0: one that is empty is left out. */
	readonly buttonPositions: readonly number[];
	readonly hasUtm: boolean;
}

/** What is read along with each field. */
interface Reading {
	readonly fields: Record<string, unknown>;
	readonly audience: Audience;
	readonly buttons: readonly Button[];
	/** Adds the UTM parameters to a URL. */
	readonly withUtm: (url: unknown) => unknown;
	/** Shortens a text, where the user wants that. */
	readonly fit: (text: unknown, limit: number, displayName: string) => unknown;
}

const trimmed = (value: unknown) => (typeof value === 'string' ? value.trim() : value);

function expiryText(value: unknown): string | undefined {
	const displayName = 'Expire After';
	const { duration } = toRecord(value, displayName);
	if (duration === undefined) return undefined;
	const result = expiry.safeParse(duration);
	if (result.success) return formatExpiry(result.data.amount, result.data.unit);
	const [issue] = result.error.issues;
	throw invalid(displayName, issue?.message ?? 'is not valid');
}

const buttonList = z.array(z.record(z.string(), z.unknown()));

interface Button {
	readonly title: unknown;
	readonly url: unknown;
	readonly position: number;
}

/** The buttons that were filled in, if only in part. */
function readButtons({ actionButtons: value }: Record<string, unknown>): Button[] {
	const displayName = fieldNames.action_buttons;
	const { button } = toRecord(value, displayName);
	if (button === undefined) return [];
	const buttons = buttonList.safeParse(button);
	if (!buttons.success) throw invalid(displayName, 'is not a list of buttons');
	return buttons.data
		.map(({ title, url }, position) => ({ title, url: trimmed(url), position }))
		.filter(({ title, url }) => !isBlank(title) || !isBlank(url));
}

function actionButtons({ buttons, audience, withUtm, fit }: Reading) {
	if (buttons.length === 0) return undefined;
	const { limitsActionButtons } = audienceRules[audience];
	return buttons.map(({ title, url, position }) => {
		const name = (part: 'title' | 'url') => buttonField(part, position);
		const given = required(title, name('title'));
		return {
			title: limitsActionButtons ? fit(given, maxCharacters.buttonTitle, name('title')) : given,
			url: withUtm(required(url, name('url'))),
		};
	});
}

/** How each optional field of a body is read from the additional fields. */
const readers: Record<OptionalField, (reading: Reading) => unknown> = {
	name: ({ fields: { name }, fit }) =>
		isBlank(name) ? undefined : fit(name, maxCharacters.name, fieldNames.name),
	icon: ({ fields: { iconUrl } }) => (isBlank(iconUrl) ? undefined : trimmed(iconUrl)),
	image: ({ fields: { imageUrl } }) => (isBlank(imageUrl) ? undefined : trimmed(imageUrl)),
	expire_push: ({ fields: { expireAfter } }) => expiryText(expireAfter),
	auto_hide: ({ fields, audience }) => {
		const closes = toBoolean(fields, 'autoHide', undefined, 'Auto Hide');
		return closes === undefined ? undefined : autoHideValue(audience, closes);
	},
	send_at: () => undefined,
	action_buttons: actionButtons,
};

/** The timezone of Send At. A wrong or forgotten one must not move the moment of sending. */
function readTimezone(fields: Record<string, unknown>, workflowTimezone: string): string {
	const displayName = 'Send At Timezone';
	if (!('sendAtTimezone' in fields)) return workflowTimezone;
	if (!('sendAt' in fields)) {
		throw invalid(
			displayName,
			'is there without Send At',
			`Add Send At, or remove ${displayName} from the additional fields to send at once.`,
		);
	}
	const timezone = trimmed(fields['sendAtTimezone']);
	if (isBlank(timezone)) {
		throw invalid(
			displayName,
			'is empty',
			`Enter a name such as Europe/Berlin, or remove ${displayName} from the additional fields to use the timezone of the workflow.`,
		);
	}
	// Newer versions of Node.js take an offset for a name, older ones don't.
	if (typeof timezone === 'string' && !/^[+-]/.test(timezone) && IANAZone.isValidZone(timezone)) {
		return timezone;
	}
	throw invalid(
		displayName,
		'is not the name of a timezone',
		'Enter an IANA name such as Europe/Berlin, America/New_York or UTC.',
	);
}

function readSchedule(fields: Record<string, unknown>, timezone: string): Schedule | undefined {
	if (!('sendAt' in fields)) return undefined;
	const { sendAt } = fields;
	// Sending at once what was meant for later can't be undone.
	if (isBlank(sendAt)) {
		throw invalid(
			'Send At',
			'is empty',
			'Choose a date, or remove Send At from the additional fields to send at once.',
		);
	}
	return parseSchedule(sendAt, timezone);
}

/** Shortens a text that is too long, unless nothing of it would be left. */
function shortened(text: unknown, limit: number, displayName: string): unknown {
	if (typeof text !== 'string') return text;
	const result = shortenText(text, limit);
	if (result !== ellipsis || text === ellipsis) return result;
	throw invalid(
		displayName,
		`can't be shortened to ${limit} characters: nothing of it would be left`,
	);
}

/**
 * Reads the fields that all sends share. A value that is left over from another operation is not read.
 * @param shortenTexts whether texts that are too long are cut instead of being refused later
 * @throws InvalidInput naming the field
 */
export function readCampaignFields(
	item: ItemParameters,
	audience: Audience,
	shortenTexts: boolean,
): CampaignFields {
	const title = required(item.get('title', 'Title'), 'Title');
	const message = required(item.get('message', 'Message'), 'Message');
	const targetUrl = trimmed(required(item.get('targetUrl', 'Target URL'), 'Target URL'));
	const fields = toRecord(item.get('additionalFields', 'Additional Fields'), 'Additional Fields');
	const timezone = readTimezone(fields, item.timezone);
	const schedule = readSchedule(fields, timezone);
	const utm = readUtm(fields['utmParameters']);
	const buttons = readButtons(fields);
	const reading: Reading = {
		fields,
		audience,
		buttons,
		withUtm: (url) => (typeof url === 'string' ? addUtm(url, utm) : url),
		fit: shortenTexts ? shortened : (text) => text,
	};
	const body: Record<string, unknown> = {
		title: reading.fit(title, maxCharacters.title, 'Title'),
		message: reading.fit(message, maxCharacters.message, 'Message'),
		target_url: reading.withUtm(targetUrl),
	};
	for (const field of audienceRules[audience].accepts) {
		const value = field === 'send_at' ? schedule?.text : readers[field](reading);
		if (value !== undefined) body[field] = value;
	}
	return {
		body,
		...(schedule === undefined ? {} : { schedule }),
		timezone,
		buttonPositions: buttons.map(({ position }) => position),
		hasUtm: utm.length > 0,
	};
}

const buttonField = (part: 'title' | 'url', position: number) =>
	`${part === 'url' ? 'URL' : 'Title'} of button ${position + 1} in ${fieldNames.action_buttons}`;

/**
 * The name of the field that an issue of a body is about, as users see it.
 * @param buttonPositions where the body's buttons stand in the panel, from 0
 */
export function issueField(
	path: ReadonlyArray<string | number>,
	buttonPositions: readonly number[] = [],
): string {
	const [field, index, part] = path;
	const displayName = nameOfField(String(field));
	if (field !== 'action_buttons' || typeof index !== 'number') return displayName;
	return buttonField(part === 'url' ? 'url' : 'title', buttonPositions[index] ?? index);
}
