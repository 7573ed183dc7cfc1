import type { INodeProperties } from 'n8n-workflow';

import type { Field, ItemParameters } from '../n8n/parameters';
import type { Audience, Notification, OptionalFields } from '../service/rules';
import { audienceRules, autoHideValue, maxCharacters } from '../service/rules';
import { actionButtons, readButtons } from './buttons';
import { sendOptions } from './options';
import { quietHours } from './quietHours';
import { readAddress, readPicture, readText, requireText } from './textFields';
import type { Timing } from './timing';
import { expireAfter, expireAt, readExpireAfter, sendAt, sendAtTimezone } from './timing';
import { readLink, utmParameters } from './utm';
import { fieldOf, isThere, readSwitch, switchProperty, textProperty } from './values';

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

const autoHide = switchProperty(
	'Auto Hide',
	'autoHide',
	'Whether the notification closes by itself after a few seconds',
);

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

/** A field that is read by itself. */
interface OwnField {
	readonly property: INodeProperties;
	/** The name of its value in the body: it is offered if the service accepts that. */
	readonly bodyName: keyof OptionalFields;
	/** Reads it, if it was added; an empty text is not sent. */
	readonly read: (item: ItemParameters, field: Field, audience: Audience) => string | 0 | 1;
}

const ownFields: readonly OwnField[] = [
	{
		property: autoHide,
		bodyName: 'auto_hide',
		read: (item, field, audience) =>
			autoHideValue(audience, readSwitch(item, field, autoHide.default)),
	},
	{
		property: campaignName,
		bodyName: 'name',
		read: (item, field) => readText(item, field, 'line', maxCharacters.name),
	},
	{ property: expireAfter, bodyName: 'expire_push', read: readExpireAfter },
	{ property: iconUrl, bodyName: 'icon', read: readPicture },
	{ property: imageUrl, bodyName: 'image', read: readPicture },
];

/** What every send takes, and what is read with other fields. */
const others = [expireAt, quietHours, sendAt, sendAtTimezone, utmParameters];

/** What is left over from another operation is not read. */
const ownFieldsOf = (audience: Audience): OwnField[] =>
	ownFields.filter(({ bodyName }) => audienceRules[audience].accepts.includes(bodyName));

const byName = (one: INodeProperties, other: INodeProperties) =>
	one.displayName.localeCompare(other.displayName, 'en');

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
		options: [...ownFieldsOf(audience).map(({ property }) => property), ...others].sort(byName),
	},
	sendOptions,
];

/** What reads the content of an item, field by field: none depends on another one. */
export function contentReaders(item: ItemParameters, audience: Audience) {
	const seen = (field: Field, use: 'line' | 'lines', limit: number) =>
		requireText(item, field, readText(item, field, use, limit));
	const enteredUrl = () => requireText(item, urlField, readAddress(item, urlField));
	return {
		title: () => seen(titleField, 'line', maxCharacters.title),
		message: () => seen(messageField, 'lines', maxCharacters.message),
		/** As it was entered, without the UTM parameters that are added. */
		enteredUrl,
		link: () => readLink(item, urlField, maxCharacters.targetUrl),
		ownFields: ownFieldsOf(audience).map(({ property, bodyName, read }) => (): OptionalFields => {
			const field = fieldOf(property, 'additionalFields');
			const value = isThere(item, field) ? read(item, field, audience) : '';
			return value === '' ? {} : { [bodyName]: value };
		}),
		buttons: () => readButtons(item, audience),
	};
}

/** The content of a send. */
interface Content {
	readonly notification: Notification;
	/** The target URL without the UTM parameters that are added. */
	readonly enteredUrl: string;
}

/** Reads what subscribers get. @throws InvalidInput naming the field */
export function readContent(item: ItemParameters, audience: Audience, timing: Timing): Content {
	const read = contentReaders(item, audience);
	const [title, message, enteredUrl] = [read.title(), read.message(), read.enteredUrl()];
	let notification: Notification = { title, message, target_url: read.link() };
	for (const readField of read.ownFields) notification = { ...notification, ...readField() };
	const buttons = read.buttons();
	if (buttons.length > 0) notification = { ...notification, action_buttons: buttons };
	const sendAtText = timing.effective?.text;
	if (sendAtText !== undefined) notification = { ...notification, send_at: sendAtText };
	return { notification, enteredUrl };
}
