import type { ItemThat } from '../../../nodes/PushCampaign/execution/runItem';
import type { PreparedSend } from '../../../nodes/PushCampaign/operations/operation';
import type { Problem } from '../../../nodes/PushCampaign/service/problems';
import { itemOf, prepare, recordingClient } from '../operations/support';

// Items of a run as they are after it.

const known = { parameters: itemOf({}) } as const;
const toAll = prepare({});

export const connectionTo = (site: string) => ({
	client: recordingClient({}).client,
	baseUrl: 'https://push.example',
	site,
	isForAll: true,
});
const connection = connectionTo('site');

export const sent = (index: number, send: PreparedSend = toAll, more = {}): ItemThat<'sent'> => ({
	...{ ...known, index, how: 'sent', send, connection, row: {} },
	...more,
});

export const shown = (index: number, send: PreparedSend = toAll, more = {}): ItemThat<'shown'> => ({
	...{ ...known, index, how: 'shown', send, connection },
	...more,
});

export const before = (index: number, more = {}): ItemThat<'before'> => ({
	...{ ...known, index, how: 'before', row: {}, isUnknown: false },
	...more,
});

/** It is to be sent, and was not when the run ended. */
export const ready = (index: number): ItemThat<'ready'> => ({
	...{ ...known, index, how: 'ready', send: toAll, connection },
});

export const failed = (index: number, problem: Problem, more = {}): ItemThat<'failed'> => ({
	...{ ...known, index, how: 'failed', problem },
	...more,
});

/** As many items as given, from a number on. */
export const many = <Item>(from: number, count: number, make: (index: number) => Item): Item[] =>
	Array.from({ length: count }, (_, offset) => make(from + offset));
