import type { INodeProperties } from 'n8n-workflow';

import type { Field } from '../n8n/parameters';
import type { ActionButton, Audience } from '../service/rules';
import { audienceRules, maxCharacters } from '../service/rules';
import type { TextSource } from './content';
import { readLink, readSeenText, requireText } from './content';
import { entriesOf, fieldIn, fieldOf, groupIn, textProperty } from './values';

const buttonTitle = textProperty({
	displayName: 'Title',
	name: 'title',
	required: true,
	placeholder: 'e.g. Shop now',
	description: 'Text on the button',
});

const buttonUrl = textProperty({
	displayName: 'URL',
	name: 'url',
	required: true,
	placeholder: 'e.g. https://example.com/sale',
	description: 'Page that the button opens',
});

/** A parameter of its own: in Additional Fields n8n's editor drops a list as long as it has no entry. */
export const actionButtons: INodeProperties = {
	displayName: 'Action Buttons',
	name: 'actionButtons',
	type: 'fixedCollection',
	typeOptions: { multipleValues: true, sortable: true },
	placeholder: 'Add Button',
	default: {},
	description: 'Buttons below the notification, which some browsers do not show',
	options: [{ displayName: 'Button', name: 'button', values: [buttonTitle, buttonUrl] }],
};

/** Reads a button; undefined if nothing of it was filled in. */
function readButton(
	source: TextSource,
	entry: Field,
	audience: Audience,
): ActionButton | undefined {
	const { limitsButtons } = audienceRules[audience];
	const limit = limitsButtons ? maxCharacters.button : Infinity;
	const [titleOf, urlOf] = [fieldIn(buttonTitle, entry), fieldIn(buttonUrl, entry)];
	const text = readSeenText(source, titleOf, limit);
	const url = readLink(source, urlOf, limit);
	if (text === '' && url === '') return undefined;
	const { item } = source;
	return { title: requireText(item, titleOf, text), url: requireText(item, urlOf, url) };
}

/** Reads the buttons of an item that were filled in. */
export function readButtons(source: TextSource, audience: Audience): ActionButton[] {
	const list = groupIn(fieldOf(actionButtons), 'button');
	return entriesOf(source.item, list, 'button')
		.map((entry) => readButton(source, entry, audience))
		.filter((entry) => entry !== undefined);
}
