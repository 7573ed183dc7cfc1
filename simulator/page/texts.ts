import type { CampaignView } from '../campaigns';

const moment = new Intl.DateTimeFormat('en-GB', {
	dateStyle: 'medium',
	timeStyle: 'short',
	timeZone: 'UTC',
});
const number = new Intl.NumberFormat('en-US');
const percent = new Intl.NumberFormat('en-US', {
	style: 'percent',
	minimumFractionDigits: 1,
	maximumFractionDigits: 1,
});

export const formatNumber = (value: number) => number.format(value);

/** A number with its unit: `1 hour`, `2 hours`. */
export const plural = (count: number, one: string) =>
	`${number.format(count)} ${one}${count === 1 ? '' : 's'}`;

/** A field of a body as text; empty if it is not there. */
export function text(value: unknown): string {
	if (value === undefined || value === null) return '';
	return typeof value === 'string' ? value : JSON.stringify(value);
}

export const isWebUrl = (value: unknown) => /^https?:\/\//i.test(text(value));

export const withoutQuery = (url: unknown) => text(url).split(/[?#]/)[0] ?? '';

/** How many of those who have the notification clicked it. */
export function clickRate({ counters }: CampaignView): string {
	const { delivered, clicked } = counters;
	return delivered > 0 ? percent.format(clicked / delivered) : '–';
}

/** Whom a send is for: `To segments 12, 34`. */
export function audienceOf({ audience, body }: CampaignView): string {
	switch (audience) {
		case 'all':
			return 'To all subscribers';
		case 'sid':
			return `To subscriber ${text(body['sid'])}`;
		case 'segment': {
			const segments = [body['segment'] ?? []].flat().map(text);
			return `To segment${segments.length === 1 ? '' : 's'} ${segments.join(', ')}`;
		}
		case 'attribute': {
			const pairs = Object.entries(body['attribute'] ?? {});
			return `To ${pairs.map(([key, value]) => `${key} = ${text(value)}`).join(' or ')}`;
		}
	}
}

/** How long something takes, rounded: `90 minutes`. */
export function durationOf(ms: number): string {
	const seconds = Math.max(0, Math.round(ms / 1000));
	if (seconds < 90) return plural(seconds, 'second');
	const minutes = Math.round(seconds / 60);
	if (minutes < 90) return plural(minutes, 'minute');
	const hours = Math.round(minutes / 60);
	return hours < 48 ? plural(hours, 'hour') : plural(Math.round(hours / 24), 'day');
}

/** Minutes ahead of UTC, as the sender wrote them: so the time is the one that the sender knows. */
function offsetOf({ body, dueAt }: CampaignView): number {
	const written = /([+-])(\d{1,2}):(\d\d)$/.exec(text(body['send_at']));
	if (!written) return -new Date(dueAt).getTimezoneOffset();
	const minutes = Number(written[2]) * 60 + Number(written[3]);
	return written[1] === '-' ? -minutes : minutes;
}

/** When a campaign goes out: `17 May 2030, 09:30 (UTC+2)`. */
export function timeOf(campaign: CampaignView): string {
	const offset = offsetOf(campaign);
	const size = Math.abs(offset);
	const minutes = size % 60 === 0 ? '' : `:${String(size % 60).padStart(2, '0')}`;
	const hours = `${offset < 0 ? '−' : '+'}${Math.floor(size / 60)}${minutes}`;
	const time = moment.format(campaign.dueAt + offset * 60_000);
	return `${time} (UTC${offset === 0 ? '' : hours})`;
}
