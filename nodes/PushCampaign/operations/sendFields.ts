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
import { asEntered, fieldOf, isThere, readSwitch, textProperty } from './values';

/** Warns who lets an agent use a send as its tool. */
export const toolNotice = (reached: string): INodeProperties => ({
	displayName: `The agent can send to ${reached} without asking you: add a human review, or choose Send to Subscriber`,
	name: 'toolNotice',
	type: 'notice',
	default: '',
	displayOptions: { show: { '@tool': [true] } },
});

const title = textProperty({
	displayName: 'Title',
	name: 'title',
	required: true,
	placeholder: 'e.g. Summer sale starts today',
	description: 'First line of the notification, at most 100 characters',
});

const message = textProperty({
	displayName: 'Message',
	name: 'message',
	required: true,
	typeOptions: { rows: 3 },
	placeholder: 'e.g. 20% off everything until Sunday',
	description: 'Text of the notification, at most 255 characters',
});

const targetUrl = textProperty({
	displayName: 'Target URL',
	name: 'targetUrl',
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

const campaignName = textProperty({
	displayName: 'Campaign Name',
	name: 'name',
	placeholder: 'e.g. Summer sale, newsletter readers',
	description: 'Name in the dashboard of the push service, at most 100 characters',
});

const iconUrl = textProperty({
	displayName: 'Icon URL',
	name: 'iconUrl',
	placeholder: 'e.g. https://example.com/icon.png',
	description: 'HTTPS address of a PNG of 192 × 192 pixels',
});

const imageUrl = textProperty({
	displayName: 'Image URL',
	name: 'imageUrl',
	placeholder: 'e.g. https://example.com/banner.jpg',
	description: 'HTTPS address of a large picture, for Chrome on Android and Edge',
});

export const titleField = fieldOf(title);

/** A field of Additional Fields. */
interface AdditionalField {
	readonly property: INodeProperties;
	/** The field of the body that it fills, if it does not change others. */
	readonly fills?: keyof OptionalFields;
	/** Reads what it fills that with, if it was added; what is not here is read with other fields. */
	readonly read?: (source: TextSource, field: Field, audience: Audience) => OptionalFields;
}

/** What a text fills: a blank one nothing. */
const filled = (fills: 'name' | 'icon' | 'image', text: string): OptionalFields => {
	const fields: Pick<OptionalFields, typeof fills> = text === '' ? {} : { [fills]: text };
	return fields;
};

/** In the editor's order. */
const additional: readonly AdditionalField[] = [
	{
		property: autoHide,
		fills: 'auto_hide',
		read: ({ item }, field, audience) => ({
			auto_hide: autoHideValue(audience, readSwitch(item, field, autoHide.default)),
		}),
	},
	{
		property: campaignName,
		fills: 'name',
		read: (source, field) => filled('name', readSeenText(source, field, maxCharacters.name)),
	},
	{
		property: expireAfter,
		fills: 'expire_push',
		read: ({ item }, field) => ({ expire_push: readExpireAfter(item, field) }),
	},
	{ property: expireAt, fills: 'expire_push' },
	{
		property: iconUrl,
		fills: 'icon',
		read: (source, field) => filled('icon', readPicture(source, field)),
	},
	{
		property: imageUrl,
		fills: 'image',
		read: (source, field) => filled('image', readPicture(source, field)),
	},
	{ property: quietHours },
	{ property: sendAt, fills: 'send_at' },
	{ property: sendAtTimezone },
	{ property: utmParameters },
];

/** Those that the service accepts for an audience. */
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
function readAdditional(source: TextSource, audience: Audience): OptionalFields {
	let fields: OptionalFields = {};
	for (const { property, read } of offeredTo(audience)) {
		const field = fieldOf(property, 'additionalFields');
		if (read === undefined || !isThere(source.item, field)) continue;
		fields = { ...fields, ...read(source, field, audience) };
	}
	return fields;
}

/** The target URL as it was entered, without added UTM parameters. @throws InvalidInput */
export function readTargetUrl(item: ItemParameters): string {
	const source = { item, changes: readTextChanges(item), utm: [] };
	return readLink(source, fieldOf(targetUrl), Infinity);
}

/** The campaign's name as it was entered, valid or not. Throws nothing. */
export const nameAsEntered = (item: ItemParameters): string | undefined =>
	asEntered(item, fieldOf(campaignName, 'additionalFields'));

/**
 * Makes the body of an item, without its subscribers. Everything is checked but whether its time is far enough ahead.
 * What is left over from another operation is not read.
 * @throws InvalidInput naming the field
 */
export function readBody(item: ItemParameters, audience: Audience, timing: Timing): CampaignBody {
	const source = { item, changes: readTextChanges(item), utm: readUtm(item) };
	const [messageField, urlField] = [fieldOf(message), fieldOf(targetUrl)];
	let body: CampaignBody = {
		title: requireText(item, titleField, readSeenText(source, titleField, maxCharacters.title)),
		message: requireText(
			item,
			messageField,
			readSeenText(source, messageField, maxCharacters.message, false),
		),
		target_url: requireText(item, urlField, readLink(source, urlField, maxCharacters.targetUrl)),
		...readAdditional(source, audience),
	};
	const buttons = readButtons(source, audience);
	if (buttons.length > 0) body = { ...body, action_buttons: buttons };
	if (timing.effective !== undefined) body = { ...body, send_at: timing.effective.text };
	return body;
}
