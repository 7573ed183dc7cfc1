import type { IDisplayOptions, INodeProperties } from 'n8n-workflow';
import { z } from 'zod/v3';

import type { Audience, OptionalField } from '../service/rules';
import { audienceRules, autoHideValue, maxCharacters, minimumLeadMinutes } from '../service/rules';
import type { Schedule } from '../service/schedule';
import { formatExpiry, parseSchedule } from '../service/schedule';
import { expiry } from '../service/schemas';
import { fieldNames, invalid, isBlank, required, toBoolean, toRecord } from './fields';
import type { ItemParameters } from './itemParameters';
import { sendOptions } from './options';

// ---------------------------------------------------------------------------------------------
// The panel
// ---------------------------------------------------------------------------------------------

function contentProperties(displayOptions: IDisplayOptions): INodeProperties[] {
	return [
		{
			displayName: 'Title',
			name: 'title',
			type: 'string',
			default: '',
			required: true,
			placeholder: 'e.g. Summer sale starts today',
			description: `First line of the notification, at most ${maxCharacters.title} characters`,
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
			description: `Text of the notification, at most ${maxCharacters.message} characters`,
			displayOptions,
		},
		{
			displayName: 'Target URL',
			name: 'targetUrl',
			type: 'string',
			default: '',
			required: true,
			placeholder: 'e.g. https://example.com/sale',
			description: `Page that opens when the notification is clicked, at most ${maxCharacters.targetUrl} characters`,
			displayOptions,
		},
	];
}

function additionalField(field: OptionalField, audience: Audience): INodeProperties {
	const { limitsActionButtons } = audienceRules[audience];
	const limit = (characters: number) =>
		limitsActionButtons ? `, at most ${characters} characters` : '';
	const fields: Record<OptionalField, INodeProperties> = {
		action_buttons: {
			displayName: 'Action Buttons',
			name: 'actionButtons',
			type: 'fixedCollection',
			typeOptions: { multipleValues: true, sortable: true },
			placeholder: 'Add Button',
			default: {},
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
							description: `Text of the button${limit(maxCharacters.buttonTitle)}`,
						},
						{
							displayName: 'URL',
							name: 'url',
							type: 'string',
							default: '',
							required: true,
							placeholder: 'e.g. https://example.com/sale',
							description: `Page that the button opens${limit(maxCharacters.buttonUrl)}`,
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
			description: `Name for reports and the dashboard of the service, never shown to subscribers, at most ${maxCharacters.name} characters`,
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
			description: `When to send, at least ${minimumLeadMinutes} minutes ahead. Without an offset the date is read in the timezone of the workflow; seconds are rounded up to the next minute.`,
		},
	};
	return fields[field];
}

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
			options: audienceRules[audience].accepts
				.map((field) => additionalField(field, audience))
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

function actionButtons(value: unknown): Array<Record<string, unknown>> | undefined {
	const displayName = 'Action Buttons';
	const { button } = toRecord(value, displayName);
	if (button === undefined) return undefined;
	const buttons = buttonList.safeParse(button);
	if (!buttons.success) throw invalid(displayName, 'is not a list of buttons');
	if (buttons.data.length === 0) return undefined;
	return buttons.data.map(({ title, url }) => ({ title, url: trimmed(url) }));
}

/** How each optional field of a body is read from the additional fields. */
const readers: Record<
	OptionalField,
	(fields: Record<string, unknown>, audience: Audience) => unknown
> = {
	name: ({ name }) => (isBlank(name) ? undefined : name),
	icon: ({ iconUrl }) => (isBlank(iconUrl) ? undefined : trimmed(iconUrl)),
	image: ({ imageUrl }) => (isBlank(imageUrl) ? undefined : trimmed(imageUrl)),
	expire_push: ({ expireAfter }) => expiryText(expireAfter),
	auto_hide: (fields, audience) => {
		const closes = toBoolean(fields, 'autoHide', undefined, 'Auto Hide');
		return closes === undefined ? undefined : autoHideValue(audience, closes);
	},
	send_at: () => undefined,
	action_buttons: ({ actionButtons: value }) => actionButtons(value),
};

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

/**
 * Reads the fields that all sends share. A value that is left over from another operation is not read.
 * @throws InvalidInput naming the field
 */
export function readCampaignFields(item: ItemParameters, audience: Audience): CampaignFields {
	const body: Record<string, unknown> = {
		title: required(item.get('title', 'Title'), 'Title'),
		message: required(item.get('message', 'Message'), 'Message'),
		target_url: trimmed(required(item.get('targetUrl', 'Target URL'), 'Target URL')),
	};
	const additional = toRecord(
		item.get('additionalFields', 'Additional Fields'),
		'Additional Fields',
	);
	const schedule = readSchedule(additional, item.timezone);
	for (const field of audienceRules[audience].accepts) {
		const value = field === 'send_at' ? schedule?.text : readers[field](additional, audience);
		if (value !== undefined) body[field] = value;
	}
	return schedule === undefined ? { body } : { body, schedule };
}

/** The name of the field that an issue of a body is about, as users see it. */
export function issueField(path: ReadonlyArray<string | number>): string {
	const [field, index, part] = path;
	const displayName = fieldNames[String(field)] ?? 'Additional Fields';
	if (field !== 'action_buttons' || typeof index !== 'number') return displayName;
	return `${part === 'url' ? 'URL' : 'Title'} of button ${index + 1} in ${displayName}`;
}
