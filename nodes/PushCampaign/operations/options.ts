import type { INodeProperties } from 'n8n-workflow';

import type { ItemParameters } from '../n8n/parameters';
import { InvalidInput } from '../service/thrown';
import { htmlToText, readText, shortenTexts } from './textFields';
import {
	fieldOf,
	invalid,
	isOn,
	isThere,
	missing,
	orUndefined,
	readWholeNumber,
	switchProperty,
	textProperty,
} from './values';

const dryRun = switchProperty(
	'Dry Run',
	'dryRun',
	'Whether to only show what would be sent, without sending it',
);

const idempotencyKey = textProperty('Send Only Once', 'idempotencyKey', {
	placeholder: 'e.g. {{ $json.orderId }}',
	description: 'ID of what it is about, such as an order number: each is sent once',
});

const testSubscriberId = textProperty('Test Subscriber ID', 'testSubscriberId', {
	placeholder: 'e.g. 5001',
	description: 'In the editor, only they get it; a published workflow sends to everybody',
});

export const defaultTimeoutMs = 30_000;

const timeout = {
	displayName: 'Timeout',
	name: 'timeout',
	type: 'number',
	default: defaultTimeoutMs,
	// The longest wait that a timer can hold.
	typeOptions: { minValue: 1, maxValue: 2_147_483_647 },
	description: 'How long one request may take, in milliseconds',
} satisfies INodeProperties;

/** The collection of what only some users need, at the end of a panel. */
const collectionOf = (options: INodeProperties[]): INodeProperties => ({
	displayName: 'Options',
	name: 'options',
	type: 'collection',
	placeholder: 'Add option',
	default: {},
	options,
});

export const queryOptions = collectionOf([timeout]);

export const sendOptions = collectionOf([
	htmlToText,
	dryRun,
	idempotencyKey,
	shortenTexts,
	testSubscriberId,
	timeout,
]);

export const keyField = fieldOf(idempotencyKey, 'options');
export const testSubscriberField = fieldOf(testSubscriberId, 'options');

/** In milliseconds. */
export function readTimeout(item: ItemParameters): number {
	const field = fieldOf(timeout, 'options');
	if (!isThere(item, field)) return timeout.default;
	return readWholeNumber(item, field, timeout.typeOptions.minValue, timeout.typeOptions.maxValue);
}

const keyExample = 'Enter an ID of what the notification is about, such as {{ $json.guid }}.';

/** What gives another ID in a Retry. */
const changing =
	/\$(?:now|today|execution|runIndex)\b|Date(?:Time)?\s*\.\s*now|\.(?:local|utc)\(\s*\)|diffToNow|new\s+Date\s*\(\s*\)|Math\s*\.\s*random|randomUUID/;

/** Undefined if Send Only Once was not added. @throws InvalidInput */
export function readKey(item: ItemParameters): string | undefined {
	if (!isSentOnlyOnce(item)) return undefined;
	const [found] = changing.exec(item.expression(keyField) ?? '') ?? [];
	if (found !== undefined) {
		throw invalid(
			keyField,
			`reads the clock, the execution or chance: ${found}`,
			"A Retry would have another ID: write the date into the item by Edit Fields in front of this node, such as into a field 'day', and use {{ $json.day }}.",
		);
	}
	const key = readText(item, keyField, 'id');
	if (key === '') throw new InvalidInput(missing(item, keyField).message, keyExample);
	return key;
}

const isSentOnlyOnce = (item: ItemParameters): boolean => isThere(item, keyField);

/** Whether an item is only to be shown, also if its other options are not valid. Throws nothing. */
export const isDryRun = (item: ItemParameters): boolean =>
	orUndefined(() => isOn(item, dryRun)) === true;

export const isDryRunFixed = (item: ItemParameters): boolean =>
	item.expression(fieldOf(dryRun, 'options')) === undefined;

/** An ID on Fixed is the same for every run: it would send once, ever. */
export const isKeyFixed = (item: ItemParameters): boolean =>
	isSentOnlyOnce(item) && item.expression(keyField) === undefined;

export const readSendOptions = (item: ItemParameters) => ({
	dryRun: isOn(item, dryRun),
	timeoutMs: readTimeout(item),
	idempotencyKey: readKey(item),
});
