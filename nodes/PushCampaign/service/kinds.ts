/** A campaign, or a notification to one subscriber. It must not be sent twice. */
export type SendKind = 'send' | 'sendToOne';

/** What a request does. All differences between kinds are in the table below. */
export type Kind = SendKind | 'read' | 'poll';

interface KindFacts {
	/** Specification, Common to all operations. */
	readonly method: 'GET' | 'POST';
	/** How to go on, by failure type or else by cause: sentences. Missing if the reason's own advice fits. */
	readonly advice?: ReadonlyMap<string, string>;
	/** How to go on if it is unknown whether it was sent: sentences. */
	readonly afterUnknown?: (hasKey: boolean) => string;
}

/** Whether it sends. If so, each item reports an outcome, and the error of a run counts them. */
export const isSend = (kind: Kind) => kind === 'send' || kind === 'sendToOne';

/** @param findOut the beginning of a sentence: how to learn whether it was sent, and when to send it again */
const afterUnknownSend = (findOut: string) => (hasKey: boolean) =>
	hasKey
		? `Running the workflow again does not send it twice, because Send Only Once or Idempotency Key is on. ${findOut} turn on Resend Unknown in the options and run the workflow again.`
		: `Running the workflow again sends it in any case, because neither Send Only Once nor Idempotency Key is on. ${findOut} turn on Resend Unknown in the options, save the workflow, and use "Retry with currently saved workflow" in the list of executions.`;

/** The table of kinds. */
export const kinds: Readonly<
	Record<SendKind, Required<Pick<KindFacts, 'afterUnknown'>>> & Record<Kind, KindFacts>
> = {
	/** A campaign, which the service lists with an ID of its own. */
	send: {
		method: 'POST',
		afterUnknown: afterUnknownSend(
			'Look for the campaign in the dashboard of your push service first. Only if it is not there,',
		),
	},
	/** A notification to one subscriber, which is no campaign. */
	sendToOne: {
		method: 'POST',
		afterUnknown: afterUnknownSend(
			'A notification to one subscriber is no campaign, so the dashboard of your push service may not list it: ask the subscriber if you can. Only if it did not arrive,',
		),
	},
	read: { method: 'GET' },
	/** A read of the trigger, which polls again by itself and has no options for requests. */
	poll: {
		method: 'GET',
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
