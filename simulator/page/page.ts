import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { sendPath } from '../answer';
import { viewOf } from '../campaigns';
import { failures } from '../failures';
import type { Fault } from '../faults';
import { isJsonObject, parseJson } from '../json';
import type { PushService, RecordedRequest } from '../service';
import { firstSubscriberId, segmentShares } from '../subscribers';
import { card, line, peoplePerClick } from './card';
import { html, readable, textOf, type Html } from './html';

const skeleton = readFileSync(join(__dirname, 'page.html'), 'utf8');

/** The page loads nothing from elsewhere. */
export const pageHeaders = {
	'content-type': 'text/html; charset=utf-8',
	'cache-control': 'no-store',
	'content-security-policy':
		"default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; connect-src 'self'; img-src data:",
};

const mostCards = 20;
const mostLines = 50;
const mostFailures = 5;
const clock = new Intl.DateTimeFormat('en-GB', { timeStyle: 'long' });

function campaigns(service: PushService, url: string): Html {
	const { size } = service.campaigns;
	if (size === 0) {
		return html`<p>
			<b>Nothing sent yet.</b> Execute a workflow that sends with a Push Campaign node. Its campaign
			appears here, as the notification that subscribers would see. A credential of your own needs
			the Base URL <code>${url}</code>, and the key and token that the terminal shows.
		</p>`;
	}
	const now = service.now();
	const newest = [...service.campaigns.values()]
		.reverse()
		.map((campaign) => viewOf(campaign, now, service.settings.lifeSpeed));
	// Sends to one subscriber may be thousands: without them, no campaign is pushed off the page.
	const [newestPersonal] = newest.filter(({ audience }) => audience === 'sid');
	const cards = newest
		.filter((view) => view.audience !== 'sid' || view === newestPersonal)
		.slice(0, mostCards);
	const others = newest.filter((view) => !cards.includes(view));
	const older = html`<section>
		<h2>Sent before</h2>
		<ul>
			${others.slice(0, mostLines).map(line)}
		</ul>
		${others.length > mostLines ? html`<p>And ${readable(others.length - mostLines)} more.</p>` : ''}
	</section>`;
	return html`${cards.map(card)} ${others.length > 0 ? older : ''}`;
}

/** Something that can go wrong. What happens to the next few requests is for sends alone: a trigger's polls would use it up. */
interface Trouble {
	readonly name: string;
	readonly label: string;
	readonly what: string;
	readonly fault: Fault;
}

const match = { path: sendPath };
const outage = {
	description: 'Something went wrong. Please try again after some time',
	status: 503,
};
const troubles: readonly Trouble[] = [
	{
		name: 'lostAnswer',
		label: 'Lose the answer',
		what: 'The next send goes out, but n8n gets no answer.',
		fault: { match, action: { kind: 'reset-after' } },
	},
	{
		name: 'notReached',
		label: 'Lose the send',
		what: 'The next send does not go out, and n8n gets no answer.',
		fault: { match, action: { kind: 'reset-before' } },
	},
	{
		name: 'tooManyRequests',
		label: 'Too many requests',
		what: 'The next 3 sends are refused. The node waits and tries again.',
		fault: { match, times: 3, action: { kind: 'failure', ...failures.tooManyRequests } },
	},
	{
		name: 'unsubscribed',
		label: 'Somebody unsubscribed',
		what: 'The next send to one subscriber finds nobody.',
		fault: {
			match: { path: `${sendPath}sid` },
			action: { kind: 'failure', ...failures.unknownSubscriber },
		},
	},
	{
		name: 'down',
		label: 'Service down',
		what: 'Every request fails, of sends, reads and triggers, until you click again.',
		fault: { times: 0, action: { kind: 'failure', ...outage } },
	},
];

function troubleButton({ faults }: PushService, { name, label, what, fault }: Trouble): Html {
	const left = faults.left(fault);
	const count = left === 0 ? 'on' : `${left} left`;
	return html`<button id="trouble/${name}" aria-pressed="${String(left !== undefined)}">
		<b>${label}</b> ${left === undefined ? '' : html`<i>${count}</i>`}
		<small>${what}</small>
	</button>`;
}

/**
 * Does what a button of the page is for: `POST /_simulator/` and the button's ID.
 *
 * @returns whether there is such a button
 */
export function pressButton(service: PushService, path: string): boolean {
	const [, button, name = ''] = /^\/_simulator\/(click|trouble)\/(.+)$/.exec(path) ?? [];
	if (button === 'click' && service.campaigns.has(name)) {
		service.click(name, peoplePerClick);
		return true;
	}
	const trouble = troubles.find((one) => button === 'trouble' && one.name === name);
	if (!trouble) return false;
	const { faults } = service;
	// A second press switches it off again.
	if (faults.left(trouble.fault) === undefined) faults.add(trouble.fault);
	else faults.remove(trouble.fault);
	return true;
}

/** What became of a send that its client does not know to be a success; undefined if it does. */
function failureOf(request: RecordedRequest): string | undefined {
	const { path, json, answered, isFaulty, campaignId } = request;
	const [, operation] = path.split(sendPath);
	if (operation === undefined) return undefined;
	const sid = isJsonObject(json) ? textOf(json['sid']) : '';
	const send = `Send to ${operation === 'sid' ? `subscriber ${sid}` : operation}`;
	if (campaignId === null) {
		const said = parseJson(answered?.body ?? '');
		const reason = isJsonObject(said) ? textOf(said['description']) : 'no answer';
		return `${send}: ${reason}. Nothing went out.`;
	}
	const isLost = isFaulty && answered === null;
	return isLost ? `${send}: it went out, but n8n got no answer.` : undefined;
}

function latestFailures({ requests }: PushService): Html[] {
	const lines = requests.map((request) => ({ at: request.at, text: failureOf(request) }));
	const failed = lines.filter(({ text }) => text !== undefined).slice(-mostFailures);
	return failed
		.reverse()
		.map(({ at, text = '' }) => html`<li><time>${clock.format(at)}</time> ${text}</li>`);
}

function ids({ active, lifetime }: { active: number; lifetime: number }): Html {
	const segments = [...segmentShares].map(
		([id, share]) =>
			html`<li><b>${id}</b> ${readable(Math.round(active * share))} subscribers</li>`,
	);
	return html`<h2>Subscriber IDs</h2>
		<p><b>${firstSubscriberId}</b> to <b>${firstSubscriberId + active - 1}</b></p>
		<p>
			<small
				>${readable(active)} active ones, ${readable(lifetime)} over the site's lifetime. Whoever
				has another ID has unsubscribed.</small
			>
		</p>
		<h2>Segment IDs</h2>
		<ul>
			${segments}
		</ul>
		<p><small>Every other segment, and every attribute, has some subscribers, too.</small></p>`;
}

/**
 * The page: what subscribers see, how campaigns do, and what can be tried.
 *
 * @param url the service's address for a credential
 */
export function renderPage(service: PushService, url: string): string {
	const body = html`<main id="campaigns">${campaigns(service, url)}</main>
		<aside>
			<section id="trouble">
				<h2>Try what can go wrong</h2>
				${troubles.map((trouble) => troubleButton(service, trouble))}
				<ul>
					${latestFailures(service)}
				</ul>
			</section>
			<section id="ids">${ids(service.settings.subscribers)}</section>
		</aside>`;
	return skeleton.replace('<!-- body -->', () => body.text);
}
