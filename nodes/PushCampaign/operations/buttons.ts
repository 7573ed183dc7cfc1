import type { INodeProperties } from 'n8n-workflow';

import type { Field, ItemParameters } from '../n8n/parameters';
import type { ActionButton, Audience } from '../service/rules';
import { audienceRules, maxCharacters } from '../service/rules';
import { readText, requireText } from './textFields';
import { readLink } from './utm';
import { entriesOf, fieldOf, groupIn, textProperty } from './values';

const buttonTitle = textProperty('Title', 'title', {
	required: true,
	placeholder: 'e.g. Shop now',
	description: 'Text on the button',
});

const buttonUrl = textProperty('URL', 'url', {
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

/** Undefined if nothing of it was filled in. */
function readButton(item: ItemParameters, entry: Field, limit: number): ActionButton | undefined {
	const [titleField, urlField] = [fieldOf(buttonTitle, entry), fieldOf(buttonUrl, entry)];
	const title = readText(item, titleField, 'line', limit);
	const url = readLink(item, urlField, limit);
	if (title === '' && url === '') return undefined;
	return { title: requireText(item, titleField, title), url: requireText(item, urlField, url) };
}

/** Reads the buttons of an item that were filled in. */
export function readButtons(item: ItemParameters, audience: Audience): ActionButton[] {
	const limit = audienceRules[audience].limitsButtons ? maxCharacters.button : Infinity;
	return entriesOf(item, groupIn(fieldOf(actionButtons), 'button'), 'button')
		.map((entry) => readButton(item, entry, limit))
		.filter((button) => button !== undefined);
}
