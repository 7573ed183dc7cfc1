import type { CampaignView } from '../campaigns';
import { isJsonObject } from '../json';
import { sendOperations } from '../operations';
import { html, readable, textOf, type Html } from './html';

/** How many people a click on the button makes click. */
export const peoplePerClick = 50;
const moment = new Intl.DateTimeFormat('en-GB', {
	day: 'numeric',
	month: 'short',
	year: 'numeric',
	hour: '2-digit',
	minute: '2-digit',
	timeZoneName: 'short',
});

const bell = html`<svg viewBox="0 0 24 24" aria-hidden="true">
	<path d="M12 2a6 6 0 0 0-6 6v5l-2 4h16l-2-4V8a6 6 0 0 0-6-6zm-3 16a3 3 0 0 0 6 0z" />
</svg>`;

/** In the place of a picture, which would come from elsewhere. */
const landscape = html`<svg
	viewBox="0 0 32 16"
	preserveAspectRatio="xMidYMax slice"
	aria-hidden="true"
>
	<circle cx="20" cy="4" r="2" />
	<path d="M0 16 10 5l6 7 5-4 11 8z" />
</svg>`;

function link(url: string, label: string): Html {
	if (!/^https?:/i.test(url)) return html`<span>${label}</span>`;
	return html`<a href="${url}" target="_blank" rel="noopener noreferrer">${label}</a>`;
}

/** As a subscriber sees it, but for icon and image: nothing is loaded from elsewhere. */
function notification({ body }: CampaignView): Html {
	const image = textOf(body['image']).split('/').pop() ?? '';
	const buttons: unknown[] = Array.isArray(body['action_buttons']) ? body['action_buttons'] : [];
	const links = buttons
		.filter(isJsonObject)
		.map(({ title, url }) => link(textOf(url), textOf(title)));
	const [, site = ''] = /^https?:\/\/([^/?#]*)/i.exec(textOf(body['target_url'])) ?? [];
	const hasIcon = body['icon'] !== undefined;
	const picture = html`<div class="image picture">${landscape}</div>
		<small class="caption">${image}</small>`;
	return html`<div class="notification">
		<div class="head">
			<div class="icon ${hasIcon ? 'picture' : ''}">${hasIcon ? landscape : bell}</div>
			<div>
				<b>${textOf(body['title'])}</b>
				<p>${textOf(body['message'])}</p>
				<small>${site}</small>
			</div>
		</div>
		${image === '' ? '' : picture}
		<div class="buttons">${links}</div>
	</div>`;
}

function audienceOf({ audience, audienceSize, body }: CampaignView): string {
	const reach = `${readable(audienceSize)} ${audienceSize === 1 ? 'subscriber' : 'subscribers'}`;
	switch (audience) {
		case 'all':
			return `To all ${reach}`;
		case 'sid':
			return `To subscriber ${textOf(body['sid'])}`;
		case 'segment':
			return `To ${reach} of segment ${[body['segment']].flat().map(textOf).join(' or ')}`;
		case 'attribute': {
			const pairs = Object.entries(body['attribute'] ?? {});
			return `To ${reach} with ${pairs.map((pair) => pair.map(textOf).join(' = ')).join(' or ')}`;
		}
	}
}

function details(campaign: CampaignView): Html {
	const { audience, body, dueAt, isWaiting } = campaign;
	const target = textOf(body['target_url']);
	const lines = [
		html`${isWaiting ? 'Goes' : 'Went'} out on ${moment.format(dueAt)}`,
		html`Opens ${link(target, target)}`,
	];
	if (audience !== 'sid') lines.unshift(html`${audienceOf(campaign)}`);
	if (body['auto_hide'] !== undefined) {
		const closes = body['auto_hide'] === sendOperations[audience].autoHideCloses;
		lines.push(html`${closes ? 'Closes after a few seconds' : 'Stays until clicked or closed'}`);
	}
	return html`<ul>
		${lines.map((line) => html`<li>${line}</li>`)}
	</ul>`;
}

function numbers({ id, audienceSize, counters, clickable }: CampaignView): Html {
	const row = (label: string, count: number) =>
		html`<dt>${label}</dt>
			<dd><progress max="${Math.max(1, audienceSize)}" value="${count}"></progress></dd>
			<dd>${readable(count)}</dd>`;
	const { delivered, clicked } = counters;
	const rate = delivered > 0 ? `${((100 * clicked) / delivered).toFixed(1)}%` : '–';
	const people = Math.min(peoplePerClick, clickable);
	return html`<dl>
			${row('Attempts', counters.total_attempts)} ${row('Sent', counters.successfully_sent)}
			${row('Failed', counters.failed_to_send)} ${row('Delivered', delivered)}
			${row('Clicked', clicked)} ${row('Closed', counters.closed)}
			<dt>Click rate</dt>
			<dd></dd>
			<dd>${rate}</dd>
		</dl>
		<button id="click/${id}" ${people > 0 ? '' : 'hidden'}>
			${people === 1 ? '1 person clicks' : `${people} people click`}
		</button>`;
}

/** A campaign: the notification that it becomes, beside how it does. */
export function card(campaign: CampaignView): Html {
	const { id, audience, body, isWaiting, status } = campaign;
	const isForOne = audience === 'sid';
	const label = isForOne ? audienceOf(campaign) : `Campaign ${id}`;
	const name = body['name'] === undefined ? label : `${textOf(body['name'])} (${label})`;
	return html`<article class="${isWaiting ? 'waiting' : ''}">
		${notification(campaign)}
		<div>
			<h2>${name} <span class="badge">${status}</span></h2>
			${details(campaign)} ${isForOne || isWaiting ? '' : numbers(campaign)}
		</div>
	</article>`;
}

/** A send in one line: to whom, and what. */
export function line(campaign: CampaignView): Html {
	const { body, dueAt } = campaign;
	return html`<li>
		<time>${moment.format(dueAt)}</time> ${audienceOf(campaign)}: <b>${textOf(body['title'])}</b>
	</li>`;
}
