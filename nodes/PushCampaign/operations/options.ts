import type { INodeProperties } from 'n8n-workflow';

import type { ItemParameters } from '../n8n/parameters';
import type { UnknownOutcome } from '../service/problems';
import { InvalidInput } from '../service/thrown';
import { readText } from './readText';
import type { List } from './values';
import {
	fieldOf,
	isThere,
	missing,
	readable,
	readChoice,
	readSwitch,
	readWholeNumber,
	textProperty,
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

const idempotencyKey = textProperty('Send Only Once', 'idempotencyKey', {
	placeholder: 'e.g. order-1042-shipped',
	description: 'ID of what it is about, such as an order number: each is sent once',
});

const testSubscriberId = textProperty('Test Subscriber ID', 'testSubscriberId', {
	placeholder: 'e.g. 5001',
	description: 'In the editor, only this subscriber gets it; refused in a sub-workflow',
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

const unknownOutcome: INodeProperties & List<UnknownOutcome> = {
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

export const keyField = fieldOf(idempotencyKey, 'options');
export const testSubscriberField = fieldOf(testSubscriberId, 'options');

/** Reads how long one request may take, in milliseconds. */
export function readTimeout(item: ItemParameters): number {
	const field = fieldOf(timeout, 'options');
	if (!isThere(item, field)) return timeout.default;
	return readWholeNumber(item, field, timeout.typeOptions.minValue, timeout.typeOptions.maxValue);
}

const keyExample =
	'Enter an ID of what the notification is about, such as {{ $json.guid }}, or {{ $today.toISODate() }} for one a day.';

/** Reads Send Only Once: undefined if it was not added. @throws InvalidInput */
export function readKey(item: ItemParameters): string | undefined {
	if (!isSentOnlyOnce(item)) return undefined;
	const key = readText(item, keyField, 'exact');
	if (key === '') throw new InvalidInput(missing(item, keyField).message, keyExample);
	return key;
}

/** Whether an item has Send Only Once, whatever is entered there. */
export const isSentOnlyOnce = (item: ItemParameters): boolean => isThere(item, keyField);

const readUnknownOutcome = (item: ItemParameters): UnknownOutcome =>
	readChoice(item, fieldOf(unknownOutcome, 'options'), unknownOutcome);

/** Unknown Outcome, or its default if that can't be read. Throws nothing. */
export const unknownOutcomeOf = (item: ItemParameters): UnknownOutcome =>
	readable(() => readUnknownOutcome(item)) ?? unknownOutcome.default;

/** Whether a switch is on. @throws InvalidInput naming it */
const isOn = (item: ItemParameters, property: typeof dryRun): boolean =>
	readSwitch(item, fieldOf(property, 'options'), false);

/** Whether an item is only to be shown, also if its other options are not valid. Throws nothing. */
export const isDryRun = (item: ItemParameters): boolean =>
	readable(() => isOn(item, dryRun)) === true;

/** Reads the options of a send. @throws InvalidInput naming the option */
export const readSendOptions = (item: ItemParameters) => ({
	dryRun: isOn(item, dryRun),
	timeoutMs: readTimeout(item),
	unknownOutcome: readUnknownOutcome(item),
	idempotencyKey: readKey(item),
});

/** Reads how the texts of a send are changed. */
export const readTextChanges = (item: ItemParameters) => ({
	htmlToText: isOn(item, htmlToText),
	shortenTexts: isOn(item, shortenTexts),
});
