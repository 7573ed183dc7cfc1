import type { CampaignView } from '../campaigns';
import { element, find } from './elements';
import { isWebUrl, text, withoutQuery } from './texts';

const fileName = (url: unknown) => withoutQuery(url).split('/').pop() || text(url);

const field = (button: unknown, name: string) =>
	text(new Map(Object.entries(button ?? {})).get(name));

function buttonOf(button: unknown): HTMLAnchorElement {
	const made = document.createElement('a');
	const url = field(button, 'url');
	made.textContent = field(button, 'title');
	made.title = url;
	made.target = '_blank';
	made.rel = 'noopener noreferrer';
	if (isWebUrl(url)) made.href = url;
	return made;
}

/**
 * Fills in the notification as a subscriber sees it. Icon and image are not loaded: the page asks no other
 * machine for anything.
 */
export function fillNotification(card: HTMLElement, { body }: CampaignView): void {
	find(card, '.title', HTMLElement).textContent = text(body['title']);
	find(card, '.message', HTMLElement).textContent = text(body['message']);
	const target = text(body['target_url']);
	const link = find(card, '.link', HTMLAnchorElement);
	link.textContent = withoutQuery(target).replace(/^https?:\/\//i, '');
	link.title = target;
	if (isWebUrl(target)) link.href = target;

	const iconUrl = text(body['icon']);
	if (iconUrl !== '') {
		const icon = find(card, '.icon', HTMLElement);
		icon.classList.add('own');
		icon.title = `Icon: ${iconUrl}`;
	}
	const imageUrl = text(body['image']);
	if (imageUrl !== '') {
		const picture = find(card, '.picture', HTMLElement);
		picture.hidden = false;
		picture.title = `Image: ${imageUrl}`;
		picture.replaceChildren(element('span', fileName(imageUrl)));
	}
	const buttons: unknown[] = Array.isArray(body['action_buttons']) ? body['action_buttons'] : [];
	const list = find(card, '.buttons', HTMLElement);
	list.hidden = buttons.length === 0;
	list.append(...buttons.map(buttonOf));
}
