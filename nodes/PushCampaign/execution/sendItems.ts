import type { Attempt } from '../delivery/queue';
import { runQueue } from '../delivery/queue';
import { digest } from '../n8n/connection';
import { defaultTimeoutMs, readTimeout } from '../operations/options';
import { performSend, toRow } from '../operations/send';
import { lateness } from '../operations/timing';
import { readable } from '../operations/values';
import type { Send, SendOutcome } from '../send/once';
import { trySend } from '../send/once';
import { groupBy } from './names';
import { queueOptions } from './results';
import type { FailedItem, ItemThat, RunItem } from './runItem';
import { alreadySentUnderKey, alreadyUnknown, failuresIn, rowWith, sentByItem } from './runItem';
import type { Run } from './start';
import { isForModel } from './start';

type ReadyItem = ItemThat<'ready'>;

/**
 * The send of an item, as it goes out once. A test is no send: nothing remembers it.
 * @param repeats the items that count as sent with it
 */
function jobOf(item: ReadyItem, repeats: readonly ReadyItem[], isTest: boolean): Send {
	const { send, connection, index } = item;
	const { client, site } = connection;
	const content = () => digest(JSON.stringify([site, send.audience, send.body]));
	return {
		position: isTest ? undefined : (item.position ?? content()),
		repeats: new Map(
			repeats.flatMap((each) =>
				each.position === undefined ? [] : [[each.position, toRow(each.send, sentByItem(index))]],
			),
		),
		key: item.key,
		timeoutMs: send.options.timeoutMs,
		refusal: () => lateness(send.timing, Date.now()),
		request: async () => await performSend(client, send),
		toRow: (receipt) => toRow(send, { status: 'success', ...receipt }),
	};
}

/** A send that must not go out. It is asked whether it was sent, or may have been: then it is not judged. */
const refusedJob = ({ position, key, problem, parameters }: FailedItem): Send => ({
	...{ position, key, repeats: new Map() },
	timeoutMs: readable(() => readTimeout(parameters)) ?? defaultTimeoutMs,
	refusal: () => problem,
	request: async () => await Promise.reject(new Error('It is refused')),
	toRow: () => ({}),
});

/** How an item ended, by the outcome of its send; or of the one that goes out in its place. */
function endOf(
	{ operation }: Run,
	item: ItemThat<'ready' | 'failed'>,
	outcome: SendOutcome | undefined,
): RunItem {
	if (outcome === undefined) return item;
	if (outcome.ended === 'failed') return { ...item, how: 'failed', problem: outcome.problem };
	if (outcome.ended === 'underKey') {
		const { isUnknown } = outcome;
		const ending = isUnknown ? alreadyUnknown(item.key?.id ?? '') : alreadySentUnderKey;
		return { ...item, how: 'before', row: rowWith(item, operation, ending), isUnknown };
	}
	if (item.how === 'ready' && item.sameAs !== undefined) {
		return { ...item, how: 'sent', row: toRow(item.send, sentByItem(item.sameAs)) };
	}
	const { ended, row } = outcome;
	if (item.how === 'ready' && ended === 'sent') return { ...item, how: 'sent', row };
	return { ...item, how: 'before', row, isUnknown: false };
}

/** Asks whether refused items were sent under their IDs, or may have been: then they are not judged. */
export async function askRefused(run: Run, items: readonly RunItem[]): Promise<RunItem[]> {
	const refused = failuresIn(items).filter(({ key }) => key !== undefined);
	let unavailable: SendOutcome | undefined;
	const tries = refused.map((item) => async (): Promise<Attempt<SendOutcome>> => {
		const attempt = await trySend(run.memory, refusedJob(item));
		if (attempt.then !== 'stop' || attempt.outcome.ended !== 'failed') return attempt;
		// What is not valid keeps no other from being asked.
		if (attempt.outcome.problem === item.problem) return { ...attempt, then: 'end' };
		// A database that can't be had fails once, for all of them.
		unavailable ??= attempt.outcome;
		return attempt;
	});
	const outcomes = await runQueue(tries, { ...queueOptions(run.context), stopOnFailure: true });
	const ends = refused.map((item, place) => endOf(run, item, outcomes[place] ?? unavailable));
	const byIndex = new Map(ends.map((item) => [item.index, item]));
	return items.map((item) => byIndex.get(item.index) ?? item);
}

/** Sends what is ready; what is the same as another item goes out with that. */
export async function sendAll(run: Run, items: readonly RunItem[]): Promise<RunItem[]> {
	const { context, memory, kind } = run;
	const ready = items.filter((item) => item.how === 'ready');
	// An agent's tool decides again in each execution.
	const isClaimed = ready.length > 0 && !isForModel(context);
	const problem = isClaimed ? await memory.takeOver() : undefined;
	if (problem !== undefined) {
		return items.map((item) => (item.how === 'ready' ? { ...item, how: 'failed', problem } : item));
	}
	const repeats = groupBy(ready, ({ sameAs }) => String(sameAs));
	const firsts = ready.filter(({ sameAs }) => sameAs === undefined);
	const tries = firsts.map((item) => {
		const job = jobOf(item, repeats.get(String(item.index)) ?? [], kind === 'test');
		return async () => await trySend(memory, job);
	});
	const outcomes = await runQueue(tries, queueOptions(context)).finally(() =>
		memory.ledger.handOn(),
	);
	const byIndex = new Map(firsts.map(({ index }, place) => [index, outcomes[place]]));
	return items.map((item) =>
		item.how === 'ready' ? endOf(run, item, byIndex.get(item.sameAs ?? item.index)) : item,
	);
}
