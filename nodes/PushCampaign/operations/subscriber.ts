import type { Field, ItemParameters } from '../n8n/parameters';
import { readId } from './ids';
import { fieldOf, invalid, textProperty } from './values';

/** Whom Send to Subscriber is for. */
export const subscriberId = textProperty({
	displayName: 'Subscriber ID',
	name: 'subscriberId',
	required: true,
	placeholder: 'e.g. 5001',
	description: 'Digits only; enter a long one as text',
});

/** The option of all sends. */
export const testSubscriberId = textProperty({
	displayName: 'Test Subscriber ID',
	name: 'testSubscriberId',
	placeholder: 'e.g. 5001',
	description: 'In the editor, only this subscriber gets it; refused in a sub-workflow',
});

export const subscriberField = fieldOf(subscriberId);
export const testSubscriberField = fieldOf(testSubscriberId, 'options');

/** @throws InvalidInput naming the field */
export function readSubscriberId(item: ItemParameters, field: Field): string {
	const id = readId(item, field);
	if (/^\d+$/.test(id)) return id;
	throw invalid(field, `is not a number: "${id}"`, 'Enter digits only, such as 5001.');
}
