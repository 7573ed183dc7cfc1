import type { CampaignView } from '../campaigns';
import { makeCard, showStatus, updateCard } from './card';
import { byId, find, fromTemplate } from './elements';
import { audienceOf, clickRate, durationOf, formatNumber, text, timeOf } from './texts';

/** How many of the newest campaigns are shown large. */
const shownLarge = 3;

/** A campaign on the page. */
interface Shown {
	readonly element: HTMLElement;
	update(campaign: CampaignView): void;
}

function showLarge(campaign: CampaignView, onClicks: () => void): Shown {
	const card = makeCard(campaign, onClicks);
	return { element: card, update: (now) => updateCard(card, now) };
}

/** One line; a click on it opens the card below. */
function showAsRow(campaign: CampaignView, onClicks: () => void): Shown {
	const row = fromTemplate('rowTemplate');
	let latest = campaign;
	let card: HTMLElement | undefined;
	find(row, 'b', HTMLElement).textContent = text(campaign.body['title']);
	const isForOne = campaign.audience === 'sid';
	const id = isForOne ? '' : ` · ${campaign.id}`;
	find(row, '.what span', HTMLElement).textContent = `${audienceOf(campaign)}${id}`;
	row.addEventListener('toggle', () => {
		card ??= row.appendChild(makeCard(campaign, onClicks));
		updateCard(card, latest);
	});
	const update = (now: CampaignView) => {
		latest = now;
		const waits = now.elapsedMs < 0;
		showStatus(row, now);
		find(row, '.numbers', HTMLElement).textContent =
			waits || isForOne
				? ''
				: `${formatNumber(now.counters.delivered)} delivered · ${clickRate(now)} clicked`;
		const time = find(row, 'time', HTMLElement);
		time.textContent = waits
			? `in ${durationOf(-now.elapsedMs)}`
			: `${durationOf(now.elapsedMs)} ago`;
		time.title = timeOf(now);
		if (card) updateCard(card, now);
	};
	return { element: row, update };
}

/** Puts children in this order. Those that are in it already are left alone, and so keep the focus. */
function order(parent: HTMLElement, children: readonly HTMLElement[]): void {
	const isOrdered =
		parent.children.length === children.length &&
		children.every((child, index) => parent.children[index] === child);
	if (!isOrdered) parent.replaceChildren(...children);
	parent.hidden = children.length === 0;
}

let shown = new Map<string, Shown>();

/**
 * Shows the newest campaigns large, and the older ones as rows.
 *
 * @param campaigns oldest first
 * @param onClicks called when people were made to click one
 */
export function showCampaigns(campaigns: readonly CampaignView[], onClicks: () => void): void {
	const before = shown;
	shown = new Map();
	const newestFirst = campaigns.toReversed();
	for (const [index, campaign] of newestFirst.entries()) {
		const isLarge = index < shownLarge;
		// A reset gives the same IDs again: the time of creation distinguishes such campaigns.
		const key = `${isLarge ? 'large' : 'row'} ${campaign.createdAt} ${campaign.id}`;
		const show = isLarge ? showLarge : showAsRow;
		const one = before.get(key) ?? show(campaign, onClicks);
		one.update(campaign);
		shown.set(key, one);
	}
	const elements = [...shown.values()].map(({ element }) => element);
	order(byId('newest'), elements.slice(0, shownLarge));
	order(byId('older'), elements.slice(shownLarge));
}
