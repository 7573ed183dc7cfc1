import type { INodeProperties } from 'n8n-workflow';

import type { Field, ItemParameters } from '../n8n/parameters';
import type { ActionButton, Audience, CampaignBody, OptionalFields } from '../service/rules';
import { audienceRules, autoHideValue, maxCharacters } from '../service/rules';
import { readTextChanges, sendOptions } from './options';
import { quietHours } from './quietHours';
import type { TextSource } from './sendTexts';
import { readLink, readPicture, readSeenText, requireText } from './sendTexts';
import type { Timing } from './timing';
import { expireAfter, readExpiry, sendAt, sendAtTimezone } from './timing';
import { readUtm, utmParameters } from './utm';
import {
	additionalField,
	asEntered,
	entriesOf,
	fieldIn,
	fieldOf,
	groupIn,
	isThere,
	readSwitch,
	textProperty,
} from './values';

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

const buttonTitle = textProperty({
	displayName: 'Title',
	name: 'title',
	required: true,
	placeholder: 'e.g. Shop now',
	description: 'Text on the button',
});

const buttonUrl = textProperty({
	displayName: 'URL',
	name: 'url',
	required: true,
	placeholder: 'e.g. https://example.com/sale',
	description: 'Page that the button opens',
});

/** A parameter of its own: in Additional Fields n8n's editor drops a list as long as it has no entry. */
const actionButtons: INodeProperties = {
	displayName: 'Action Buttons',
	name: 'actionButtons',
	type: 'fixedCollection',
	typeOptions: { multipleValues: true, sortable: true },
	placeholder: 'Add Button',
	default: {},
	description: 'Buttons below the notification, which some browsers do not show',
	options: [{ displayName: 'Button', name: 'button', values: [buttonTitle, buttonUrl] }],
};

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

/** Additional Fields in the editor's order, and the field of the body that each fills, if it does not change others. */
const additional: ReadonlyArray<{ property: INodeProperties; fills?: keyof OptionalFields }> = [
	{ property: autoHide, fills: 'auto_hide' },
	{ property: campaignName, fills: 'name' },
	{ property: expireAfter, fills: 'expire_push' },
	{ property: iconUrl, fills: 'icon' },
	{ property: imageUrl, fills: 'image' },
	{ property: quietHours },
	{ property: sendAt, fills: 'send_at' },
	{ property: sendAtTimezone },
	{ property: utmParameters },
];

/** Those that the service accepts for an audience. */
function offeredTo(audience: Audience): INodeProperties[] {
	const { accepts } = audienceRules[audience];
	return additional
		.filter(({ fills }) => fills === undefined || accepts.includes(fills))
		.map(({ property }) => property);
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
		options: offeredTo(audience),
	},
	sendOptions,
];

/** Reads a button; undefined if nothing of it was filled in. */
function readButton(
	source: TextSource,
	button: Field,
	audience: Audience,
): ActionButton | undefined {
	const { limitsButtons } = audienceRules[audience];
	const limit = limitsButtons ? maxCharacters.button : Infinity;
	const [titleOf, urlOf] = [fieldIn(buttonTitle, button), fieldIn(buttonUrl, button)];
	const text = readSeenText(source, titleOf, { limit, isOneLine: true });
	const url = readLink(source, urlOf, limit);
	if (text === '' && url === '') return undefined;
	return {
		title: requireText(source.item, titleOf, text),
		url: requireText(source.item, urlOf, url),
	};
}

function readButtons(source: TextSource, audience: Audience): ActionButton[] {
	const list = groupIn(fieldOf(actionButtons), 'button');
	return entriesOf(source.item, list, 'button')
		.map((button) => readButton(source, button, audience))
		.filter((button) => button !== undefined);
}

/** Reads those of Additional Fields that were added and that fill a field of the body; a blank text fills none. */
function readAdditional(source: TextSource, audience: Audience): OptionalFields {
	const { item } = source;
	const offered = offeredTo(audience);
	const readAdded = <Value>(property: INodeProperties, read: (field: Field) => Value) => {
		const field = additionalField(property);
		return offered.includes(property) && isThere(item, field) ? read(field) : undefined;
	};
	const nameLimits = { limit: maxCharacters.name, isOneLine: true };
	const closes = readAdded(autoHide, (field) => readSwitch(item, field, autoHide.default));
	const name = readAdded(campaignName, (field) => readSeenText(source, field, nameLimits));
	const expiry = readAdded(expireAfter, (field) => readExpiry(item, field));
	const icon = readAdded(iconUrl, (field) => readPicture(source, field));
	const image = readAdded(imageUrl, (field) => readPicture(source, field));
	return {
		...(closes === undefined ? {} : { auto_hide: autoHideValue(audience, closes) }),
		...(name ? { name } : {}),
		...(expiry ? { expire_push: expiry } : {}),
		...(icon ? { icon } : {}),
		...(image ? { image } : {}),
	};
}

/** The target URL as it was entered, without added UTM parameters. @throws InvalidInput */
export function readTargetUrl(item: ItemParameters): string {
	const source = { item, changes: readTextChanges(item), utm: [] };
	return readLink(source, fieldOf(targetUrl), Infinity);
}

/** The campaign's name as it was entered, valid or not. Throws nothing. */
export const nameAsEntered = (item: ItemParameters): string | undefined =>
	asEntered(item, additionalField(campaignName));

/**
 * Makes the body of an item, without its subscribers. Everything is checked but whether its time is far enough ahead.
 * What is left over from another operation is not read.
 * @throws InvalidInput naming the field
 */
export function readBody(item: ItemParameters, audience: Audience, timing: Timing): CampaignBody {
	const source = { item, changes: readTextChanges(item), utm: readUtm(item) };
	const [messageField, urlField] = [fieldOf(message), fieldOf(targetUrl)];
	const line = { limit: maxCharacters.title, isOneLine: true };
	const lines = { limit: maxCharacters.message, isOneLine: false };
	let body: CampaignBody = {
		title: requireText(item, titleField, readSeenText(source, titleField, line)),
		message: requireText(item, messageField, readSeenText(source, messageField, lines)),
		target_url: requireText(item, urlField, readLink(source, urlField, maxCharacters.targetUrl)),
		...readAdditional(source, audience),
	};
	const buttons = readButtons(source, audience);
	if (buttons.length > 0) body = { ...body, action_buttons: buttons };
	if (timing.effective !== undefined) body = { ...body, send_at: timing.effective.text };
	return body;
}
