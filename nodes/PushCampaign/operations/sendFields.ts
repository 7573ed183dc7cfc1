import type { INodeProperties } from 'n8n-workflow';

import type { Audience } from '../service/rules';
import { autoHideValue, maxCharacters } from '../service/rules';
import type { BodyField, CampaignBody } from '../service/schemas';
import { bodies, limitsActionButtons } from '../service/schemas';
import type { EnteredButton } from './actionButtons';
import { actionButtons, readButtons } from './actionButtons';
import type { TextField } from './judgeText';
import { judgeNothing, judgeOf } from './judgeText';
import type { TimedSend, SendOperation } from './operation';
import type { SendOptions } from './options';
import { readSendOptions, sendOptions } from './options';
import type { Fields, ItemParameters, Parameter } from './parameters';
import { asEntered, check, ifReadable, isBlank, required, toFields, toggle } from './parameters';
import type { QuietHours } from './quietHours';
import { quietHours } from './quietHours';
import { campaignName, iconUrl, imageUrl, message, SendTexts, targetUrl, title } from './sendTexts';
import { expireAfter, readExpiry, readTiming, sendAt, sendAtTimezone } from './timing';
import { readUtm, utmParameters } from './utm';

const autoHide = {
	displayName: 'Auto Hide',
	name: 'autoHide',
	type: 'boolean',
	default: true,
	description:
		'Whether the notification closes by itself after a few seconds. Otherwise it stays until the subscriber clicks or closes it.',
} satisfies INodeProperties;

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

/** All that Additional Fields can hold. */
const additionalFields = {
	displayName: 'Additional Fields',
	name: 'additionalFields',
	type: 'collection',
	placeholder: 'Add Field',
	default: {},
	options: [...Object.values(additional), ...ownFields],
} satisfies INodeProperties;

/** The parameters of a send beside those of its audience. */
export function sendProperties(audience: Audience): INodeProperties[] {
	const accepted = Object.entries(additional).filter(([field]) => field in bodies[audience].shape);
	const offered = [...accepted.map(([, property]) => property), ...ownFields];
	const byName = (one: INodeProperties, other: INodeProperties) =>
		one.displayName < other.displayName ? -1 : 1;
	return [
		...Object.values(content),
		// The editor offers them in this order.
		{ ...additionalFields, options: offered.sort(byName) },
		sendOptions,
	];
}

/** The name for users of the field at a path of a body. */
function nameOf(
	[field, index, part]: ReadonlyArray<string | number>,
	buttons: readonly EnteredButton[],
): string | undefined {
	const button = buttons[Number(index)];
	if (button !== undefined) return (part === 'url' ? button.url : button.title).field.displayName;
	const properties: Record<string, INodeProperties> = { ...content, ...additional };
	return properties[String(field)]?.displayName;
}

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
	const fieldOf = (collection: Parameter, field: string) =>
		asEntered(() => toFields(item.get(collection), collection.displayName)[field]);
	return {
		audience,
		body: {
			...(ifReadable(() => select(item, judgeNothing)) ?? selectAsEntered?.(item)),
			title: asEntered(() => item.get(title)),
			name: fieldOf(additionalFields, campaignName.name),
		},
		options: { idempotencyKey: fieldOf(sendOptions, 'idempotencyKey') },
	};
}

/** One item's send as it was entered, checked. Its body has the time that was entered. */
export interface EnteredSend extends TimedSend {
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
	const options = readSendOptions(item);
	const judge = judgeOf(item, options.allowEmptyParts);
	const recipients = select(item, judge);
	const { name: collection, displayName } = additionalFields;
	const added: Fields = toFields(item.get(additionalFields), displayName);
	const timing = readTiming(added, item.timezone);
	const utmPlace = `${collection}.${utmParameters.name}`;
	const utm = readUtm(added[utmParameters.name], utmPlace, judge);
	const texts = new SendTexts(options, utm, judge);

	const needed = (property: INodeProperties) => required(item.get(property), property.displayName);
	const fieldOf = (property: Parameter): TextField => ({
		displayName: property.displayName,
		place: property.name,
	});
	const addedFieldOf = (property: Parameter): TextField => ({
		displayName: property.displayName,
		place: `${collection}.${property.name}`,
	});
	const buttons = readButtons(item.get(actionButtons));
	const areButtonsLimited = limitsActionButtons(audience);
	const maxTitle = areButtonsLimited ? maxCharacters.buttonTitle : Infinity;
	const maxUrl = areButtonsLimited ? maxCharacters.buttonUrl : Infinity;
	const toButton = (button: EnteredButton) => ({
		title: texts.read(button.title.value, button.title.field, maxTitle),
		url: texts.link(button.url.value, button.url.field, maxUrl, true),
	});

	const name = optional(added[campaignName.name]);
	const icon = optional(added[iconUrl.name]);
	const image = optional(added[imageUrl.name]);
	const fields: Record<BodyField, unknown> = {
		title: texts.read(needed(title), fieldOf(title), maxCharacters.title),
		message: texts.read(needed(message), fieldOf(message), maxCharacters.message),
		target_url: texts.link(needed(targetUrl), fieldOf(targetUrl), maxCharacters.targetUrl),
		action_buttons: buttons.length === 0 ? undefined : buttons.map(toButton),
		auto_hide: readAutoHide(added, audience),
		name: texts.read(name, addedFieldOf(campaignName), maxCharacters.name),
		expire_push: readExpiry(added[expireAfter.name]),
		icon: texts.picture(icon, addedFieldOf(iconUrl)),
		image: texts.picture(image, addedFieldOf(imageUrl)),
		send_at: timing.schedule?.text,
	};
	const given = Object.entries({ ...recipients, ...fields }).filter(
		([, value]) => value !== undefined,
	);
	const body = check(bodies[audience], Object.fromEntries(given), displayName, (path) =>
		nameOf(path, buttons),
	);
	return { audience, body, options, ...timing };
}

/** Returns the number that the service takes; `undefined` if Auto Hide was not added. */
function readAutoHide(added: Fields, audience: Audience): number | undefined {
	if (!(autoHide.name in added)) return undefined;
	return autoHideValue(audience, check(toggle, added[autoHide.name], autoHide.displayName));
}
