import type { INodeProperties } from 'n8n-workflow';
import { z } from 'zod/v3';

import { maxCharacters } from '../service/rules';
import type { Fields } from './parameters';
import { invalid, isBlank, required, toFields, trimmed } from './parameters';

const displayName = 'Action Buttons';

/**
 * The parameter of the buttons below a notification.
 * @param atMost the hint that says how long a text may be, where the service limits them
 */
export function actionButtonsProperty(
	atMost: (characters: number) => Pick<INodeProperties, 'hint'>,
): INodeProperties {
	return {
		displayName,
		name: 'actionButtons',
		type: 'fixedCollection',
		typeOptions: { multipleValues: true, sortable: true },
		placeholder: 'Add Button',
		default: { button: [{ title: '', url: '' }] },
		description: 'Buttons below the notification. Not every browser and device shows them.',
		options: [
			{
				displayName: 'Button',
				name: 'button',
				values: [
					{
						displayName: 'Title',
						name: 'title',
						type: 'string',
						default: '',
						required: true,
						placeholder: 'e.g. Shop now',
						description: 'Text of the button',
						...atMost(maxCharacters.buttonTitle),
					},
					{
						displayName: 'URL',
						name: 'url',
						type: 'string',
						default: '',
						required: true,
						placeholder: 'e.g. https://example.com/sale',
						description: 'Page that the button opens',
						...atMost(maxCharacters.buttonUrl),
					},
				],
			},
		],
	};
}

const buttonList = z.array(z.record(z.string(), z.unknown()));

/** A button that was filled in. */
export interface Button {
	readonly title: unknown;
	readonly url: unknown;
	/** Where it stands in the panel, from 0. */
	readonly position: number;
}

/** The name of a part of a button, as users see it. */
export const buttonPart = (part: 'title' | 'url', position: number) =>
	`${part === 'url' ? 'URL' : 'Title'} of button ${position + 1} in ${displayName}`;

/**
 * Reads the buttons that were filled in; an empty one is left out.
 * @throws InvalidInput naming what is missing of one that was filled in by half
 */
export function readButtons({ actionButtons }: Fields): Button[] {
	const { button } = toFields(actionButtons, displayName);
	if (button === undefined) return [];
	const buttons = buttonList.safeParse(button);
	if (!buttons.success) throw invalid(displayName, 'is not a list of buttons');
	return buttons.data
		.map(({ title, url }, position) => ({ title, url, position }))
		.filter(({ title, url }) => !isBlank(title) || !isBlank(url))
		.map(({ title, url, position }) => ({
			title: required(title, buttonPart('title', position)),
			url: trimmed(required(url, buttonPart('url', position))),
			position,
		}));
}
