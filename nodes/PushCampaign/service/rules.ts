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

/**
 * The path below the base URL, whether the answer names the campaign, whose status can then be read
 * (specification, Endpoints), and the `auto_hide` value that closes the notification by itself
 * (specification, auto_hide rules).
 */
export const audienceRules = {
	all: { path: '/v1/notification/send/all', becomesCampaign: true, autoHideCloses: 1 },
	attributes: { path: '/v1/notification/send/attribute', becomesCampaign: true, autoHideCloses: 0 },
	segments: { path: '/v1/notification/send/segment', becomesCampaign: true, autoHideCloses: 0 },
	subscriber: { path: '/v1/notification/send/sid', becomesCampaign: false, autoHideCloses: 0 },
} as const;

/** Whom a campaign is addressed to. */
export type Audience = keyof typeof audienceRules;

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
