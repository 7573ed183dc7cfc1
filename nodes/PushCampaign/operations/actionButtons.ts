import type { INodeProperties } from 'n8n-workflow';

import { maxCharacters } from '../service/rules';
import type { TextField } from './judgeText';
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

/** A button that was filled in. */
export interface EnteredButton {
	readonly title: { readonly value: unknown; readonly field: TextField };
	readonly url: { readonly value: unknown; readonly field: TextField };
}

/**
 * Reads the buttons that were filled in. They keep the numbers that they have in the editor.
 * @throws InvalidInput naming what is missing of a button that is half filled in
 */
export function readButtons(given: unknown): EnteredButton[] {
	const { name, displayName } = actionButtons;
	return toEntries(given, 'button', displayName).flatMap((button, index) => {
		if (isBlank(button[buttonTitle.name]) && isBlank(button[buttonUrl.name])) return [];
		const read = (part: INodeProperties) => {
			const field: TextField = {
				displayName: `${part.displayName} of button ${index + 1} in ${displayName}`,
				path: `${name}.button[${index}].${part.name}`,
			};
			return { field, value: required(button[part.name], field.displayName) };
		};
		return [{ title: read(buttonTitle), url: read(buttonUrl) }];
	});
}
