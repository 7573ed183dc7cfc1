import type { INodeProperties } from 'n8n-workflow';
import { z } from 'zod/v3';

import { maxCharacters } from '../service/rules';
import { invalid, isBlank, required, textProperty, toFields, trimmed } from './parameters';

const displayName = 'Action Buttons';

const limit = (characters: number) => `At most ${characters} characters when it is sent to all.`;

/**
 * The buttons below a notification: a parameter of their own, since within Additional Fields n8n's editor
 * drops a list as long as it has no entry. Their fields are not marked as required: a button that was added
 * and not filled in is left out.
 */
export const actionButtons: INodeProperties = {
	displayName,
	name: 'actionButtons',
	type: 'fixedCollection',
	typeOptions: { multipleValues: true, sortable: true },
	placeholder: 'Add Button',
	default: {},
	description: 'Buttons below the notification. Not every browser and device shows them.',
	options: [
		{
			displayName: 'Button',
			name: 'button',
			values: [
				textProperty({
					displayName: 'Title',
					name: 'title',
					placeholder: 'e.g. Shop now',
					description: `Text on the button. ${limit(maxCharacters.buttonTitle)}`,
				}),
				textProperty({
					displayName: 'URL',
					name: 'url',
					placeholder: 'e.g. https://example.com/sale',
					description: `Page that the button opens. ${limit(maxCharacters.buttonUrl)}`,
				}),
			],
		},
	],
};

const buttonList = z.array(z.record(z.string(), z.unknown()));

/** A button that was filled in. */
interface Button {
	readonly title: unknown;
	readonly url: unknown;
	/** The names of its fields, as users see them: counted from 1, blank buttons included. */
	readonly names: { readonly title: string; readonly url: string };
}

/**
 * Reads the buttons that were filled in; a blank one is left out.
 * @param given the parameter's value
 * @throws InvalidInput naming what is missing of one that was filled in by half
 */
export function readButtons(given: unknown): Button[] {
	const { button } = toFields(given, displayName);
	if (button === undefined) return [];
	const buttons = buttonList.safeParse(button);
	if (!buttons.success) throw invalid(displayName, 'is not a list of buttons');
	return buttons.data.flatMap(({ title, url }, index) => {
		if (isBlank(title) && isBlank(url)) return [];
		const place = `of button ${index + 1} in ${displayName}`;
		const names = { title: `Title ${place}`, url: `URL ${place}` };
		return [{ title: required(title, names.title), url: trimmed(required(url, names.url)), names }];
	});
}
