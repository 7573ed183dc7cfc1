import type { INodeProperties } from 'n8n-workflow';

import type { Audience } from '../service/rules';
import { autoHideValue, maxCharacters } from '../service/rules';
import type { OptionalField } from '../service/schemas';
import { acceptedFields, limitsActionButtons } from '../service/schemas';
import { actionButtons, readButtons } from './actionButtons';
import {
	atMost,
	invalid,
	isBlank,
	readBoolean,
	required,
	textProperty,
	trimmed,
} from './parameters';
import { ellipsis, shortenText } from './shortenText';
import type { Timing } from './timing';
import { expireAfter, readExpiry, sendAt } from './timing';
import type { UtmParameter } from './utm';
import { addUtm } from './utm';

/** What a field is read with, beside its own parameter. */
export interface Reading extends Timing {
	readonly audience: Audience;
	readonly utm: readonly UtmParameter[];
	/** Whether texts that are too long are cut. */
	readonly shortens: boolean;
}

/** A field of a body: what users see of it, and how it is read. */
export interface Field {
	readonly property: INodeProperties;
	/** Whether it is a parameter of its own, and not one of Additional Fields. */
	readonly standsAlone?: boolean;
	/** Gives what goes into the body; `undefined` for nothing. */
	readonly read: (given: unknown, reading: Reading) => unknown;
	/** The name of a part of its value, as users see it. */
	readonly nameOf?: (given: unknown, path: ReadonlyArray<string | number>) => string | undefined;
}

/** Shortens a text that is too long where the user wants it, unless nothing of it would be left. */
function fitted(text: unknown, limit: number, displayName: string, { shortens }: Reading): unknown {
	if (!shortens || typeof text !== 'string') return text;
	const result = shortenText(text, limit);
	if (result !== ellipsis || text === ellipsis) return result;
	throw invalid(
		displayName,
		`can't be shortened to ${limit} characters: nothing of it would be left`,
	);
}

/** A text that every send has. */
const content = (property: INodeProperties, limit: number): Field => ({
	property: { ...property, required: true, ...atMost(limit) },
	standsAlone: true,
	read: (given, reading) =>
		fitted(required(given, property.displayName), limit, property.displayName, reading),
});

/** A text that is left out where it is blank. */
const additional = (
	property: INodeProperties,
	toValue: (text: unknown, reading: Reading) => unknown = trimmed,
): Field => ({
	property,
	read: (given, reading) => (isBlank(given) ? undefined : toValue(given, reading)),
});

// A family may be seven code points: what people see is not what is counted.
const howCharactersCount = 'Most emoji count as one character.';

const targetUrl = textProperty({
	displayName: 'Target URL',
	name: 'targetUrl',
	required: true,
	placeholder: 'e.g. https://example.com/sale',
	description: 'Page that opens when the notification is clicked',
	...atMost(maxCharacters.targetUrl),
});

const campaignName = textProperty({
	displayName: 'Campaign Name',
	name: 'name',
	placeholder: 'e.g. Summer sale, newsletter readers',
	description: 'Name for reports and the dashboard of your push service. Subscribers never see it.',
	...atMost(maxCharacters.name),
});

const autoHide = {
	displayName: 'Auto Hide',
	name: 'autoHide',
	type: 'boolean',
	default: true,
	description:
		'Whether the notification closes by itself after a few seconds. Otherwise it stays until the subscriber clicks or closes it.',
} as const satisfies INodeProperties;

/** Every field that a body may have beside its audience, by the service's name, as the panel lists them. */
const fields: Record<'title' | 'message' | 'target_url' | OptionalField, Field> = {
	title: content(
		textProperty({
			displayName: 'Title',
			name: 'title',
			placeholder: 'e.g. Summer sale starts today',
			description: `First line of the notification. ${howCharactersCount}`,
		}),
		maxCharacters.title,
	),
	message: content(
		textProperty({
			displayName: 'Message',
			name: 'message',
			typeOptions: { rows: 3 },
			placeholder: 'e.g. 20% off everything until Sunday',
			description: `Text of the notification. ${howCharactersCount}`,
		}),
		maxCharacters.message,
	),
	target_url: {
		property: targetUrl,
		standsAlone: true,
		read: (given, { utm }) => addUtm(trimmed(required(given, targetUrl.displayName)), utm),
	},
	action_buttons: {
		property: actionButtons,
		standsAlone: true,
		read(given, reading) {
			const isLimited = limitsActionButtons(reading.audience);
			const buttons = readButtons(given).map(({ title, url, names }) => ({
				title: isLimited ? fitted(title, maxCharacters.buttonTitle, names.title, reading) : title,
				url: addUtm(url, reading.utm),
			}));
			return buttons.length === 0 ? undefined : buttons;
		},
		nameOf(given, [index, part]) {
			const names = readButtons(given)[Number(index)]?.names;
			return part === 'url' ? names?.url : names?.title;
		},
	},
	name: additional(campaignName, (text, reading) =>
		fitted(text, maxCharacters.name, campaignName.displayName, reading),
	),
	icon: additional(
		textProperty({
			displayName: 'Icon URL',
			name: 'iconUrl',
			placeholder: 'e.g. https://example.com/icon.png',
			description:
				'Small picture beside the text: the https:// address of a PNG of 192 × 192 pixels',
		}),
	),
	image: additional(
		textProperty({
			displayName: 'Image URL',
			name: 'imageUrl',
			placeholder: 'e.g. https://example.com/banner.jpg',
			description:
				'Large picture below the text: an https:// address. Only Chrome on Android and Edge show it.',
		}),
	),
	expire_push: { property: expireAfter, read: readExpiry },
	auto_hide: {
		property: autoHide,
		read: (given, { audience }) =>
			autoHideValue(audience, readBoolean(given, autoHide.displayName)),
	},
	send_at: { property: sendAt, read: (_given, { schedule }) => schedule?.text },
};

export const byName = new Map<string, Field>(Object.entries(fields));

/** The fields that the service accepts for an audience. */
export function fieldsFor(audience: Audience): Array<[name: string, field: Field]> {
	const accepted: string[] = ['title', 'message', 'target_url', ...acceptedFields(audience)];
	return [...byName].filter(([name]) => accepted.includes(name));
}
