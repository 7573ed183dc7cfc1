import type { INodeProperties } from 'n8n-workflow';

import { maxCharacters } from '../service/rules';
import type { Fields } from './parameters';
import { isBlank, required, textProperty, toEntries } from './parameters';

const limit = (characters: number) => `At most ${characters} characters with Send to All.`;

const buttonTitle = textProperty({
	displayName: 'Title',
	name: 'title',
	placeholder: 'e.g. Shop now',
	description: `Text on the button. ${limit(maxCharacters.buttonTitle)}`,
});

const buttonUrl = textProperty({
	displayName: 'URL',
	name: 'url',
	placeholder: 'e.g. https://example.com/sale',
	description: `Page that the button opens. ${limit(maxCharacters.buttonUrl)}`,
});

/**
 * The buttons below a notification: a parameter of their own, since within Additional Fields n8n's editor
 * drops a list as long as it has no entry. Their fields are not marked as required: a button that was added
 * and not filled in is left out.
 */
export const actionButtons = {
	displayName: 'Action Buttons',
	name: 'actionButtons',
	type: 'fixedCollection',
	typeOptions: { multipleValues: true, sortable: true },
	placeholder: 'Add Button',
	default: {},
	description: 'Buttons below the notification. Not every browser and device shows them.',
	options: [{ displayName: 'Button', name: 'button', values: [buttonTitle, buttonUrl] }],
} satisfies INodeProperties;

/** The name of a part of a button for users; buttons that were not filled in don't count. */
export const buttonPart = (index: number, part: string | number) =>
	`${part === 'url' ? 'URL' : 'Title'} of button ${index + 1} in ${actionButtons.displayName}`;

/**
 * Reads the buttons that were filled in.
 * @throws InvalidInput naming what is missing of a button that is half filled in
 */
export function readButtons(given: unknown): Fields[] {
	return toEntries(given, 'button', actionButtons.displayName)
		.filter(({ title, url }) => !isBlank(title) || !isBlank(url))
		.map(({ title, url }, index) => ({
			title: required(title, buttonPart(index, 'title')),
			url: required(url, buttonPart(index, 'url')),
		}));
}
