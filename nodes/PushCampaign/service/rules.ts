/** Whom a send is for. */
export type Audience = 'all' | 'attributes' | 'segments' | 'subscriber';

/** Specification, Limits: characters (Unicode code points) of each field. */
export const maxCharacters = {
	title: 100,
	message: 255,
	targetUrl: 255,
	name: 100,
	/** Its title and its URL, each. */
	button: 100,
} as const;

/** Specification, Limits: `send_at` minimum lead. */
export const minimumLeadMs = 300_000;

export interface ActionButton {
	readonly title: string;
	readonly url: string;
}

/** What a notification may do without. Specification, Notification / campaign. */
export interface OptionalFields {
	readonly name?: string;
	readonly icon?: string;
	readonly image?: string;
	readonly expire_push?: string;
	readonly auto_hide?: 0 | 1;
	readonly send_at?: string;
	readonly action_buttons?: readonly ActionButton[];
}

/** What subscribers get. Specification, Notification / campaign. */
export interface Notification extends OptionalFields {
	readonly title: string;
	readonly message: string;
	readonly target_url: string;
}

/** Specification, Audience fields. */
interface AudienceFields {
	readonly attribute: Readonly<Record<string, string | number | boolean>>;
	readonly segment: ReadonlyArray<string | number>;
	readonly sid: string;
}

type Only<Name extends keyof AudienceFields> = Pick<AudienceFields, Name> & {
	readonly [Other in Exclude<keyof AudienceFields, Name>]?: never;
};

/** What names the subscribers: one field for each audience, none for all. */
export type Selection = Only<never> | Only<'attribute'> | Only<'segment'> | Only<'sid'>;

/** The JSON body of a send. */
export type CampaignBody = Notification & Selection;

interface AudienceRules {
	readonly path: string;
	/** Whether the send becomes a campaign: its answer has an ID then. */
	readonly isCampaign: boolean;
	/** Specification, auto_hide rules: the value that closes the notification by itself. */
	readonly autoHideCloses: 0 | 1;
	/** Specification, Limits: those of action buttons are stated for all subscribers alone. */
	readonly limitsButtons: boolean;
	readonly accepts: ReadonlyArray<keyof OptionalFields>;
}

/** Specification, Notification / campaign: accepted by every send. */
const acceptedByAll = ['icon', 'expire_push', 'auto_hide', 'send_at', 'action_buttons'] as const;

/** Specification, Endpoints. */
export const audienceRules: Readonly<Record<Audience, AudienceRules>> = {
	all: {
		path: '/v1/notification/send/all',
		isCampaign: true,
		autoHideCloses: 1,
		limitsButtons: true,
		accepts: [...acceptedByAll, 'name', 'image'],
	},
	attributes: {
		path: '/v1/notification/send/attribute',
		isCampaign: true,
		autoHideCloses: 0,
		limitsButtons: false,
		accepts: [...acceptedByAll, 'name'],
	},
	segments: {
		path: '/v1/notification/send/segment',
		isCampaign: true,
		autoHideCloses: 0,
		limitsButtons: false,
		accepts: [...acceptedByAll, 'name', 'image'],
	},
	subscriber: {
		path: '/v1/notification/send/sid',
		isCampaign: false,
		autoHideCloses: 0,
		limitsButtons: false,
		accepts: acceptedByAll,
	},
};

/** The number to send as `auto_hide`, in the reading of this audience. */
export function autoHideValue(audience: Audience, closesByItself: boolean): 0 | 1 {
	const { autoHideCloses } = audienceRules[audience];
	if (closesByItself) return autoHideCloses;
	return autoHideCloses === 1 ? 0 : 1;
}

/** A number that the service counts. */
export interface Counter {
	/** In items. */
	readonly name: string;
	/** In the service's answers. */
	readonly serviceName: string;
	readonly displayName: string;
}

/** Specification, Counters in `count`. */
export const campaignCounters: readonly Counter[] = [
	{ name: 'totalAttempts', serviceName: 'total_attempts', displayName: 'Total Attempts' },
	{ name: 'successfullySent', serviceName: 'successfully_sent', displayName: 'Successfully Sent' },
	{ name: 'failedToSend', serviceName: 'failed_to_send', displayName: 'Failed to Send' },
	{ name: 'delivered', serviceName: 'delivered', displayName: 'Delivered' },
	{ name: 'clicked', serviceName: 'clicked', displayName: 'Clicked' },
	{ name: 'closed', serviceName: 'closed', displayName: 'Closed' },
];

/** Specification, Subscriber count record. */
export const siteCounters: readonly Counter[] = [
	{
		name: 'totalLifetimeSubscribers',
		serviceName: 'total_life_time_subscribers',
		displayName: 'Total Lifetime Subscribers',
	},
	{
		name: 'activeSubscribers',
		serviceName: 'active_subscribers',
		displayName: 'Active Subscribers',
	},
];

export const subscriberCountPath = '/v1/site/subscriber_count';

/** @throws URIError if the ID holds half of a surrogate pair */
export const campaignStatusPath = (id: string): string =>
	`/v1/notification/status/id/${encodeURIComponent(id)}`;
