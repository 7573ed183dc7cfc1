import type { IDisplayOptions, INodeProperties } from 'n8n-workflow';

import type { Audience } from '../service/rules';
import { autoHideValue, maxCharacters } from '../service/rules';
import type { Schedule } from '../service/schedule';
import { formatExpiry } from '../service/schedule';
import type { OptionalField } from '../service/schemas';
import { acceptedFields, expiry, limitsActionButtons } from '../service/schemas';
import type { Button } from './actionButtons';
import { actionButtonsProperty, buttonPart, readButtons } from './actionButtons';
import { sendOptions } from './options';
import type { Fields, ItemParameters, Parameter } from './parameters';
import { invalid, isBlank, required, toBoolean, toFields, trimmed } from './parameters';
import { readTiming, sendAt, sendAtTimezone } from './sendAt';
import { ellipsis, shortenText } from './shortenText';
import type { UtmParameter } from './utm';
import { addUtm, readUtm, utmParameters } from './utm';

const atMost = (characters: number) => ({ hint: `At most ${characters} characters` });

/** A family may be seven code points: what people see is not what is counted. */
const howCharactersCount =
	'Characters are counted as Unicode code points: most emoji are one, flags and families are several';

/** What every send has, by the service's name. */
const contentParameters = {
	title: {
		displayName: 'Title',
		name: 'title',
		type: 'string',
		default: '',
		required: true,
		placeholder: 'e.g. Summer sale starts today',
		description: `First line of the notification. ${howCharactersCount}.`,
		...atMost(maxCharacters.title),
	},
	message: {
		displayName: 'Message',
		name: 'message',
		type: 'string',
		typeOptions: { rows: 3 },
		default: '',
		required: true,
		placeholder: 'e.g. 20% off everything until Sunday',
		description: `Text of the notification. ${howCharactersCount}.`,
		...atMost(maxCharacters.message),
	},
	target_url: {
		displayName: 'Target URL',
		name: 'targetUrl',
		type: 'string',
		default: '',
		required: true,
		placeholder: 'e.g. https://example.com/sale',
		description: 'Page that opens when the notification is clicked',
		...atMost(maxCharacters.targetUrl),
	},
} as const satisfies Record<string, INodeProperties>;

/** What the fields of a body are read from. */
interface Reading {
	readonly fields: Fields;
	readonly audience: Audience;
	readonly buttons: readonly Button[];
	readonly schedule?: Schedule | undefined;
	readonly utm: readonly UtmParameter[];
	/** Whether texts that are too long are cut. */
	readonly shortens: boolean;
}

/** A field of a body that may be left out. */
interface AdditionalField {
	/** Its entry in Additional Fields. */
	readonly property: (audience: Audience) => INodeProperties;
	/** Reads what goes into the body; `undefined` for nothing. */
	readonly read: (reading: Reading) => unknown;
}

/** A text that is left out where it is blank. */
const textField = (
	property: INodeProperties,
	toValue: (text: unknown, reading: Reading) => unknown = trimmed,
): AdditionalField => ({
	property: () => property,
	read: (reading) => {
		const text = reading.fields[property.name];
		return isBlank(text) ? undefined : toValue(text, reading);
	},
});

const autoHide = {
	displayName: 'Auto Hide',
	name: 'autoHide',
	type: 'boolean',
	default: true,
	description:
		'Whether the notification closes by itself after a few seconds. Otherwise it stays until the subscriber clicks or closes it.',
} as const satisfies INodeProperties;

const campaignName = {
	displayName: 'Campaign Name',
	name: 'name',
	type: 'string',
	default: '',
	placeholder: 'e.g. Summer sale, newsletter readers',
	description: 'Name for reports and the dashboard of the service, never shown to subscribers',
	...atMost(maxCharacters.name),
} as const satisfies INodeProperties;

const expireAfter = {
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
} satisfies INodeProperties;

function readExpiry({ fields }: Reading): string | undefined {
	const { displayName, name } = expireAfter;
	const { duration } = toFields(fields[name], displayName);
	if (duration === undefined) return undefined;
	const result = expiry.safeParse(duration);
	if (result.success) return formatExpiry(result.data.amount, result.data.unit);
	throw invalid(displayName, result.error.issues[0]?.message ?? 'is not valid');
}

function buttonsOf({ audience, buttons, utm, shortens }: Reading) {
	if (buttons.length === 0) return undefined;
	const isShortened = shortens && limitsActionButtons(audience);
	return buttons.map(({ title, url, position }) => ({
		title: isShortened
			? shortened(title, maxCharacters.buttonTitle, buttonPart('title', position))
			: title,
		url: withUtm(url, utm),
	}));
}

/** The optional fields of a body: how users enter them, and how they are read. */
const additionalFields: Record<OptionalField, AdditionalField> = {
	name: textField(campaignName, (text, { shortens }) =>
		shortens ? shortened(text, maxCharacters.name, campaignName.displayName) : text,
	),
	icon: textField({
		displayName: 'Icon URL',
		name: 'iconUrl',
		type: 'string',
		default: '',
		placeholder: 'e.g. https://example.com/icon.png',
		description: 'Small picture beside the text: an https:// address of a PNG of 192 × 192 pixels',
	}),
	image: textField({
		displayName: 'Image URL',
		name: 'imageUrl',
		type: 'string',
		default: '',
		placeholder: 'e.g. https://example.com/banner.jpg',
		description:
			'Large picture below the text: an https:// address. Only Chrome on Android and Edge show it.',
	}),
	expire_push: { property: () => expireAfter, read: readExpiry },
	auto_hide: {
		property: () => autoHide,
		read({ fields, audience }) {
			const closes = toBoolean(fields, autoHide, undefined);
			return closes === undefined ? undefined : autoHideValue(audience, closes);
		},
	},
	send_at: { property: () => sendAt, read: ({ schedule }) => schedule?.text },
	action_buttons: {
		property: (audience) =>
			actionButtonsProperty(limitsActionButtons(audience) ? atMost : () => ({})),
		read: buttonsOf,
	},
};

const collection = { displayName: 'Additional Fields', name: 'additionalFields' } as const;

/** The part of the panel that all sends share, with the fields that the service accepts for this audience. */
export function campaignProperties(
	audience: Audience,
	displayOptions: IDisplayOptions,
	audienceProperties: INodeProperties[] = [],
): INodeProperties[] {
	const accepted = acceptedFields(audience).map((field) =>
		additionalFields[field].property(audience),
	);
	return [
		...audienceProperties,
		...Object.values(contentParameters).map((parameter) => ({ ...parameter, displayOptions })),
		{
			...collection,
			type: 'collection',
			placeholder: 'Add Field',
			default: {},
			displayOptions,
			// The service does not know the two others: what they say goes into other fields.
			options: [...accepted, sendAtTimezone, utmParameters]
				// Not by localeCompare: its first use costs more than loading the rest of the package.
				.sort((one, other) => (one.displayName < other.displayName ? -1 : 1)),
		},
		sendOptions(displayOptions),
	];
}

/** The name of a body's field, as users see it. */
function nameOfField(field: string, audience: Audience): string {
	const names = new Map<string, string>();
	for (const [name, { displayName }] of Object.entries(contentParameters)) {
		names.set(name, displayName);
	}
	for (const [name, { property }] of Object.entries(additionalFields)) {
		names.set(name, property(audience).displayName);
	}
	return names.get(field) ?? collection.displayName;
}

/** The fields of a body that do not name the audience, and the schedule as a moment. */
export interface CampaignFields {
	readonly body: Record<string, unknown>;
	readonly schedule?: Schedule | undefined;
	/** IANA name of the timezone in which Send At is read where it has no offset. */
	readonly timezone: string;
	/**
	 * The name of the parameter that an issue of the body is about, as users see it.
	 * @param path where the issue is in the body
	 */
	readonly nameOf: (path: ReadonlyArray<string | number>) => string;
	readonly hasUtm: boolean;
}

const withUtm = (url: unknown, utm: readonly UtmParameter[]) =>
	typeof url === 'string' ? addUtm(url, utm) : url;

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
 * @param shortens whether texts that are too long are cut instead of being refused later
 * @throws InvalidInput naming the parameter
 */
export function readCampaignFields(
	item: ItemParameters,
	audience: Audience,
	shortens: boolean,
): CampaignFields {
	const read = (parameter: Parameter) => required(item.get(parameter), parameter.displayName);
	const fit = (text: unknown, limit: number, { displayName }: Parameter) =>
		shortens ? shortened(text, limit, displayName) : text;
	const { title, message, target_url } = contentParameters;
	const [titleText, messageText, targetUrl] = [read(title), read(message), read(target_url)];
	const fields = toFields(item.get(collection), collection.displayName);
	const { schedule, timezone } = readTiming(fields, item.timezone);
	const utm = readUtm(fields);
	const buttons = readButtons(fields);
	const reading: Reading = { fields, audience, buttons, schedule, utm, shortens };
	const body: Record<string, unknown> = {
		title: fit(titleText, maxCharacters.title, title),
		message: fit(messageText, maxCharacters.message, message),
		target_url: withUtm(trimmed(targetUrl), utm),
	};
	for (const field of acceptedFields(audience)) {
		const value = additionalFields[field].read(reading);
		if (value !== undefined) body[field] = value;
	}
	return {
		body,
		schedule,
		timezone,
		nameOf: ([field, index, part]) => {
			if (field === 'action_buttons' && typeof index === 'number') {
				return buttonPart(part === 'url' ? 'url' : 'title', buttons[index]?.position ?? index);
			}
			return nameOfField(String(field), audience);
		},
		hasUtm: utm.length > 0,
	};
}
