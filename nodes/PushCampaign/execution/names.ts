import type { Problem } from '../service/problems';
import { capitalize, clip } from '../service/text';
import { groupBy } from './runItem';

// How messages name the items of a run: by their numbers, as the editor counts, from 0.

/** What a message names of an item, of a send or of a read. */
export interface Named {
	readonly index: number;
	readonly subscriberId?: string | undefined;
}

/** A message names the subscribers of at most this many items, and at most this many reasons. */
const mostNamed = 10;

/** Numbers in their order as ranges: `2, 5 to 19`. */
function toRanges(numbers: readonly number[]): string[] {
	const ranges: Array<{ from: number; to: number }> = [];
	for (const number of numbers) {
		const last = ranges.at(-1);
		if (last !== undefined && number === last.to + 1) last.to = number;
		else ranges.push({ from: number, to: number });
	}
	return ranges.map(({ from, to }) => (from === to ? `${from}` : `${from} to ${to}`));
}

const nameItem = ({ index, subscriberId }: Named) =>
	subscriberId === undefined ? `${index}` : `${index} (subscriber ${subscriberId})`;

/** `item 2 (subscriber 5003)`, `items 2, 5 to 19`. */
export function nameItems(items: readonly Named[]): string {
	const isToOne = items.some(({ subscriberId }) => subscriberId !== undefined);
	const named =
		isToOne && items.length <= mostNamed
			? items.map(nameItem)
			: toRanges(items.map(({ index }) => index));
	return `${items.length === 1 ? 'item' : 'items'} ${named.join(', ')}`;
}

/** An item with the reason why it was not sent. */
export type Refused = Named & { readonly problem: Problem };

/** Each reason, with the items that it is about: `item 1 (counted from 0): 'Title' is missing`. */
export function reasonsOf(refused: readonly Refused[], most = mostNamed): string[] {
	const reasonOf = ({ problem }: Refused) => problem.reason ?? problem.message;
	const reasons = [...groupBy(refused, reasonOf)].map(([reason, items], place) => {
		const counted = place === 0 ? ' (counted from 0)' : '';
		return `${nameItems(items)}${counted}: ${clip(reason)}`;
	});
	const more = reasons.length - most;
	if (more <= 0) return reasons;
	return [...reasons.slice(0, most), `and ${more} more ${more === 1 ? 'reason' : 'reasons'}`];
}

/** How many items are not valid, and each reason. One reason for the whole run is told alone. */
export function notValid(refused: readonly Refused[], items: number, tally: string): string {
	const [first] = refused;
	const reasons = new Set(refused.map(({ problem }) => problem.message));
	if (first !== undefined && refused.length === items && reasons.size === 1) {
		return toSentences(first.problem.message, tally);
	}
	const are = refused.length === 1 ? 'is' : 'are';
	const told = capitalize(reasonsOf(refused).join('; '));
	return `${toSentences(`${refused.length} of ${items} items ${are} not valid`, tally)} ${told}`;
}

/** A sentence without its full stop, and what may follow it. */
export const toSentences = (first: string, second: string): string =>
	second === '' ? first : `${first}. ${second}`;
