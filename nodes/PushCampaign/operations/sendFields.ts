import type { INodeProperties } from 'n8n-workflow';

import type { Audience } from '../service/rules';
import { autoHideValue, maxCharacters } from '../service/rules';
import type { BodyField, CampaignBody } from '../service/schemas';
import { bodies, limitsActionButtons } from '../service/schemas';
import { actionButtons, buttonPart, readButtons } from './actionButtons';
import type { PreparedSend, SendOperation } from './operation';
import type { SendOptions } from './options';
import { sendOptions, sendSchema } from './options';
import type { Fields, ItemParameters, Parameter } from './parameters';
import {
	asEntered,
	atMost,
	check,
	ifReadable,
	isBlank,
	readCollection,
	required,
	textProperty,
	toFields,
	toggle,
} from './parameters';
import type { QuietHours } from './quietHours';
import { quietHours } from './quietHours';
import { shortenText } from './shortenText';
import { expireAfter, readExpiry, readTiming, sendAt, sendAtTimezone } from './timing';
import { readUtm, utmParameters, withUtm } from './utm';

// A family emoji is seven code points: what people see is not what is counted.
const howCharactersCount = 'Most emoji count as one character.';

const title = textProperty({
	displayName: 'Title',
	name: 'title',
	required: true,
	placeholder: 'e.g. Summer sale starts today',
	description: `First line of the notification. ${howCharactersCount}`,
	...atMost(maxCharacters.title),
});

const message = textProperty({
	displayName: 'Message',
	name: 'message',
	required: true,
	typeOptions: { rows: 3 },
	placeholder: 'e.g. 20% off everything until Sunday',
	description: `Text of the notification. ${howCharactersCount}`,
	...atMost(maxCharacters.message),
});

const targetUrl = textProperty({
	displayName: 'Target URL',
	name: 'targetUrl',
	required: true,
	placeholder: 'e.g. https://example.com/sale',
	description: 'Page that opens when the notification is clicked',
	...atMost(maxCharacters.targetUrl),
});

const autoHide = {
	displayName: 'Auto Hide',
	name: 'autoHide',
	type: 'boolean',
	default: true,
	description:
		'Whether the notification closes by itself after a few seconds. Otherwise it stays until the subscriber clicks or closes it.',
} satisfies INodeProperties;

const campaignName = textProperty({
	displayName: 'Campaign Name',
	name: 'name',
	placeholder: 'e.g. Summer sale, newsletter readers',
	description: 'Name for reports and the dashboard of your push service. Subscribers never see it.',
	...atMost(maxCharacters.name),
});

const iconUrl = textProperty({
	displayName: 'Icon URL',
	name: 'iconUrl',
	placeholder: 'e.g. https://example.com/icon.png',
	description: 'Small picture beside the text: the https:// address of a PNG of 192 × 192 pixels',
});

const imageUrl = textProperty({
	displayName: 'Image URL',
	name: 'imageUrl',
	placeholder: 'e.g. https://example.com/banner.jpg',
	description:
		'Large picture below the text: an https:// address. Only Chrome on Android and Edge show it.',
});

/** The parameters that every send has, by the field of the body that they fill, in the panel's order. */
const content = { title, message, target_url: targetUrl, action_buttons: actionButtons };

/** Those of Additional Fields, likewise. A panel offers the fields that the service accepts for its audience. */
const additional: Record<Exclude<BodyField, keyof typeof content>, INodeProperties> = {
	auto_hide: autoHide,
	name: campaignName,
	expire_push: expireAfter,
	icon: iconUrl,
	image: imageUrl,
	send_at: sendAt,
};

/** The service does not know these: they change other fields. */
const ownFields = [quietHours, sendAtTimezone, utmParameters];

const collection = { displayName: 'Additional Fields', name: 'additionalFields' } as const;

/** The parameters of a send beside those of its audience. */
export function sendProperties(audience: Audience): INodeProperties[] {
	const accepted = Object.entries(additional).filter(([field]) => field in bodies[audience].shape);
	const offered = [...accepted.map(([, property]) => property), ...ownFields];
	const byName = (one: INodeProperties, other: INodeProperties) =>
		one.displayName < other.displayName ? -1 : 1;
	return [
		...Object.values(content),
		{
			...collection,
			type: 'collection',
			placeholder: 'Add Field',
			default: {},
			// The editor offers them in this order.
			options: offered.sort(byName),
		},
		sendOptions,
	];
}

/** The name for users of the field at a path of a body. */
function nameOf([field, index, part]: ReadonlyArray<string | number>): string | undefined {
	if (part !== undefined) return buttonPart(Number(index), part);
	const properties: Record<string, INodeProperties> = { ...content, ...additional };
	return properties[String(field)]?.displayName;
}

/** A number is taken as its text. */
const toText = (given: unknown) =>
	typeof given === 'number' && Number.isFinite(given) ? String(given) : given;

const trimmed = (given: unknown) => (typeof given === 'string' ? given.trim() : given);

const optional = (given: unknown) => (isBlank(given) ? undefined : given);

/** What names a send in its output item. */
export interface SendNames {
	readonly audience: Audience;
	readonly body: {
		readonly [Field in 'title' | 'name' | 'sid' | 'attribute' | 'segment']?:
			| CampaignBody[Field]
			| undefined;
	};
	readonly options: Partial<Pick<SendOptions, 'idempotencyKey'>>;
}

/**
 * Reads what names a send whose parameters can't be used, as it was entered. What can't be read is left out.
 * Throws nothing.
 */
export function readNames(
	item: ItemParameters,
	{
		audience,
		select,
		selectAsEntered,
	}: Pick<SendOperation, 'audience' | 'select' | 'selectAsEntered'>,
): SendNames {
	const fieldOf = ({ name, displayName }: Parameter, field: string) =>
		asEntered(() => toFields(item.get({ name, displayName }), displayName)[field]);
	return {
		audience,
		body: {
			...(ifReadable(() => select(item)) ?? selectAsEntered?.(item)),
			title: asEntered(() => item.get(title)),
			name: fieldOf(collection, campaignName.name),
		},
		options: { idempotencyKey: fieldOf(sendOptions, 'idempotencyKey') },
	};
}

/** One item's send as it was entered, checked. Its body has the time that was entered. */
export interface EnteredSend extends PreparedSend {
	/** They may put off when it is sent. */
	readonly quietHours?: QuietHours | undefined;
}

/**
 * Reads one item's send and checks it against the service's rules, all but the schedule's lead, which depends on
 * the moment of sending. A value that is left over from another operation is not sent.
 * @throws InvalidInput naming the parameter
 */
export function readSend(
	item: ItemParameters,
	{ audience, select }: Pick<SendOperation, 'audience' | 'select'>,
): EnteredSend {
	const options = readCollection(item, sendOptions, sendSchema);
	const recipients = select(item);
	const added: Fields = toFields(item.get(collection), collection.displayName);
	const timing = readTiming(added, item.timezone);
	const utm = readUtm(added[utmParameters.name]);

	const shortened = (given: unknown, limit: number) => {
		const text = toText(given);
		return options.shortenTexts && typeof text === 'string' ? shortenText(text, limit) : text;
	};
	const needed = (property: INodeProperties) => required(item.get(property), property.displayName);
	const areButtonsLimited = limitsActionButtons(audience);
	const buttons = readButtons(item.get(actionButtons));
	const toButton = ({ title: text, url }: Fields, index: number) => ({
		title: shortened(text, areButtonsLimited ? maxCharacters.buttonTitle : Infinity),
		url: withUtm(trimmed(url), utm, {
			displayName: buttonPart(index, 'url'),
			limit: areButtonsLimited ? maxCharacters.buttonUrl : Infinity,
			isButton: true,
		}),
	});

	const fields: Record<BodyField, unknown> = {
		title: shortened(needed(title), maxCharacters.title),
		message: shortened(needed(message), maxCharacters.message),
		target_url: withUtm(trimmed(needed(targetUrl)), utm, {
			displayName: targetUrl.displayName,
			limit: maxCharacters.targetUrl,
			isButton: false,
		}),
		action_buttons: buttons.length === 0 ? undefined : buttons.map(toButton),
		auto_hide: readAutoHide(added, audience),
		name: shortened(optional(added[campaignName.name]), maxCharacters.name),
		expire_push: readExpiry(added[expireAfter.name]),
		icon: trimmed(optional(added[iconUrl.name])),
		image: trimmed(optional(added[imageUrl.name])),
		send_at: timing.schedule?.text,
	};
	const given = Object.entries({ ...recipients, ...fields }).filter(
		([, value]) => value !== undefined,
	);
	const body = check(bodies[audience], Object.fromEntries(given), collection.displayName, nameOf);
	return { audience, body, options, ...timing };
}

/** Returns the number that the service takes; `undefined` if Auto Hide was not added. */
function readAutoHide(added: Fields, audience: Audience): number | undefined {
	if (!(autoHide.name in added)) return undefined;
	return autoHideValue(audience, check(toggle, added[autoHide.name], autoHide.displayName));
}
