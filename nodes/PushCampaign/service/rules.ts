import type { SendKind } from './kinds';

/** The largest number of characters (Unicode code points) per field. Specification, Limits. */
export const maxCharacters = {
	title: 100,
	message: 255,
	targetUrl: 255,
	name: 100,
	buttonTitle: 100,
	buttonUrl: 100,
} as const;

/** Specification, Limits: `send_at` minimum lead. */
export const minimumLeadMinutes = 5;

/** Whom a campaign is addressed to. */
export type Audience = 'all' | 'attributes' | 'segments' | 'subscriber';

/** What the service does with a send to an audience. */
interface AudienceRules {
	/** Below the base URL. Specification, Endpoints. */
	readonly path: string;
	/** `send` if it becomes a campaign, whose ID the answer names. Specification, Endpoints. */
	readonly kind: SendKind;
	/** The `auto_hide` value that closes the notification by itself. Specification, auto_hide rules. */
	readonly autoHideCloses: 0 | 1;
	/** Whether the texts of action buttons have a limit. Specification, Limits: stated for all subscribers alone. */
	readonly limitsButtons?: true;
}

export const audienceRules: Readonly<Record<Audience, AudienceRules>> = {
	all: {
		path: '/v1/notification/send/all',
		kind: 'send',
		autoHideCloses: 1,
		limitsButtons: true,
	},
	attributes: { path: '/v1/notification/send/attribute', kind: 'send', autoHideCloses: 0 },
	segments: { path: '/v1/notification/send/segment', kind: 'send', autoHideCloses: 0 },
	subscriber: { path: '/v1/notification/send/sid', kind: 'sendToOne', autoHideCloses: 0 },
};

/** Path of a site's subscriber count. Specification, Endpoints. */
export const subscriberCountPath = '/v1/site/subscriber_count';

/**
 * Path of a campaign's status record; the ID is encoded. Specification, Endpoints.
 * @throws URIError when the ID holds half of a surrogate pair
 */
export const campaignStatusPath = (campaignId: string) =>
	`/v1/notification/status/id/${encodeURIComponent(campaignId)}`;

/** The number to send as `auto_hide`, in the reading of this audience. Specification, auto_hide rules. */
export function autoHideValue(audience: Audience, closesByItself: boolean): number {
	const { autoHideCloses } = audienceRules[audience];
	return closesByItself ? autoHideCloses : 1 - autoHideCloses;
}
