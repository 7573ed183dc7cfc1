import type { INodeProperties } from 'n8n-workflow';

import type { Field, ItemParameters } from '../n8n/parameters';
import type { UnknownOutcome } from '../service/problems';
import { InvalidInput } from '../service/thrown';
import { judge } from './judge';
import { testSubscriberId } from './subscriber';
import {
	asEntered,
	fieldOf,
	isBlank,
	isThere,
	missing,
	readable,
	readChoice,
	readSwitch,
	readWholeNumber,
	textProperty,
	toComparedText,
} from './values';

/** A switch is on when it is added, and off as long as it is not there. */
const switchProperty = (displayName: string, name: string, description: string) =>
	({ displayName, name, type: 'boolean', default: true, description }) as const;

const htmlToText = switchProperty(
	'Convert HTML to Text',
	'htmlToText',
	// n8n shows descriptions as HTML.
	'Whether to turn &lt;b&gt;Sale&lt;/b&gt; &amp;amp; more into Sale &amp; more',
);

const dryRun = switchProperty(
	'Dry Run',
	'dryRun',
	'Whether to only show what would be sent, without sending it',
);

const shortenTexts = switchProperty(
	'Shorten Long Texts',
	'shortenTexts',
	'Whether to cut texts that are too long instead of refusing them',
);

const idempotencyKey = textProperty({
	displayName: 'Send Only Once',
	name: 'idempotencyKey',
	placeholder: 'e.g. order-1042-shipped',
	description: 'ID of what it is about, such as an order number: each is sent once',
});

const timeout = {
	displayName: 'Timeout',
	name: 'timeout',
	type: 'number',
	default: 30_000,
	// The longest wait that a timer can hold.
	typeOptions: { minValue: 1, maxValue: 2_147_483_647 },
	description: 'How long one request may take, in milliseconds',
} satisfies INodeProperties;

const unknownOutcome: INodeProperties = {
	displayName: 'Unknown Outcome',
	name: 'unknownOutcome',
	type: 'options',
	default: 'report',
	options: [
		{
			name: 'Count as Sent',
			value: 'countAsSent',
			description: 'It arrived, or is in the dashboard',
		},
		{ name: 'Report Again', value: 'report', description: 'It is not known yet' },
		{
			name: 'Send Again',
			value: 'resend',
			description: 'It did not arrive, and is not in the dashboard',
		},
	],
	description: 'What to do if an earlier execution left it unknown whether this was sent',
};

/** The collection of what only some users need, at the end of a panel. */
const collectionOf = (options: INodeProperties[]): INodeProperties => ({
	displayName: 'Options',
	name: 'options',
	type: 'collection',
	placeholder: 'Add option',
	default: {},
	options,
});

const optionField = (option: INodeProperties): Field => fieldOf(option, 'options');

export const queryOptions = collectionOf([timeout]);

export const sendOptions = collectionOf([
	htmlToText,
	dryRun,
	idempotencyKey,
	shortenTexts,
	testSubscriberId,
	timeout,
	unknownOutcome,
]);

/** What a user chose for a send. */
export interface SendOptions {
	readonly dryRun: boolean;
	/** Milliseconds for one request. */
	readonly timeoutMs: number;
	readonly unknownOutcome: UnknownOutcome;
	/** Send Only Once; missing if it was not added. */
	readonly idempotencyKey?: string | undefined;
}

/** Reads how long one request may take, in milliseconds. */
export function readTimeout(item: ItemParameters): number {
	const field = optionField(timeout);
	if (!isThere(item, field)) return timeout.default;
	return readWholeNumber(item, field, timeout.typeOptions.minValue, timeout.typeOptions.maxValue);
}

const keyField = optionField(idempotencyKey);

const keyExample =
	'Enter an ID of what the notification is about, such as {{ $json.guid }}, or {{ $today.toISODate() }} for one a day.';

/** Reads Send Only Once: undefined if it was not added. @throws InvalidInput */
export function readKey(item: ItemParameters): string | undefined {
	if (!isThere(item, keyField)) return undefined;
	const key = toComparedText(keyField, item.get(keyField));
	if (isBlank(key)) throw new InvalidInput(missing(item, keyField).message, keyExample);
	judge(item, keyField, key, 'exact');
	return key;
}

/** Send Only Once as it was entered, valid or not. Throws nothing. */
export const keyAsEntered = (item: ItemParameters): string | undefined => asEntered(item, keyField);

/** Reads Unknown Outcome. @throws InvalidInput */
const readUnknownOutcome = (item: ItemParameters): UnknownOutcome =>
	readChoice(item, optionField(unknownOutcome), ['report', 'resend', 'countAsSent'], 'report');

/** Unknown Outcome, or its default if that can't be read. Throws nothing. */
export const unknownOutcomeOf = (item: ItemParameters): UnknownOutcome =>
	readable(() => readUnknownOutcome(item)) ?? 'report';

/**
 * Reads the options of a send.
 * @throws InvalidInput naming the option
 */
export const readSendOptions = (item: ItemParameters): SendOptions => ({
	dryRun: readSwitch(item, optionField(dryRun), false),
	timeoutMs: readTimeout(item),
	unknownOutcome: readUnknownOutcome(item),
	idempotencyKey: readKey(item),
});

/** Whether an item has Send Only Once, whatever is entered there. */
export const isSentOnlyOnce = (item: ItemParameters): boolean => isThere(item, keyField);

/** Whether an item is only to be shown, also if its other options are not valid. Throws nothing. */
export const isDryRun = (item: ItemParameters): boolean =>
	readable(() => readSwitch(item, optionField(dryRun), false)) === true;

/** Reads how the texts of a send are changed. */
export const readTextChanges = (item: ItemParameters) => ({
	htmlToText: readSwitch(item, optionField(htmlToText), false),
	shortenTexts: readSwitch(item, optionField(shortenTexts), false),
});
