import type { NodeExecutionHint } from 'n8n-workflow';

import { holdsHtml } from '../operations/html';
import type { TimedSend } from '../operations/operation';

/** The most items that are listed. */
const most = 10;

/** The texts that subscribers read, and the name. */
const textsOf = ({ title, message, name, action_buttons: buttons = [] }: TimedSend['body']) => [
	title,
	message,
	name ?? '',
	...buttons.map((button) => button.title),
];

/**
 * Says which items have HTML in a text, as subscribers see it: `&#8217;`, `<b>`.
 * @param sends those that were accepted, and those that were a dry run, by the index of their item
 */
export function htmlHint(sends: ReadonlyMap<number, TimedSend>): NodeExecutionHint[] {
	const items = [...sends]
		.filter(([, { body, options }]) => !options.htmlToText && textsOf(body).some(holdsHtml))
		.map(([index]) => index);
	if (items.length === 0) return [];
	const listed = items.slice(0, most).join(', ');
	const more = items.length > most ? ` and ${items.length - most} more` : '';
	const which = items.length === 1 ? `Item ${listed} contains` : `Items ${listed}${more} contain`;
	return [
		{
			message: `${which} HTML, which subscribers see as it is. To send plain text, add the option Convert HTML to Text.`,
			type: 'warning',
			location: 'outputPane',
		},
	];
}
