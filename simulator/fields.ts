import { failures, type Failure } from './failures';
import { isJsonObject, isLongerThan, type JsonObject } from './json';
import { minimumLeadMs, parseExpirePush, parseSendAt } from './schedule';

/** What a field's rule may depend on besides the value. */
export interface FieldContext {
	/** Epoch milliseconds. */
	readonly now: number;
	/** Limit of a button's title and URL in characters; null where the operation states none. */
	readonly buttonLimit: number | null;
	readonly hasSubscriber: (sid: string) => boolean;
}

/** A field's rule: the failure that a value earns, or null. */
type FieldRule = (value: unknown, context: FieldContext) => Failure | null;

function isUrl(text: string, schemes: RegExp): boolean {
	// The URL parser trims and repairs; what it would repair is not a URL as written.
	if (!schemes.test(text) || /[\s\p{Cc}]/u.test(text)) return false;
	try {
		// Not `URL.canParse`: in Node.js 20 it denies umlauts after some thousand calls.
		return new URL(text).host !== '';
	} catch {
		return false;
	}
}

const webUrl = /^https?:\/\/[^/]/i;
const secureUrl = /^https:\/\/[^/]/i;

function text(name: string, limit: number): FieldRule {
	return (value) => {
		if (typeof value !== 'string') return failures.wrongType(name, 'a string');
		return isLongerThan(value, limit)
			? failures.wrongValue(name, `must not be longer than ${limit} characters`)
			: null;
	};
}

function imageUrl(name: string): FieldRule {
	return (value) => {
		if (typeof value !== 'string') return failures.wrongType(name, 'a string');
		return isUrl(value, secureUrl) ? null : failures.wrongValue(name, 'must be an HTTPS URL');
	};
}

const targetUrl: FieldRule = (value, context) => {
	const failure = text('target_url', 255)(value, context);
	if (failure) return failure;
	return isUrl(String(value), webUrl) ? null : failures.wrongValue('target_url', 'must be a URL');
};

const expirePush: FieldRule = (value) =>
	parseExpirePush(value) === null ? failures.expirePushFormat : null;

const autoHide: FieldRule = (value) => {
	if (!Number.isInteger(value)) return failures.wrongType('auto_hide', 'an integer');
	return value === 0 || value === 1 ? null : failures.wrongValue('auto_hide', 'must be 0 or 1');
};

const sendAt: FieldRule = (value, { now }) => {
	const time = parseSendAt(value);
	if (time === null) return failures.sendAtFormat;
	return time - now < minimumLeadMs ? failures.sendAtTooSoon : null;
};

function isButton(value: unknown, limit: number | null): boolean {
	if (!isJsonObject(value)) return false;
	const { title, url, ...rest } = value;
	if (Object.keys(rest).length > 0) return false;
	if (typeof title !== 'string' || title.trim() === '') return false;
	if (typeof url !== 'string' || !isUrl(url, webUrl)) return false;
	return limit === null || !(isLongerThan(title, limit) || isLongerThan(url, limit));
}

const actionButtons: FieldRule = (value, { buttonLimit }) => {
	if (!Array.isArray(value)) return failures.buttonsNotArray;
	return value.every((button) => isButton(button, buttonLimit)) ? null : failures.buttonValues;
};

const attribute: FieldRule = (value) => {
	if (!isJsonObject(value)) return failures.wrongType('attribute', 'an object of key to value');
	const isPair = ([key, scalar]: [string, unknown]) =>
		key.trim() !== '' && ['string', 'number', 'boolean'].includes(typeof scalar);
	return Object.entries(value).every(isPair)
		? null
		: failures.wrongValue('attribute', 'must hold pairs of key and text, number or boolean');
};

const segment: FieldRule = (value) => {
	if (!Array.isArray(value)) return failures.wrongType('segment', 'an array');
	const isId = (id: unknown) =>
		typeof id === 'string' ? id.trim() !== '' : Number.isSafeInteger(id);
	return value.every(isId) ? null : failures.wrongValue('segment', 'must hold segment IDs only');
};

const sid: FieldRule = (value, { hasSubscriber }) => {
	if (typeof value !== 'string' && typeof value !== 'number') {
		return failures.wrongType('sid', 'a number');
	}
	// A number beyond 2^53 lost digits when its JSON was read: it names nobody for sure.
	const isSure = typeof value === 'string' || Number.isSafeInteger(value);
	return isSure && hasSubscriber(String(value)) ? null : failures.unknownSubscriber;
};

/** The rules of every field of the send operations (Specification, Resources and Limits). */
export const fieldRules = {
	title: text('title', 100),
	message: text('message', 255),
	target_url: targetUrl,
	name: text('name', 100),
	icon: imageUrl('icon'),
	image: imageUrl('image'),
	expire_push: expirePush,
	auto_hide: autoHide,
	send_at: sendAt,
	action_buttons: actionButtons,
	attribute,
	segment,
	sid,
} satisfies Record<string, FieldRule>;

export type FieldName = keyof typeof fieldRules;

/** Whether a required field counts as absent: not there, null, blank text, or an empty list or object. */
export function isAbsent(body: JsonObject, name: FieldName): boolean {
	const value = Object.hasOwn(body, name) ? body[name] : undefined;
	if (value === undefined || value === null) return true;
	if (typeof value === 'string') return value.trim() === '';
	return typeof value === 'object' && Object.keys(value).length === 0;
}
