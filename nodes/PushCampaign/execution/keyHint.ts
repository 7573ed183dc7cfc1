import type { NodeExecutionHint } from 'n8n-workflow';

import { withDeadline } from '../service/deadline';
import { capitalize } from '../service/text';
import { nameItems } from './itemNumbers';
import type { SendKey } from './sendKey';
import { sleep } from './sleep';

/** An item of a dry run that would be sent under a key. */
export interface KeyedItem {
	readonly itemIndex: number;
	readonly key: SendKey;
}

/** A hint shows at most this many sentences about items with the same key. */
const mostShared = 3;

/** A hint that comes late helps nobody. In milliseconds. */
const patienceMs = 5_000;

/** So many keys are asked for at the same time. */
const keysAtOnce = 50;

/** Those of the keys that were sent. */
async function findSent(
	keys: readonly string[],
	isSent: (key: string) => Promise<boolean>,
): Promise<ReadonlySet<string>> {
	const sent = new Set<string>();
	for (let from = 0; from < keys.length; from += keysAtOnce) {
		const asked = keys.slice(from, from + keysAtOnce);
		const answers = await Promise.all(asked.map(isSent));
		for (const [index, key] of asked.entries()) if (answers[index]) sent.add(key);
	}
	return sent;
}

/** What would become of several items with the same key. */
function describeShared(items: readonly KeyedItem[]): string {
	const which = capitalize(nameItems(items.map(({ itemIndex }) => itemIndex)));
	const [first] = items;
	if (first?.key.isMade) return `${which} are the same send: only the first of them would be sent.`;
	return `${which} have the same idempotency key: only the first of them would be sent.`;
}

function describeSent(items: readonly KeyedItem[]): string {
	const numbers = items.map(({ itemIndex }) => itemIndex);
	return numbers.length === 1
		? `Item ${numbers.join('')} was sent earlier and would not be sent again.`
		: `${capitalize(nameItems(numbers))} were sent earlier and would not be sent again.`;
}

/**
 * Says after a dry run which items share a key, and which were sent earlier.
 * @param isSent asks whether a key was sent, and only reads; if it throws, the hint does without
 */
export async function keyHint(
	items: readonly KeyedItem[],
	isSent: (key: string) => Promise<boolean>,
): Promise<NodeExecutionHint[]> {
	if (items.length === 0) return [];
	const byKey = new Map<string, KeyedItem[]>();
	for (const item of items) {
		byKey.set(item.key.text, [...(byKey.get(item.key.text) ?? []), item]);
	}
	const asking = async () => await findSent([...byKey.keys()], isSent);
	const asked = await withDeadline(asking, { timeoutMs: patienceMs, sleep });
	const sent = asked.kind === 'settled' ? asked.value : new Set<string>();
	const earlier = items.filter(({ key }) => sent.has(key.text));
	const shared = [...byKey]
		.filter(([key, { length }]) => length > 1 && !sent.has(key))
		.map(([, same]) => describeShared(same));
	const more = shared.length - mostShared;
	const sentences = [
		...(earlier.length === 0 ? [] : [describeSent(earlier)]),
		...shared.slice(0, mostShared),
		...(more > 0 ? [`${more} more keys are shared by several items.`] : []),
	];
	if (sentences.length === 0) return [];
	return [{ message: sentences.join('<br>'), type: 'info', location: 'outputPane' }];
}
