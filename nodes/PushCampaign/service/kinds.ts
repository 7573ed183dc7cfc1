/** The kinds of operations that change something at the service, which must not happen twice. */
export type ChangeKind = 'send' | 'sendToOne';

/** What an operation does. All differences between kinds are in the table below. */
export type Kind = ChangeKind | 'read' | 'poll';

interface KindFacts {
	/** Specification, Common to all operations. */
	readonly method: 'GET' | 'POST';
	/** How often a request is made again whose outcome is unknown, or whose failure has no type. */
	readonly unknownRetries: number;
	/** How to go on, by failure type or else by cause: sentences. Missing if the reason's own advice fits. */
	readonly advice?: ReadonlyMap<string, string>;
	/**
	 * The words for a change that was made, was not made, or may have been made. Missing if an operation changes
	 * nothing. If it is there, each item reports an outcome, and the error of a run counts them.
	 */
	readonly change?: {
		/** To follow "an earlier execution began to". */
		readonly doIt: string;
		/** To follow "2", "It is unknown whether this was". */
		readonly done: string;
		/** To follow "1", "It was". */
		readonly notDone: string;
		/** The `outcome` of an item that was certainly not done. */
		readonly notDoneOutcome: string;
		/** How to go on if the outcome is unknown: sentences. */
		readonly afterUnknown: (hasKey: boolean) => string;
		/**
		 * How to go on if only some of a run's items were done: sentences.
		 * @param withoutKey how many may have been done and have no key
		 */
		readonly afterPart: (items: number, withoutKey: number) => string;
	};
}

/** @param findOut the beginning of a sentence: how to learn whether it was sent, and when to send it again */
const afterUnknownSend = (findOut: string) => (hasKey: boolean) =>
	hasKey
		? `Running the workflow again does not send it twice, because Send Only Once or Idempotency Key is on. ${findOut} turn on Resend Unknown in the options and run the workflow again.`
		: `Running the workflow again sends it in any case, because neither Send Only Once nor Idempotency Key is on. ${findOut} turn on Resend Unknown in the options, save the workflow, and use "Retry with currently saved workflow" in the list of executions.`;

const changeOfSend = {
	doIt: 'send it',
	done: 'sent',
	notDone: 'not sent',
	notDoneOutcome: 'notSent',
	afterUnknown: afterUnknownSend(
		'Look for the campaign in the dashboard of your push service first. Only if it is not there,',
	),
	afterPart: (items: number, withoutKey: number) =>
		withoutKey === 0
			? "To send the rest, run the workflow again, or use 'Retry' in the list of executions. What was sent is not sent again, because it has an idempotency key."
			: `To send only what was not sent, use 'Retry' in the list of executions. Executing the workflow again sends all ${items} again, except those with an idempotency key that was sent already.`,
};

/** The table of kinds. A new kind is a new row here. */
export const kinds: Readonly<
	Record<ChangeKind, Required<Pick<KindFacts, 'change'>>> & Record<Kind, KindFacts>
> = {
	/** A campaign, which the service lists with an ID of its own. */
	send: { method: 'POST', unknownRetries: 0, change: changeOfSend },
	/** A notification to one subscriber, which is no campaign. */
	sendToOne: {
		method: 'POST',
		unknownRetries: 0,
		change: {
			...changeOfSend,
			afterUnknown: afterUnknownSend(
				'A notification to one subscriber is no campaign, so the dashboard of your push service may not list it: ask the subscriber if you can. Only if it did not arrive,',
			),
		},
	},
	read: { method: 'GET', unknownRetries: 2 },
	/** A read of the trigger, which polls again by itself and has no options for requests. */
	poll: {
		method: 'GET',
		unknownRetries: 2,
		advice: new Map([
			[
				'invalid_value',
				'Check Campaign IDs: the node Push Campaign returns the ID of each campaign that it sends, as campaignId.',
			],
			[
				'rate-limited',
				'The next poll tries again. If it stays like this, poll less often, or watch fewer campaigns.',
			],
			[
				'temporarily-unavailable',
				'The next poll tries again. If it stays like this, check Base URL in the credential, or contact the support of your push service.',
			],
		]),
	},
};
