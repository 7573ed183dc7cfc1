import type { SimulatorState } from '../options';
import { showCampaigns } from './campaigns';
import { becomeChatPage, isChatPage, showChat } from './chat';
import { change, readState } from './control';
import { byId, find } from './elements';
import { faultButtons, showFaults } from './faults';
import { formatNumber, plural } from './texts';

const hourMs = 3_600_000;
const pageSize = 50;

const query = find(document, '#query', HTMLInputElement);
let shownAtMost = pageSize;

function showFound({ campaigns, campaignCount, foundCount }: SimulatorState): void {
	byId('empty').hidden = campaignCount > 0;
	byId('search').hidden = campaignCount === 0;
	byId('found').textContent =
		query.value.trim() === ''
			? ''
			: `${formatNumber(foundCount)} of ${plural(campaignCount, 'send')}`;
	const unseen = foundCount - campaigns.length;
	byId('more').hidden = unseen === 0;
	byId('more').textContent =
		unseen > pageSize ? `Show ${pageSize} more of ${formatNumber(unseen)}` : `Show ${unseen} more`;
}

function show(state: SimulatorState): void {
	const { active, lifetime } = state.settings.subscribers;
	byId('active').textContent = formatNumber(active);
	byId('lifetime').textContent = formatNumber(lifetime);
	byId('count').textContent = formatNumber(state.campaignCount);
	byId('address').textContent = state.url;
	byId('chatAddress').textContent = `${location.origin}/chat`;
	showChat(state.messages);
	if (isChatPage) return;
	byId('hour').hidden = state.campaignCount === 0;
	byId('faults').hidden = false;
	showFaults(state);
	showFound(state);
	showCampaigns(state.campaigns, refreshNow);
}

/** Only what was asked for last is shown: an older answer may come after a newer one. */
let asked = 0;

async function refresh(): Promise<void> {
	asked += 1;
	const mine = asked;
	try {
		const state = await readState(shownAtMost, query.value);
		if (mine !== asked) return;
		byId('lost').hidden = true;
		show(state);
	} catch (error) {
		byId('lost').hidden = false;
		byId('lost').textContent =
			error instanceof TypeError
				? 'The simulator has stopped. These are the last numbers it reported. Start it again to go on.'
				: String(error);
	}
}

function refreshNow(): void {
	void refresh();
}

async function poll(): Promise<void> {
	if (!document.hidden) await refresh();
	setTimeout(() => void poll(), 1000);
}

query.addEventListener('input', () => {
	shownAtMost = pageSize;
	refreshNow();
});
byId('more').addEventListener('click', () => {
	shownAtMost += pageSize;
	refreshNow();
});
byId('hour').addEventListener('click', () => {
	void change('age', hourMs).then(refreshNow);
});
for (const button of faultButtons()) {
	button.addEventListener('click', () => {
		void change('toggleFault', button.dataset['fault']).then(refreshNow);
	});
}

if (isChatPage) becomeChatPage();
void poll();
