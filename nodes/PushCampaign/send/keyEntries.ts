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

/** Asks for an entry, and removes what the question leaves. */
async function isThere(
	entry: string,
	trace: readonly string[],
	writer: EntryWriter,
	helpers: Helpers,
): Promise<boolean> {
	const { fresh } = await writer.record([entry], helpers);
	if (!fresh.has(entry)) return true;
	await writer.remove(trace, helpers);
	return false;
}

/** Whether a key that is not free was sent. */
export async function isSent(key: string, writer: EntryWriter, helpers: Helpers): Promise<boolean> {
	const sent = sentEntry(key);
	const sentAgain = sentAgainEntry(key);
	if (!(await isThere(sent, [sent], writer, helpers))) return false;
	return await isThere(sentAgain, [sent, sentAgain], writer, helpers);
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
