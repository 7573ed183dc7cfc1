import type { INodeProperties } from 'n8n-workflow';
import { z } from 'zod/v3';

import type { Audience } from '../service/rules';
import { autoHideValue, maxCharacters } from '../service/rules';
import type { BodyField } from '../service/schemas';
import { bodies, buttonLimits } from '../service/schemas';
import { actionButtons, readButtons } from './actionButtons';
import { fieldOf, judgeOf } from './judgeText';
import type { SendOperation, TimedSend } from './operation';
import { readSendOptions, sendOptions } from './options';
import type { ItemParameters } from './parameters';
import { check, readCollection, required, toggle } from './parameters';
import type { QuietHours } from './quietHours';
import { quietHours } from './quietHours';
import { campaignName, iconUrl, imageUrl, message, SendTexts, targetUrl, title } from './sendTexts';
import { expireAfter, sendAt, sendAtTimezone, timingSchema, toTiming } from './timing';
import { toUtm, utmParameters, utmSchema } from './utm';

const autoHide = {
	displayName: 'Auto Hide',
	name: 'autoHide',
	type: 'boolean',
	default: true,
	description:
		'Whether the notification closes by itself after a few seconds. Otherwise it stays until the subscriber clicks or closes it.',
} satisfies INodeProperties;

/** The parameters of every send, by the field of the body that they fill, in the panel's order. */
const alwaysShown = { title, message, target_url: targetUrl, action_buttons: actionButtons };

/** Those of Additional Fields, likewise. A panel offers the fields that the service accepts for its audience. */
const additional: Record<Exclude<BodyField, keyof typeof alwaysShown>, INodeProperties> = {
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

/** Texts are checked with the body that they become. */
const additionalSchema = timingSchema.extend({
	autoHide: toggle.optional(),
	iconUrl: z.unknown(),
	imageUrl: z.unknown(),
	name: z.unknown(),
	utmParameters: utmSchema.optional(),
});

/** The parameters of a send beside those of its audience. */
export function sendProperties(audience: Audience): INodeProperties[] {
	const accepted = Object.entries(additional).filter(([field]) => field in bodies[audience].shape);
	const offered = [...accepted.map(([, property]) => property), ...ownFields];
	const byName = (one: INodeProperties, other: INodeProperties) =>
		one.displayName < other.displayName ? -1 : 1;
	return [
		...Object.values(alwaysShown),
		// The editor offers them in this order.
		{ ...additionalFields, options: offered.sort(byName) },
		sendOptions,
	];
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
	const judge = judgeOf(item, options);
	const recipients = select(item, judge);
	const added = readCollection(item, additionalFields, additionalSchema);
	const timing = toTiming(added, item.timezone);
	const utm = toUtm(added.utmParameters, fieldOf(utmParameters, additionalFields).path, judge);
	const texts = new SendTexts(options, utm, judge);

	const buttons = readButtons(item.get(actionButtons));
	const limits = buttonLimits(audience);
	const needed = (property: INodeProperties) => required(item.get(property), property.displayName);
	const fields: Record<BodyField, unknown> = {
		title: texts.read(needed(title), fieldOf(title), maxCharacters.title),
		message: texts.read(needed(message), fieldOf(message), maxCharacters.message),
		target_url: texts.link(needed(targetUrl), fieldOf(targetUrl), maxCharacters.targetUrl),
		action_buttons: buttons.map((button) => ({
			title: texts.read(button.title.value, button.title.field, limits.title),
			url: texts.link(button.url.value, button.url.field, limits.url, true),
		})),
		auto_hide: added.autoHide === undefined ? undefined : autoHideValue(audience, added.autoHide),
		name: texts.readOptional(
			added.name,
			fieldOf(campaignName, additionalFields),
			maxCharacters.name,
		),
		expire_push: added.expireAfter,
		icon: texts.picture(added.iconUrl, fieldOf(iconUrl, additionalFields)),
		image: texts.picture(added.imageUrl, fieldOf(imageUrl, additionalFields)),
		send_at: timing.schedule?.text,
	};
	if (buttons.length === 0) fields.action_buttons = undefined;
	const given = Object.entries({ ...recipients, ...fields }).filter(
		([, value]) => value !== undefined,
	);

	/** The name for users of the field at a path of the body. */
	function nameOf([field, index, part]: ReadonlyArray<string | number>): string | undefined {
		const button = field === 'action_buttons' ? buttons[Number(index)] : undefined;
		if (button !== undefined) return button[part === 'url' ? 'url' : 'title'].field.displayName;
		const properties: Record<string, INodeProperties> = { ...alwaysShown, ...additional };
		return properties[String(field)]?.displayName;
	}
	const body = check(
		bodies[audience],
		Object.fromEntries(given),
		additionalFields.displayName,
		nameOf,
	);
	return { audience, body, options, ...timing };
}
