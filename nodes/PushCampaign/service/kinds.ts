/** What an operation does: the kinds differ in the facts below, and in nothing else that code asks for. */
export type Kind = 'send' | 'read';

/** How what an operation changes is told: done, not done, or unknown. */
export interface ChangeWords {
	/** To follow "2 of 3 were". */
	readonly done: string;
	/** To follow "1 of 3 was". */
	readonly notDone: string;
	/** A sentence for what certainly did not happen. */
	readonly wasNotDone: string;
	/** What a message begins with where nobody knows; a colon and the reason follow. */
	readonly isUnknown: string;
	/** How to go on where nobody knows: sentences. */
	readonly afterUnknown: string;
	/** How to go on where some of a run's items were done: sentences. */
	readonly afterPart: (items: number) => string;
}

interface KindFacts {
	/** Specification, Common to all operations. */
	readonly method: 'GET' | 'POST';
	/** How often a request is made again whose outcome is unknown, or whose failure has no type. */
	readonly unknownRetries: number;
	/**
	 * Missing where an operation changes nothing. Where it is there, an outcome is told for every item, and a
	 * run of several has a tally.
	 */
	readonly change?: ChangeWords;
}

/** The facts of each kind. A new kind is a new row here. */
export const kinds: Readonly<Record<Kind, KindFacts>> = {
	send: {
		method: 'POST',
		unknownRetries: 0,
		change: {
			done: 'sent',
			notDone: 'not sent',
			wasNotDone: 'It was not sent.',
			isUnknown: 'It is unknown whether this was sent',
			afterUnknown:
				'Running the workflow again sends it in any case, unless it has an Idempotency Key. Look for the campaign in the dashboard of your push service first. Only if it is not there, turn on Resend Unknown in the options, save the workflow, and use "Retry with currently saved workflow" in the list of executions.',
			afterPart: (items) =>
				`To send only what was not sent, use 'Retry' in the list of executions. Executing the workflow again sends all ${items} again, except those with an idempotency key that was sent already.`,
		},
	},
	read: { method: 'GET', unknownRetries: 2 },
};
