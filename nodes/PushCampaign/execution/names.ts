import type { Problem } from '../service/problems';
import { capitalize, clip } from '../service/text';
import { groupBy } from './runItem';

// How messages name the items of a run: by their numbers, as the editor counts, from 0.

/** What a message names of an item, of a send or of a read. */
export interface Named {
	readonly index: number;
	readonly subscriberId?: string | undefined;
}

/** A message names at most this many items or ranges, subscribers, IDs and reasons. */
export const mostNamed = 10;

/** `2, 3, 5`; of more than ten, how many more. */
export function listSome(names: readonly string[]): string {
	const more = names.length - mostNamed;
	const named = names.slice(0, mostNamed).join(', ');
	return more > 0 ? `${named} and ${more.toLocaleString('en-US')} more` : named;
}

/** Numbers in their order, three and more that follow each other as a range; of many ranges, how many more there are. */
function listRanges(numbers: readonly number[], most: number): string {
	const ranges: Array<{ from: number; to: number }> = [];
	for (const number of numbers) {
		const last = ranges.at(-1);
		if (last?.to === number - 1) last.to = number;
		else ranges.push({ from: number, to: number });
	}
	const named = ranges.slice(0, most).map(({ from, to }) => {
		if (from === to) return `${from}`;
		return to === from + 1 ? `${from}, ${to}` : `${from} to ${to}`;
	});
	const left = ranges.slice(most).reduce((sum, { from, to }) => sum + to - from + 1, 0);
	return left === 0
		? named.join(', ')
		: `${named.join(', ')} and ${left.toLocaleString('en-US')} more`;
}

const nameItem = ({ index, subscriberId }: Named) =>
	subscriberId === undefined ? `${index}` : `${index} (subscriber ${subscriberId})`;

/** `item 2 (subscriber 5003)`, `items 2, 5 to 19`. */
export function nameItems(items: readonly Named[], most = Infinity): string {
	const isToOne = items.some(({ subscriberId }) => subscriberId !== undefined);
	const isNamed = isToOne && items.length <= mostNamed;
	const numbers = items.map(({ index }) => index);
	const named = isNamed ? items.map(nameItem).join(', ') : listRanges(numbers, most);
	return `${items.length === 1 ? 'item' : 'items'} ${named}`;
}

/** The same, and from where the numbers count. */
export function nameCounted(items: readonly Named[], most = Infinity): string {
	const named = nameItems(items, most);
	return named.endsWith(')') ? `${named}, counted from 0` : `${named} (counted from 0)`;
}

/** An item with the reasons why it was not sent. */
export type Refused = Named & { readonly problem: Problem };

/** The items by their reasons. */
function byReason(refused: readonly Refused[]): Array<[reason: string, items: Refused[]]> {
	const each = refused.flatMap((item) =>
		[item.problem, ...(item.problem.others ?? [])].map((problem) => ({ ...item, problem })),
	);
	return [...groupBy(each, ({ problem }) => problem.message)];
}

/** Each reason, with the items that it is about: `item 1 (counted from 0): 'Title' is missing`. */
export function reasonsOf(refused: readonly Refused[], mostItems = Infinity): string[] {
	const reasons = byReason(refused).map(([reason, items], place) => {
		const named = place === 0 ? nameCounted(items, mostItems) : nameItems(items, mostItems);
		return `${named}: ${clip(reason)}`;
	});
	const more = reasons.length - mostNamed;
	if (more <= 0) return reasons;
	return [...reasons.slice(0, mostNamed), `and ${more} more ${more === 1 ? 'reason' : 'reasons'}`];
}

/** How many items are not valid, and each reason. */
export function notValid(refused: readonly Refused[], items: number, tally: string): string {
	const count = `${refused.length.toLocaleString('en-US')} of ${items.toLocaleString('en-US')}`;
	const are = `${count} ${items === 1 ? 'item' : 'items'} ${refused.length === 1 ? 'is' : 'are'} not valid.`;
	const told = capitalize(reasonsOf(refused, mostNamed).join('; '));
	return [are, tally, told].filter((part) => part !== '').join(' ');
}

/** Whether all items that are left have one reason, such as a wrong option: then their numbers say nothing. */
export const haveOneReason = (refused: readonly Refused[], left: number): boolean =>
	refused.length === left && byReason(refused).length === 1;

/** A sentence without its full stop, and what may follow it. */
export const toSentences = (first: string, second: string): string =>
	second === '' ? first : `${first}${first.endsWith('.') ? '' : '.'} ${second}`;
