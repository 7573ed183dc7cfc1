import type { INodeProperties } from 'n8n-workflow';

import type { Audience } from '../service/rules';
import { autoHideValue, maxCharacters } from '../service/rules';
import type { BodyField, CampaignBody } from '../service/schemas';
import { accepts, bodies, firstIssue, limitsActionButtons } from '../service/schemas';
import { actionButtons, buttonPart, readButtons } from './actionButtons';
import type { AudienceSelection } from './operation';
import { sendOptions } from './options';
import type { ItemParameters, TextProperty } from './parameters';
import {
	atMost,
	check,
	invalid,
	isBlank,
	required,
	textProperty,
	toFields,
	toggle,
	trimmed,
} from './parameters';
import { shortenText } from './shortenText';
import type { Timing } from './timing';
import { expireAfter, readExpiry, readTiming, sendAt, sendAtTimezone } from './timing';
import type { UtmParameter } from './utm';
import { addUtm, readUtm, utmParameters } from './utm';

/** What a field is read with, beside its own parameter. */
interface Reading extends Timing {
	readonly audience: Audience;
	readonly utm: readonly UtmParameter[];
	/** Whether texts that are too long are cut instead of being refused. */
	readonly shortens: boolean;
}

type Read = (given: unknown, reading: Reading) => unknown;

/** A field of a body: what users see of it, and how it is read. */
interface Field {
	readonly property: INodeProperties;
	/** Gives what goes into the body; `undefined` for nothing. */
	readonly read: Read;
}

/** Reads a text that is cut where the user wants it. */
const fitted =
	(limit: number): Read =>
	(text, { shortens }) =>
		shortens && typeof text === 'string' ? shortenText(text, limit) : text;

const webPage: Read = (url, { utm }) => addUtm(trimmed(url), utm);

/** A text that every send has. */
const requiredText = (text: TextProperty, limit: number, read = fitted(limit)): Field => ({
	property: textProperty({ ...text, required: true, ...atMost(limit) }),
	read: (given, reading) => read(required(given, text.displayName), reading),
});

/** A text that is left out where it is blank. */
const optionalText = (text: TextProperty, read: Read = trimmed): Field => ({
	property: textProperty(text),
	read: (given, reading) => (isBlank(given) ? undefined : read(given, reading)),
});

// A family may be seven code points: what people see is not what is counted.
const howCharactersCount = 'Most emoji count as one character.';

const autoHide = {
	displayName: 'Auto Hide',
	name: 'autoHide',
	type: 'boolean',
	default: true,
	description:
		'Whether the notification closes by itself after a few seconds. Otherwise it stays until the subscriber clicks or closes it.',
} satisfies INodeProperties;

/** The fields that are parameters of their own, by the service's name, as the panel lists them. */
const contentFields = {
	title: requiredText(
		{
			displayName: 'Title',
			name: 'title',
			placeholder: 'e.g. Summer sale starts today',
			description: `First line of the notification. ${howCharactersCount}`,
		},
		maxCharacters.title,
	),
	message: requiredText(
		{
			displayName: 'Message',
			name: 'message',
			typeOptions: { rows: 3 },
			placeholder: 'e.g. 20% off everything until Sunday',
			description: `Text of the notification. ${howCharactersCount}`,
		},
		maxCharacters.message,
	),
	target_url: requiredText(
		{
			displayName: 'Target URL',
			name: 'targetUrl',
			placeholder: 'e.g. https://example.com/sale',
			description: 'Page that opens when the notification is clicked',
		},
		maxCharacters.targetUrl,
		webPage,
	),
	action_buttons: {
		property: actionButtons,
		read(given, reading) {
			const limit = limitsActionButtons(reading.audience) ? maxCharacters.buttonTitle : Infinity;
			const buttons = readButtons(given).map(({ title, url }) => ({
				title: fitted(limit)(title, reading),
				url: webPage(url, reading),
			}));
			return buttons.length === 0 ? undefined : buttons;
		},
	},
} satisfies Partial<Record<BodyField, Field>>;

/** Those of Additional Fields, likewise. */
const additionalFields: Record<Exclude<BodyField, keyof typeof contentFields>, Field> = {
	auto_hide: {
		property: autoHide,
		read: (given, { audience }) =>
			autoHideValue(audience, check(toggle, given, autoHide.displayName)),
	},
	name: optionalText(
		{
			displayName: 'Campaign Name',
			name: 'name',
			placeholder: 'e.g. Summer sale, newsletter readers',
			description:
				'Name for reports and the dashboard of your push service. Subscribers never see it.',
			...atMost(maxCharacters.name),
		},
		fitted(maxCharacters.name),
	),
	expire_push: { property: expireAfter, read: readExpiry },
	icon: optionalText({
		displayName: 'Icon URL',
		name: 'iconUrl',
		placeholder: 'e.g. https://example.com/icon.png',
		description: 'Small picture beside the text: the https:// address of a PNG of 192 × 192 pixels',
	}),
	image: optionalText({
		displayName: 'Image URL',
		name: 'imageUrl',
		placeholder: 'e.g. https://example.com/banner.jpg',
		description:
			'Large picture below the text: an https:// address. Only Chrome on Android and Edge show it.',
	}),
	send_at: { property: sendAt, read: (_given, { schedule }) => schedule?.text },
};

/** The additional fields that the service accepts for an audience. */
function additionalFor(audience: Audience): Array<[name: string, field: Field]> {
	return Object.entries(additionalFields).filter(([name]) => accepts(audience, name));
}

const collection = { displayName: 'Additional Fields', name: 'additionalFields' } as const;

/** The parameters of a send beside those of its audience. */
export function sendProperties(audience: Audience): INodeProperties[] {
	return [
		...Object.values(contentFields).map(({ property }) => property),
		{
			...collection,
			type: 'collection',
			placeholder: 'Add Field',
			default: {},
			options: [
				...additionalFor(audience).map(([, { property }]) => property),
				// The service does not know these: what they say goes into other fields.
				sendAtTimezone,
				utmParameters,
			],
		},
		sendOptions,
	];
}

/** What users know the field as that an issue of a body is about. */
function nameOf([name, index, part]: ReadonlyArray<string | number>): string {
	if (part !== undefined) return buttonPart(Number(index), part);
	const fields: Record<string, Field> = { ...contentFields, ...additionalFields };
	return fields[String(name)]?.property.displayName ?? collection.displayName;
}

/**
 * Reads the body of a send and checks it against the service's rules, all but the schedule's lead, which
 * depends on the moment of sending. A value that is left over from another operation is not read, and one
 * that was not added to Additional Fields is left out.
 * @param selection what names the subscribers in it
 * @param shortens whether texts that are too long are cut instead of being refused
 * @throws InvalidInput naming the parameter
 */
export function readBody(
	item: ItemParameters,
	audience: Audience,
	selection: AudienceSelection,
	shortens: boolean,
): Timing & { readonly body: CampaignBody } {
	const added = toFields(item.get(collection), collection.displayName);
	const timing = readTiming(added, item.timezone);
	const reading = { ...timing, audience, shortens, utm: readUtm(added[utmParameters.name]) };
	const fields = new Map<string, unknown>(Object.entries(selection));
	for (const [name, { property, read }] of Object.entries(contentFields)) {
		fields.set(name, read(item.get(property), reading));
	}
	for (const [name, { property, read }] of additionalFor(audience)) {
		if (property.name in added) fields.set(name, read(added[property.name], reading));
	}
	const filledIn = [...fields].filter(([, value]) => value !== undefined);
	const checked = bodies[audience].safeParse(Object.fromEntries(filledIn));
	if (checked.success) return { body: checked.data, ...timing };
	const issue = firstIssue(checked.error);
	throw invalid(nameOf(issue.path), issue.message, issue.advice);
}
