/** The kinds of operations that change something at the service, which must not happen twice. */
export type ChangeKind = 'send';

/** What an operation does. All differences between kinds are in the table below. */
export type Kind = ChangeKind | 'read' | 'poll';

interface KindFacts {
	/** Specification, Common to all operations. */
	readonly method: 'GET' | 'POST';
	/** How often a request is made again whose outcome is unknown, or whose failure has no type. */
	readonly unknownRetries: number;
	/** How to go on, by failure type or else by cause: sentences. Missing if the reason's own advice fits. */
	readonly advice?: Readonly<Record<string, string>>;
	/**
	 * The words for a change that was made, was not made, or may have been made. Missing if an operation changes
	 * nothing. If it is there, each item reports an outcome, and the error of a run counts them.
	 */
	readonly change?: {
		/** To follow "an earlier execution began to". */
		readonly doIt: string;
		/** To follow "2 of 3 were", "It is unknown whether this was". */
		readonly done: string;
		/** To follow "It was". */
		readonly notDone: string;
		/** The `outcome` of an item that was certainly not done. */
		readonly notDoneOutcome: string;
		/** How to go on if the outcome is unknown: sentences. */
		readonly afterUnknown: string;
		/** The same if an earlier execution claimed the idempotency key. */
		readonly afterClaimed: string;
		/** How to go on if only some of a run's items were done: sentences. */
		readonly afterPart: (items: number) => string;
	};
}

/** The table of kinds. A new kind is a new row here. */
export const kinds: Readonly<
	Record<ChangeKind, Required<Pick<KindFacts, 'change'>>> & Record<Kind, KindFacts>
> = {
	send: {
		method: 'POST',
		unknownRetries: 0,
		change: {
			doIt: 'send it',
			done: 'sent',
			notDone: 'not sent',
			notDoneOutcome: 'notSent',
			afterUnknown:
				'Running the workflow again sends it in any case, unless it has an Idempotency Key. Look for the campaign in the dashboard of your push service first. Only if it is not there, turn on Resend Unknown in the options, save the workflow, and use "Retry with currently saved workflow" in the list of executions.',
			afterClaimed:
				'Look for the campaign in the dashboard of your push service. Only if it is not there, turn on Resend Unknown in the options and run the workflow again: a campaign that did arrive would reach its subscribers twice.',
			afterPart: (items) =>
				`To send only what was not sent, use 'Retry' in the list of executions. Executing the workflow again sends all ${items} again, except those with an idempotency key that was sent already.`,
		},
	},
	read: { method: 'GET', unknownRetries: 2 },
	/** A read of the trigger, which polls again by itself and has no options for requests. */
	poll: {
		method: 'GET',
		unknownRetries: 2,
		advice: {
			invalid_value:
				'Check Campaign IDs: the node Push Campaign returns the ID of each campaign that it sends, as campaignId.',
			'rate-limited':
				'The next poll tries again. If it stays like this, poll less often, or watch fewer campaigns.',
			'temporarily-unavailable':
				'The next poll tries again. If it stays like this, check Base URL in the credential, or contact the support of your push service.',
		},
	},
};
