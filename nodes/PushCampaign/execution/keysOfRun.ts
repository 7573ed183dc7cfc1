import type { Outcome } from '../delivery/outcome';
import type { PreparedSend } from '../operations/operation';
import type { SendOutcome } from '../send/sendOutcome';
import { alreadySent } from '../send/sendOutcome';
import { InvalidInput } from '../service/invalidInput';
import { clip } from '../service/text';
import { nameItems } from './itemNumbers';

const differentAudiences = (key: string, items: readonly number[]) =>
	new InvalidInput(
		`Idempotency Key is "${clip(key)}" for ${nameItems(items)}, which go to different subscribers`,
		'Only the first of them would be sent, in this and in every later execution. Put into the key what tells one from another, such as an order number or the ID of the subscriber, or use Send Only Once instead.',
	);

/** An item that has the key of an earlier one. */
interface Repeat {
	readonly key: string;
	readonly first: number;
}

/** The items of one run that share their idempotency keys: the first is sent, the others end as it did. */
export class KeysOfRun {
	/** The first item of each key that is to be sent. */
	private readonly firstOfKey = new Map<string, number>();
	private readonly repeats = new Map<number, Repeat>();

	/** @param sends of the items, by their positions */
	constructor(private readonly sends: readonly PreparedSend[]) {}

	note(key: string, itemIndex: number): void {
		const first = this.firstOfKey.get(key);
		if (first === undefined) this.firstOfKey.set(key, itemIndex);
		else this.repeats.set(itemIndex, { key, first });
	}

	has(key: string): boolean {
		return this.firstOfKey.has(key);
	}

	/**
	 * The items that share a key and go to different subscribers, and why they are refused: nobody means that, it is
	 * what a key looks like that came out the same for all.
	 */
	findConflicts(): ReadonlyMap<number, InvalidInput> {
		const itemsOf = new Map([...this.firstOfKey].map(([key, first]) => [key, [first]]));
		for (const [itemIndex, { key }] of this.repeats) itemsOf.get(key)?.push(itemIndex);
		const conflicts = new Map<number, InvalidInput>();
		for (const [key, items] of itemsOf) {
			if (new Set(items.map((itemIndex) => this.sends[itemIndex]?.recipients)).size === 1) continue;
			const invalid = differentAudiences(key, items);
			for (const itemIndex of items) conflicts.set(itemIndex, invalid);
		}
		return conflicts;
	}

	/** How an item is reported: one that has the key of an earlier one was sent earlier, or failed as that did. */
	report<Value>(outcome: Outcome<Value>, itemIndex: number): Outcome<Value> | SendOutcome {
		return this.repeats.has(itemIndex) && outcome.kind === 'done' ? alreadySent : outcome;
	}

	/** How many items were not sent though they have another content than the first item with their key. */
	countDropped(outcomes: ReadonlyArray<Outcome<unknown>>): number {
		const contentOf = (itemIndex: number) => JSON.stringify(this.sends[itemIndex]?.content);
		return [...this.repeats].filter(
			([itemIndex, { first }]) =>
				outcomes[itemIndex]?.kind === 'done' && contentOf(itemIndex) !== contentOf(first),
		).length;
	}
}
