import type { ItemIn } from '../../../nodes/PushCampaign/execution/runItem';
import type { PreparedSend } from '../../../nodes/PushCampaign/operations/operation';
import type { Problem } from '../../../nodes/PushCampaign/service/problems';
import { itemOf, prepare, recordingClient } from '../operations/support';

// Items of a run as they are after it.

const known = { parameters: itemOf({}) } as const;
const toAll = prepare({});

const connection = {
	client: recordingClient({}).client,
	baseUrl: 'https://push.example',
	site: 'site',
	isForAll: true,
};

export const sent = (index: number, send: PreparedSend = toAll, more = {}): ItemIn<'sent'> => ({
	...{ ...known, index, state: 'sent', send, connection, row: {} },
	...more,
});

export const shown = (index: number, send: PreparedSend = toAll, more = {}): ItemIn<'shown'> => ({
	...{ ...known, index, state: 'shown', send, connection },
	...more,
});

export const before = (index: number, more = {}): ItemIn<'before'> => ({
	...{ ...known, index, state: 'before', row: {} },
	...more,
});

/** It is to be sent, and was not when the run ended. */
export const ready = (index: number): ItemIn<'ready'> => ({
	...{ ...known, index, state: 'ready', send: toAll, connection },
});

/** It is reported, and the run goes on. */
export const reported = (index: number, problem: Problem, more = {}): ItemIn<'reported'> => ({
	...{ ...known, index, state: 'reported', problem },
	...more,
});

export const failed = (index: number, problem: Problem, more = {}): ItemIn<'failed'> => ({
	...{ ...known, index, state: 'failed', problem },
	...more,
});

/** As many items as given, from a number on. */
export const many = <Item>(from: number, count: number, make: (index: number) => Item): Item[] =>
	Array.from({ length: count }, (_, offset) => make(from + offset));
