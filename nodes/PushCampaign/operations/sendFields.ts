import type { INodeProperties } from 'n8n-workflow';

import type { Audience } from '../service/rules';
import { autoHideValue, maxCharacters } from '../service/rules';
import type { Schedule } from '../service/schedule';
import type { BodyField, CampaignBody } from '../service/schemas';
import { bodies, limitsActionButtons } from '../service/schemas';
import { actionButtons, buttonPart, readButtons } from './actionButtons';
import type { SendOperation } from './operation';
import type { SendOptions } from './options';
import { sendOptions, sendSchema } from './options';
import type { ItemParameters, TextProperty } from './parameters';
import {
	atMost,
	check,
	isBlank,
	readCollection,
	required,
	textProperty,
	toFields,
	toggle,
} from './parameters';
import { shortenText } from './shortenText';
import { expireAfter, readExpiry, readTiming, sendAt, sendAtTimezone } from './timing';
import type { UtmParameter } from './utm';
import { addUtm, readUtm, utmParameters } from './utm';

/** One item's send, checked and ready to leave. */
export interface PreparedSend {
	readonly audience: Audience;
	readonly body: CampaignBody;
	readonly options: SendOptions;
	/** Missing where it is sent at once. */
	readonly schedule?: Schedule | undefined;
	/** IANA name of the timezone in which Send At is read where it has no offset. */
	readonly timezone: string;
}

/** What a field is read with, beside its own parameter. */
interface Reading extends Omit<PreparedSend, 'body'> {
	readonly utm: readonly UtmParameter[];
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
	(text, { options }) =>
		options.shortenTexts && typeof text === 'string' ? shortenText(text, limit) : text;

/** A text without the blanks around it; another value as it is. */
const trimmed = (value: unknown) => (typeof value === 'string' ? value.trim() : value);

const webPage: Read = (url, { utm }) => addUtm(trimmed(url), utm);

/** What a panel says of a text, and how it is read. */
type Text = TextProperty & { readonly read?: Read };
type LimitedText = Text & { readonly limit: number };

/** A text that every send has. */
const requiredText = ({ limit, read = fitted(limit), ...text }: LimitedText): Field => ({
	property: textProperty({ ...text, required: true, ...atMost(limit) }),
	read: (given, reading) => read(required(given, text.displayName), reading),
});

/** A text that is left out where it is blank. */
const optionalText = ({ read = trimmed, ...text }: Text): Field => ({
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
	title: requiredText({
		displayName: 'Title',
		name: 'title',
		placeholder: 'e.g. Summer sale starts today',
		description: `First line of the notification. ${howCharactersCount}`,
		limit: maxCharacters.title,
	}),
	message: requiredText({
		displayName: 'Message',
		name: 'message',
		typeOptions: { rows: 3 },
		placeholder: 'e.g. 20% off everything until Sunday',
		description: `Text of the notification. ${howCharactersCount}`,
		limit: maxCharacters.message,
	}),
	target_url: requiredText({
		displayName: 'Target URL',
		name: 'targetUrl',
		placeholder: 'e.g. https://example.com/sale',
		description: 'Page that opens when the notification is clicked',
		limit: maxCharacters.targetUrl,
		read: webPage,
	}),
	action_buttons: {
		property: actionButtons,
		read(given, reading) {
			const buttons = readButtons(given);
			if (buttons.length === 0) return undefined;
			const limit = limitsActionButtons(reading.audience) ? maxCharacters.buttonTitle : Infinity;
			return buttons.map(({ title, url }) => ({
				title: fitted(limit)(title, reading),
				url: webPage(url, reading),
			}));
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
	name: optionalText({
		displayName: 'Campaign Name',
		name: 'name',
		placeholder: 'e.g. Summer sale, newsletter readers',
		description:
			'Name for reports and the dashboard of your push service. Subscribers never see it.',
		...atMost(maxCharacters.name),
		read: fitted(maxCharacters.name),
	}),
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
	return Object.entries(additionalFields).filter(([name]) => name in bodies[audience].shape);
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

/** What users know the field at a path of a body as. */
function nameOf([name, index, part]: ReadonlyArray<string | number>): string | undefined {
	if (part !== undefined) return buttonPart(Number(index), part);
	const fields: Record<string, Field> = { ...contentFields, ...additionalFields };
	return fields[String(name)]?.property.displayName;
}

/**
 * Makes what reads one item's send and checks it against the service's rules, all but the schedule's lead,
 * which depends on the moment of sending. A value that is left over from another operation is not read, and one
 * that was not added to Additional Fields is left out. It throws InvalidInput naming the parameter.
 */
export function sendReader({ audience, select }: Pick<SendOperation, 'audience' | 'select'>) {
	const additional = additionalFor(audience);
	return (item: ItemParameters): PreparedSend => {
		const options = readCollection(item, sendOptions, sendSchema);
		const fields = new Map<string, unknown>(Object.entries(select(item)));
		const added = toFields(item.get(collection), collection.displayName);
		const send = { audience, options, ...readTiming(added, item.timezone) };
		const reading = { ...send, utm: readUtm(added[utmParameters.name]) };
		for (const [name, { property, read }] of Object.entries(contentFields)) {
			fields.set(name, read(item.get(property), reading));
		}
		for (const [name, { property, read }] of additional) {
			if (property.name in added) fields.set(name, read(added[property.name], reading));
		}
		const body = Object.fromEntries([...fields].filter(([, value]) => value !== undefined));
		return { ...send, body: check(bodies[audience], body, collection.displayName, nameOf) };
	};
}
