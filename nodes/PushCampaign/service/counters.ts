/** A number that the service counts. */
export interface Counter {
	/** In items, and in what the trigger remembers. */
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
