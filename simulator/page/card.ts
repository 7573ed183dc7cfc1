import type { CampaignView } from '../campaigns';
import { change } from './control';
import { element, find, fromTemplate } from './elements';
import { fillNotification } from './notification';
import { audienceOf, clickRate, durationOf, formatNumber, plural, text, timeOf } from './texts';

const peoplePerClick = 50;

const counterLabels = [
	['total_attempts', 'Attempts'],
	['successfully_sent', 'Sent'],
	['failed_to_send', 'Failed'],
	['delivered', 'Delivered'],
	['clicked', 'Clicked'],
	['closed', 'Closed'],
] as const;

function fillDetails(card: HTMLElement, campaign: CampaignView): void {
	const isForOne = campaign.audience === 'sid';
	const label = isForOne ? audienceOf(campaign) : `Campaign ${campaign.id}`;
	const reach = plural(campaign.audienceSize, 'subscriber');
	const details = isForOne ? [] : [`${audienceOf(campaign)} · ${reach}`];
	const expiry = text(campaign.body['expire_push']);
	if (expiry !== '') details.push(`Delivery is attempted for ${expiry}`);
	if (campaign.closesByItself === true) details.push('Closes by itself after a few seconds');
	if (campaign.closesByItself === false) details.push('Stays until clicked or closed');
	const name = text(campaign.body['name']);
	find(card, 'h2', HTMLElement).textContent = name === '' ? label : `${name} (${label})`;
	card.classList.toggle('one', isForOne);
	const list = find(card, '.details', HTMLElement);
	list.append(...details.map((detail) => element('li', detail)), element('li', '', 'when'));
}

function fillCounters(card: HTMLElement): void {
	const rows = counterLabels.map(([counter, label]) => {
		const row = element('div', '');
		const bar = element('span', '', 'bar');
		bar.append(element('i', '', counter));
		const count = element('dd', '0');
		count.dataset['counter'] = counter;
		row.append(element('dt', label), bar, count);
		return row;
	});
	const rate = element('div', '');
	rate.append(element('dt', 'Click rate'), element('span', ''), element('dd', '–', 'rate'));
	find(card, '.counters', HTMLElement).append(...rows, rate);
}

/**
 * A campaign as the notification that it becomes, beside its details and counters.
 *
 * @param onClicks called when people were made to click it
 */
export function makeCard(campaign: CampaignView, onClicks: () => void): HTMLElement {
	const card = fromTemplate('cardTemplate');
	fillNotification(card, campaign);
	fillDetails(card, campaign);
	fillCounters(card);
	find(card, 'button', HTMLButtonElement).addEventListener('click', () => {
		void change('click', campaign.id, peoplePerClick).then(onClicks);
	});
	return card;
}

/** Marks an element as one of a campaign that waits, or is being sent. */
export function showStatus(shown: HTMLElement, { status, elapsedMs }: CampaignView): void {
	shown.classList.toggle('waiting', elapsedMs < 0);
	shown.classList.toggle('sending', status === 'Sending');
	find(shown, '.badge', HTMLElement).textContent = status;
}

/** Shows a campaign's present status and counters on its card. */
export function updateCard(card: HTMLElement, campaign: CampaignView): void {
	showStatus(card, campaign);
	const waits = campaign.elapsedMs < 0;
	find(card, '.when', HTMLElement).textContent = waits
		? `Goes out ${timeOf(campaign)}, in ${durationOf(-campaign.elapsedMs)}`
		: `Went out ${timeOf(campaign)}, ${durationOf(campaign.elapsedMs)} ago`;
	find(card, '.counters', HTMLElement).hidden = waits;
	const people = Math.min(peoplePerClick, campaign.clickable);
	const click = find(card, 'button', HTMLButtonElement);
	click.hidden = people === 0 || campaign.audience === 'sid';
	click.textContent = people === 1 ? '1 person clicks' : `${people} people click`;
	find(card, '.rate', HTMLElement).textContent = clickRate(campaign);
	for (const [counter] of counterLabels) {
		const value = campaign.counters[counter];
		const share = Math.min(1, Math.max(0, value / Math.max(1, campaign.audienceSize)));
		find(card, `[data-counter=${counter}]`, HTMLElement).textContent = formatNumber(value);
		find(card, `i.${counter}`, HTMLElement).style.width = `${share * 100}%`;
	}
}
