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

/** Numbers in their order, three and more that follow each other as a range: `2, 3, 5 to 19`. */
function toRanges(numbers: readonly number[]): string[] {
	const ranges: Array<{ from: number; to: number }> = [];
	for (const number of numbers) {
		const last = ranges.at(-1);
		if (last !== undefined && number === last.to + 1) last.to = number;
		else ranges.push({ from: number, to: number });
	}
	return ranges.flatMap(({ from, to }) => {
		if (from === to) return [`${from}`];
		return to === from + 1 ? [`${from}`, `${to}`] : [`${from} to ${to}`];
	});
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
	const groups = [...groupBy(refused, ({ problem }) => problem.message)];
	const reasons = groups.map(([message, items], place) => {
		const counted = place === 0 ? ' (counted from 0)' : '';
		return `${nameItems(items)}${counted}: ${clip(items[0]?.problem.reason ?? message)}`;
	});
	const more = reasons.length - most;
	if (more <= 0) return reasons;
	return [...reasons.slice(0, most), `and ${more} more ${more === 1 ? 'reason' : 'reasons'}`];
}

/** How many items are not valid, and each reason. */
export function notValid(refused: readonly Refused[], items: number, tally: string): string {
	const are = refused.length === 1 ? 'is' : 'are';
	const told = capitalize(reasonsOf(refused).join('; '));
	const count = `${refused.length} of ${items} items ${are} not valid.`;
	return [count, tally, told].filter((part) => part !== '').join(' ');
}

/** Whether all items that are left have one reason, such as a wrong option: then their numbers say nothing. */
export const haveOneReason = (refused: readonly Refused[], left: number): boolean =>
	refused.length === left && new Set(refused.map(({ problem }) => problem.message)).size === 1;

/** A sentence without its full stop, and what may follow it. */
export const toSentences = (first: string, second: string): string =>
	second === '' ? first : `${first}. ${second}`;
