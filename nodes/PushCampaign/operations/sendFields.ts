import type { INodeProperties } from 'n8n-workflow';

import type { Field, ItemParameters } from '../n8n/parameters';
import type { Audience, Notification, OptionalFields } from '../service/rules';
import { audienceRules, autoHideValue, maxCharacters } from '../service/rules';
import { actionButtons, readButtons } from './buttons';
import type { TextSource } from './content';
import { readAddress, readPicture, readSeenText, toLink } from './content';
import { noTextChanges, readTextChanges, sendOptions } from './options';
import { quietHours } from './quietHours';
import { requireText } from './readText';
import type { Timing } from './timing';
import { expireAfter, expireAt, readExpireAfter, sendAt, sendAtTimezone } from './timing';
import { readUtm, utmParameters } from './utm';
import { fieldOf, isThere, readSwitch, textProperty, readable } from './values';

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

/** What fills a field of the body by itself. It is offered where the service accepts that. */
interface Filler {
	readonly property: INodeProperties;
	readonly fills: keyof OptionalFields;
	/** Reads what it fills that with, if it was added; an empty text fills nothing. */
	readonly read: (source: TextSource, field: Field) => string | 0 | 1;
}

const fillers: readonly Filler[] = [
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
	{ property: iconUrl, fills: 'icon', read: readPicture },
	{ property: imageUrl, fills: 'image', read: readPicture },
];

/** What every send takes, and what is read with other fields. */
const others: readonly INodeProperties[] = [
	...[expireAt, quietHours, sendAt, sendAtTimezone, utmParameters],
];

/** What is left over from another operation is not read. */
const fillersFor = (audience: Audience): Filler[] =>
	fillers.filter(({ fills }) => audienceRules[audience].accepts.includes(fills));

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
		options: [...fillersFor(audience).map(({ property }) => property), ...others].sort(byName),
	},
	sendOptions,
];

/** Reads a field if it was added. */
function readFiller(source: TextSource, { property, fills, read }: Filler): OptionalFields {
	const field = fieldOf(property, 'additionalFields');
	const value = isThere(source.item, field) ? read(source, field) : '';
	return value === '' ? {} : { [fills]: value };
}

/** What reads the content of an item, field by field: none depends on another one. */
export function contentReaders(item: ItemParameters, audience: Audience) {
	const source = {
		...{ item, audience },
		changes: readable(() => readTextChanges(item)) ?? noTextChanges,
		utm: readable(() => readUtm(item)) ?? [],
	};
	const seen = (field: Field, limit: number, use: 'line' | 'lines') =>
		requireText(item, field, readSeenText(source, field, limit, use));
	return {
		changes: () => readTextChanges(item),
		utm: () => readUtm(item),
		title: () => seen(titleField, maxCharacters.title, 'line'),
		message: () => seen(messageField, maxCharacters.message, 'lines'),
		/** As it was entered, without the UTM parameters that are added. */
		enteredUrl: () => requireText(item, urlField, readAddress(source, urlField)),
		link: () => toLink(source, urlField, readAddress(source, urlField), maxCharacters.targetUrl),
		fillers: fillersFor(audience).map((filler) => () => readFiller(source, filler)),
		buttons: () => readButtons(source),
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
	read.changes();
	read.utm();
	const [title, message, enteredUrl] = [read.title(), read.message(), read.enteredUrl()];
	let fields: OptionalFields = {};
	for (const readField of read.fillers) fields = { ...fields, ...readField() };
	let notification: Notification = { title, message, target_url: read.link(), ...fields };
	const buttons = read.buttons();
	if (buttons.length > 0) notification = { ...notification, action_buttons: buttons };
	if (timing.effective !== undefined)
		notification = { ...notification, send_at: timing.effective.text };
	return { notification, enteredUrl };
}
