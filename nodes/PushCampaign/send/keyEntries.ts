import { sleep } from 'n8n-workflow';

import type { EntryWriter, Helpers } from './entryWriter';

/**
 * How a key stands in n8n's store:
 *
 * | entries                     | state                                                     |
 * | --------------------------- | --------------------------------------------------------- |
 * | none                        | free                                                      |
 * | `key`                       | claimed: its send is being made, or its outcome is unknown |
 * | `key`, `sent`, `sent again` | sent                                                      |
 *
 * n8n's store can't be asked for an entry without recording it. So a key is asked for in this order: what is
 * found at each step is there already, and a sent key is left as it was. Only asking for a claimed key leaves a
 * trace, which is removed at once. If n8n dies in between, the key still counts as claimed, because one of the
 * two last entries is missing.
 */
export const claimEntry = (key: string) => `key:${key}`;
const sentEntry = (key: string) => `sent:${key}`;
const sentAgainEntry = (key: string) => `sent again:${key}`;

/** What a send under Resend Unknown claims, because `key` is there already. One that crashed leaves its entry. */
export const takeOverEntry = (key: string, round: number) => `take over ${round}:${key}`;

/** Recorded by a process that finds its claim overwritten after its request left: another may have claimed the key. */
export const contestedEntry = (key: string) => `contested:${key}`;

export const sentEntries = (key: string) => [claimEntry(key), sentEntry(key), sentAgainEntry(key)];

/** All that can be there of a key that is not sent. */
export const freedEntries = (key: string) => [claimEntry(key), contestedEntry(key)];

/** How often a trace is removed that other processes put back. */
const mostRemovals = 10;
/** How long after the first look a key counts as sent, in pauses of a claim. */
const pausesBetweenLooks = 3;

/**
 * Removes what a question left. A write of another process that began before the removal puts it back, so the
 * removal goes on until a stamp that was recorded after it has lasted for a pause.
 * @throws what n8n's store throws at the first removal; later ones go on in the background
 */
async function removeTrace(
	trace: readonly string[],
	writer: EntryWriter,
	helpers: Helpers,
): Promise<void> {
	await writer.remove(trace, helpers);
	const removeUntilItLasts = async () => {
		for (let removals = 1; removals < mostRemovals; removals += 1) {
			const { stamp } = await writer.record([], helpers, true);
			await sleep(writer.pauseMs);
			const { fresh } = await writer.record([stamp], helpers);
			if (!fresh.has(stamp)) return;
			await writer.remove(trace, helpers);
		}
	};
	removeUntilItLasts().catch(() => undefined);
}

/** Asks for an entry, and removes what the question leaves. */
async function isThere(
	entry: string,
	trace: readonly string[],
	writer: EntryWriter,
	helpers: Helpers,
): Promise<boolean> {
	const { fresh } = await writer.record([entry], helpers);
	if (!fresh.has(entry)) return true;
	await removeTrace(trace, writer, helpers);
	return false;
}

/**
 * Whether a key that is not free was sent. It is looked at twice: the first time, traces of questions that two
 * other processes ask at this moment could look like a sent key.
 */
export async function isSent(key: string, writer: EntryWriter, helpers: Helpers): Promise<boolean> {
	const sent = sentEntry(key);
	const sentAgain = sentAgainEntry(key);
	const look = async () =>
		(await isThere(sent, [sent], writer, helpers)) &&
		(await isThere(sentAgain, [sent, sentAgain], writer, helpers));
	if (!(await look())) return false;
	await sleep(pausesBetweenLooks * writer.pauseMs);
	return await look();
}

/** Whether another process found its claim of this key overwritten. */
export async function isContested(
	key: string,
	writer: EntryWriter,
	helpers: Helpers,
): Promise<boolean> {
	const contested = contestedEntry(key);
	return await isThere(contested, [contested], writer, helpers);
}
