import { runQueue } from '../delivery/queue';
import { digest } from '../n8n/connection';
import { performSend, toRow } from '../operations/send';
import type { SendOutcome } from '../send/ledger';
import type { Send } from '../send/once';
import { alreadySent, trySend } from '../send/once';
import { queueOptions } from './eachItem';
import type { Run } from './run';
import type { ItemIn, RunItem } from './runItem';
import { isForModel, isRetry } from './start';

type ReadyItem = ItemIn<'ready'>;

/** The send of an item, as it goes out once. */
function toSend({ position, key, send, test, connection: { client, site } }: ReadyItem): Send {
	const goesOut = test ?? send;
	return {
		// A call of an agent's tool is known by its content.
		position: position ?? digest(JSON.stringify([site, send.audience, send.body])),
		// A test is no send: it asks and claims no key.
		key: test === undefined ? key : undefined,
		timeoutMs: send.options.timeoutMs,
		request: async () => await performSend(client, goesOut),
		toRow: (ending) => toRow(goesOut, ending),
	};
}

/**
 * Every execution claims what it found, right before its first request, and a Retry has to be the first.
 * @returns why nothing may leave
 */
async function claimExecution({ context, memory, kind }: Run, ready: readonly ReadyItem[]) {
	// An agent's tool decides again in each execution.
	if (kind !== 'send' || ready.length === 0 || isForModel(context)) return undefined;
	const hasIds = ready.every(({ key }) => key !== undefined);
	return await memory.claim(isRetry(context), hasIds);
}

/** Sends what is ready; what is the same as another item goes out with that. */
export async function sendAll(run: Run, items: readonly RunItem[]): Promise<RunItem[]> {
	const ready = items.filter((item) => item.state === 'ready');
	const problem = await claimExecution(run, ready);
	if (problem !== undefined) {
		return items.map((item) =>
			item.state === 'ready' ? { ...item, state: 'failed', problem } : item,
		);
	}
	const firsts = ready.filter(({ sameAs }) => sameAs === undefined);
	const sends = firsts.map(toSend);
	const jobs = sends.map((send) => async () => await trySend(run.memory, send));
	const outcomes = await runQueue(jobs, queueOptions(run.context));
	const byIndex = new Map(firsts.map(({ index }, place) => [index, outcomes[place]]));
	return items.map((item) =>
		item.state === 'ready' ? endOf(run, item, byIndex.get(item.sameAs ?? item.index)) : item,
	);
}

/** @param outcome of the item, or of the one that goes out in its place; undefined if none started */
function endOf({ memory }: Run, item: ReadyItem, outcome: SendOutcome | undefined): RunItem {
	if (outcome === undefined || item.sameAs === undefined) return { ...item, ...outcome };
	const sentByItem = alreadySent(`the same was sent by item ${item.sameAs} of this run`);
	const own =
		outcome.state === 'sent' ? { ...outcome, row: toRow(item.send, sentByItem) } : outcome;
	memory.ledger.keep(item.position, own);
	return { ...item, ...own };
}
