import { failures, ownFailures, type Failure } from './failures';
import { isJsonObject } from './json';
import { minimumLeadMs, parseSendAt } from './schedule';

/** What a field's rule depends on besides the value. */
export interface FieldContext {
	/** Epoch milliseconds. */
	readonly now: number;
	/** Characters of a button's title and URL; Infinity if the operation states no limit. */
	readonly buttonLimit: number;
	readonly hasSubscriber: (sid: string) => boolean;
}

/** The failure that a value earns; undefined if it is accepted. */
type FieldRule = (value: unknown, context: FieldContext) => Failure | undefined;

const { wrongType, wrongValue } = ownFailures;

/** Characters are Unicode code points. */
const isLongerThan = (value: string, limit: number) => [...value].length > limit;

/** Strict: the URL parser trims and repairs, and what it would repair is no URL as written. */
function isUrl(value: string, scheme: RegExp): boolean {
	if (!scheme.test(value) || /[\s\p{Cc}]/u.test(value)) return false;
	try {
		return new URL(value).host !== '';
	} catch {
		return false;
	}
}

const webScheme = /^https?:\/\/[^/]/i;
const secureScheme = /^https:\/\/[^/]/i;

function text(name: string, limit: number): FieldRule {
	return (value) => {
		if (typeof value !== 'string') return wrongType(name, 'a string');
		if (!isLongerThan(value, limit)) return undefined;
		return wrongValue(name, `must not be longer than ${limit} characters`);
	};
}

/** Whether there is a 192 x 192 PNG behind the URL is not asked: the simulator loads nothing. */
function pictureUrl(name: string): FieldRule {
	return (value) => {
		if (typeof value !== 'string') return wrongType(name, 'a string');
		return isUrl(value, secureScheme) ? undefined : wrongValue(name, 'must be an HTTPS URL');
	};
}

const targetUrl: FieldRule = (value, context) => {
	const failure = text('target_url', 255)(value, context);
	if (failure) return failure;
	return isUrl(String(value), webScheme) ? undefined : wrongValue('target_url', 'must be a URL');
};

/** "A number followed by a unit letter": a whole number from 1, and nothing in between. */
const expirePush: FieldRule = (value) => {
	const isExpiry = typeof value === 'string' && /^[1-9]\d*[mhd]$/.test(value);
	return isExpiry ? undefined : failures.expirePushFormat;
};

const autoHide: FieldRule = (value) => {
	if (!Number.isInteger(value)) return wrongType('auto_hide', 'an integer');
	return value === 0 || value === 1 ? undefined : wrongValue('auto_hide', 'must be 0 or 1');
};

/** Exactly 5 minutes ahead is enough. */
const sendAt: FieldRule = (value, { now }) => {
	const time = parseSendAt(value);
	if (time === undefined) return failures.sendAtFormat;
	return time - now < minimumLeadMs ? failures.sendAtTooSoon : undefined;
};

/** A button has a title and a URL, and no other field. */
function isButton(value: unknown, limit: number): boolean {
	if (!isJsonObject(value)) return false;
	const { title, url, ...rest } = value;
	if (typeof title !== 'string' || typeof url !== 'string') return false;
	if (Object.keys(rest).length > 0 || title.trim() === '' || !isUrl(url, webScheme)) return false;
	return !isLongerThan(title, limit) && !isLongerThan(url, limit);
}

const actionButtons: FieldRule = (value, { buttonLimit }) => {
	if (!Array.isArray(value)) return failures.buttonsNotArray;
	const isValid = value.every((button) => isButton(button, buttonLimit));
	return isValid ? undefined : failures.buttonValues;
};

/** "Key/value pairs": a value is a text, a number or a boolean. */
const attribute: FieldRule = (value) => {
	if (!isJsonObject(value)) return wrongType('attribute', 'an object of key to value');
	const isPair = ([key, one]: [string, unknown]) =>
		key.trim() !== '' && ['string', 'number', 'boolean'].includes(typeof one);
	if (Object.entries(value).every(isPair)) return undefined;
	return wrongValue('attribute', 'must hold pairs of key and text, number or boolean');
};

/** Segments can't be listed, and no failure says that there is none: any text or whole number is one. */
const segment: FieldRule = (value) => {
	if (!Array.isArray(value)) return wrongType('segment', 'an array');
	const isId = (id: unknown) =>
		typeof id === 'string' ? id.trim() !== '' : Number.isSafeInteger(id);
	return value.every(isId) ? undefined : wrongValue('segment', 'must hold segment IDs only');
};

/** A number beyond 2^53 has lost digits by the time it is read, so it is nobody's ID. */
const sid: FieldRule = (value, { hasSubscriber }) => {
	if (typeof value !== 'string' && typeof value !== 'number') return wrongType('sid', 'a number');
	const isExact = typeof value === 'string' || Number.isSafeInteger(value);
	return isExact && hasSubscriber(String(value)) ? undefined : failures.unknownSubscriber;
};

/** The rules of all fields of the send operations (Specification, Resources and Limits). */
export const fieldRules = {
	title: text('title', 100),
	message: text('message', 255),
	target_url: targetUrl,
	name: text('name', 100),
	icon: pictureUrl('icon'),
	image: pictureUrl('image'),
	expire_push: expirePush,
	auto_hide: autoHide,
	send_at: sendAt,
	action_buttons: actionButtons,
	attribute,
	segment,
	sid,
} satisfies Record<string, FieldRule>;

export type FieldName = keyof typeof fieldRules;
