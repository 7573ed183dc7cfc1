import type {
	FailedItem,
	ReadyItem,
	SentBeforeItem,
	SentItem,
	ShownItem,
} from '../../../nodes/PushCampaign/execution/runItem';
import type { PreparedSend } from '../../../nodes/PushCampaign/operations/operation';
import type { Problem } from '../../../nodes/PushCampaign/service/problems';
import { itemOf, prepare, recordingClient } from '../operations/support';

// Items of a run as they are after it.

const parameters = itemOf({});
const toAll = prepare({});

export const connectionTo = (site: string) => ({
	client: recordingClient({}).client,
	baseUrl: 'https://push.example',
	site,
	isForAll: true,
});
const connection = connectionTo('site');

export const sent = (index: number, send: PreparedSend = toAll, more = {}): SentItem => ({
	...{ index, parameters, how: 'sent', send, connection, row: {} },
	...more,
});

export const shown = (index: number, send: PreparedSend = toAll, more = {}): ShownItem => ({
	...{ index, parameters, how: 'shown', send, connection },
	...more,
});

export const sentEarlier = (index: number): SentBeforeItem => ({
	...{ index, parameters, how: 'sentEarlier', row: {} },
});

/** It is to be sent, and was not when the run ended. */
export const ready = (index: number): ReadyItem => ({
	...{ index, parameters, how: 'ready', send: toAll, connection },
	job: {
		position: `0.${index}`,
		unknownOutcome: 'report',
		timeoutMs: 1_000,
		refusal: () => undefined,
		request: async () => await Promise.reject(new Error('It was not asked')),
		toRow: () => ({}),
	},
});

export const failed = (index: number, problem: Problem, more = {}): FailedItem => ({
	...{ index, parameters, how: 'failed', problem },
	...more,
});

/** As many items as given, from a number on. */
export const many = <Item>(from: number, count: number, make: (index: number) => Item): Item[] =>
	Array.from({ length: count }, (_, offset) => make(from + offset));
