import type { Message } from '../options';
import { byId, element, find } from './elements';

/** Whether this is the chat's own page. */
export const isChatPage = location.pathname === '/chat';

const clock = new Intl.DateTimeFormat('en-GB', { timeStyle: 'short' });

let lastShown = 0;

/** Shows the messages, given oldest first, newest first. */
export function showChat(messages: readonly Message[]): void {
	const last = messages.at(-1)?.at ?? 0;
	byId('chat').hidden = messages.length === 0 && !isChatPage;
	byId('noMessages').hidden = messages.length > 0;
	if (last === lastShown) return;
	lastShown = last;
	const rows = messages.toReversed().map((message) => {
		const row = element('li', '');
		row.append(element('time', clock.format(message.at)), element('span', message.text));
		return row;
	});
	byId('messages').replaceChildren(...rows);
}

/** Makes this the chat's own page. */
export function becomeChatPage(): void {
	document.title = 'Your chat';
	find(document, 'h1', HTMLElement).textContent = 'Your chat';
	find(document, '.facts', HTMLElement).hidden = true;
	find(document, '#chat h2 span', HTMLElement).textContent = 'Messages';
	byId('chat').classList.add('page');
	const link = find(document, '#chatLink', HTMLAnchorElement);
	link.href = '/';
	link.textContent = 'what your subscribers see';
}
