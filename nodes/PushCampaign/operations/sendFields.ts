import type { INodeProperties } from 'n8n-workflow';

import type { Field, ItemParameters } from '../n8n/parameters';
import type { Audience, CampaignBody, OptionalFields } from '../service/rules';
import { audienceRules, autoHideValue, maxCharacters } from '../service/rules';
import { actionButtons, readButtons } from './buttons';
import type { TextSource } from './content';
import { readLink, readPicture, readSeenText, requireText } from './content';
import { readTextChanges, sendOptions } from './options';
import { quietHours } from './quietHours';
import type { Timing } from './timing';
import { expireAfter, expireAt, readExpireAfter, sendAt, sendAtTimezone } from './timing';
import { readUtm, utmParameters } from './utm';
import { fieldOf, isThere, readSwitch, textProperty } from './values';

/** Warns who lets an agent use a send as its tool. */
export const toolNotice = (reached: string): INodeProperties => ({
	displayName: `The agent can send to ${reached} without asking you: add a human review, or choose Send to Subscriber`,
	name: 'toolNotice',
	type: 'notice',
	default: '',
	displayOptions: { show: { '@tool': [true] } },
});

const title = textProperty('Title', 'title', {
	required: true,
	placeholder: 'e.g. Summer sale starts today',
	description: 'First line of the notification, at most 100 characters',
});

const message = textProperty('Message', 'message', {
	required: true,
	typeOptions: { rows: 3 },
	placeholder: 'e.g. 20% off everything until Sunday',
	description: 'Text of the notification, at most 255 characters',
});

const targetUrl = textProperty('Target URL', 'targetUrl', {
	required: true,
	placeholder: 'e.g. https://example.com/sale',
	description: 'Page that a click opens, at most 255 characters',
});

const autoHide = {
	displayName: 'Auto Hide',
	name: 'autoHide',
	type: 'boolean',
	default: true,
	description: 'Whether the notification closes by itself after a few seconds',
} satisfies INodeProperties;

const campaignName = textProperty('Campaign Name', 'name', {
	placeholder: 'e.g. Summer sale, newsletter readers',
	description: 'Name in the dashboard of the push service, at most 100 characters',
});

const iconUrl = textProperty('Icon URL', 'iconUrl', {
	placeholder: 'e.g. https://example.com/icon.png',
	description: 'HTTPS address of a PNG of 192 × 192 pixels',
});

const imageUrl = textProperty('Image URL', 'imageUrl', {
	placeholder: 'e.g. https://example.com/banner.jpg',
	description: 'HTTPS address of a large picture, for Chrome on Android and Edge',
});

export const titleField = fieldOf(title);
const messageField = fieldOf(message);
const urlField = fieldOf(targetUrl);
export const nameField = fieldOf(campaignName, 'additionalFields');

interface AdditionalField {
	readonly property: INodeProperties;
	/** The field of the body that it fills, if it does not change others. */
	readonly fills?: keyof OptionalFields;
	/** Reads what it fills that with, if it was added; an empty text fills nothing. Others are read with other fields. */
	readonly read?: (source: TextSource, field: Field) => string | 0 | 1;
}

/** In the editor's order. */
const additional: readonly AdditionalField[] = [
	{
		property: autoHide,
		fills: 'auto_hide',
		read: ({ item, audience }, field) =>
			autoHideValue(audience, readSwitch(item, field, autoHide.default)),
	},
	{
		property: campaignName,
		fills: 'name',
		read: (source, field) => readSeenText(source, field, maxCharacters.name),
	},
	{ property: expireAfter, fills: 'expire_push', read: readExpireAfter },
	{ property: expireAt, fills: 'expire_push' },
	{ property: iconUrl, fills: 'icon', read: readPicture },
	{ property: imageUrl, fills: 'image', read: readPicture },
	{ property: quietHours },
	{ property: sendAt, fills: 'send_at' },
	{ property: sendAtTimezone },
	{ property: utmParameters },
];

/** Those that the service accepts for an audience: what is left over from another operation is not read. */
function offeredTo(audience: Audience): AdditionalField[] {
	const { accepts } = audienceRules[audience];
	return additional.filter(({ fills }) => fills === undefined || accepts.includes(fills));
}

/** The parameters of a send beside those of its audience. */
export const sendProperties = (audience: Audience): INodeProperties[] => [
	title,
	message,
	targetUrl,
	actionButtons,
	{
		displayName: 'Additional Fields',
		name: 'additionalFields',
		type: 'collection',
		placeholder: 'Add Field',
		default: {},
		options: offeredTo(audience).map(({ property }) => property),
	},
	sendOptions,
];

/** Reads those of Additional Fields that were added and that fill a field of the body by themselves. */
function readAdditional(source: TextSource): OptionalFields {
	let fields: OptionalFields = {};
	for (const { property, fills, read } of offeredTo(source.audience)) {
		const field = fieldOf(property, 'additionalFields');
		if (!fills || !read || !isThere(source.item, field)) continue;
		const value = read(source, field);
		if (value !== '') fields = { ...fields, [fills]: value };
	}
	return fields;
}

/** The target URL without the UTM parameters that are added. @throws InvalidInput */
export const enteredLink = (item: ItemParameters, audience: Audience): string =>
	readLink({ item, audience, changes: readTextChanges(item), utm: [] }, urlField, Infinity);

/** Makes the body of an item, without its subscribers. @throws InvalidInput naming the field */
export function readBody(item: ItemParameters, audience: Audience, timing: Timing): CampaignBody {
	const source = { item, audience, changes: readTextChanges(item), utm: readUtm(item) };
	let body: CampaignBody = {
		title: requireText(item, titleField, readSeenText(source, titleField, maxCharacters.title)),
		message: requireText(
			item,
			messageField,
			readSeenText(source, messageField, maxCharacters.message, false),
		),
		target_url: requireText(item, urlField, readLink(source, urlField, maxCharacters.targetUrl)),
		...readAdditional(source),
	};
	const buttons = readButtons(source);
	if (buttons.length > 0) body = { ...body, action_buttons: buttons };
	if (timing.effective !== undefined) body = { ...body, send_at: timing.effective.text };
	return body;
}
