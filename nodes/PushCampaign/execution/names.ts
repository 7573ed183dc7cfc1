import type { Problem } from '../service/problems';
import { capitalize, clip } from '../service/text';

// How messages name and count the items of a run: by their numbers, as the editor counts, from 0.

/** What a message names of an item, of a send or of a read. */
interface Named {
	readonly index: number;
	readonly subscriberId?: string | undefined;
	/** In quotation marks. */
	readonly title?: string | undefined;
}

/** An item with the reasons why it failed. */
export type Failure = Named & { readonly problem: Problem };

/** A message names at most this many items or ranges, subscribers, IDs and reasons. */
export const mostNamed = 10;

/** `2,500`. */
export const inDigits = (count: number): string => count.toLocaleString('en-US');

/** `1 item`, `2,500 items`. */
export const counted = (count: number, one: string, more = `${one}s`): string =>
	`${inDigits(count)} ${count === 1 ? one : more}`;

export type Group<Value> = [Value, ...Value[]];

/** Values of the same name, in the order of the first one of each. */
export function groupBy<Value>(
	values: readonly Value[],
	nameOf: (value: Value) => string,
): Map<string, Group<Value>> {
	const groups = new Map<string, Group<Value>>();
	for (const value of values) {
		const group = groups.get(nameOf(value));
		if (group === undefined) groups.set(nameOf(value), [value]);
		else group.push(value);
	}
	return groups;
}

const andMore = (named: readonly string[], more: number, separator = ', ') =>
	`${named.join(separator)}${more > 0 ? ` and ${inDigits(more)} more` : ''}`;

/** `2, 3, 5`; of more than ten, how many more. */
export const listSome = (names: readonly string[], separator = ', '): string =>
	andMore(names.slice(0, mostNamed), names.length - mostNamed, separator);

/** Numbers in their order, three and more that follow each other as a range; of many ranges, how many more there are. */
function listRanges(numbers: readonly number[]): string {
	const ranges: Array<{ from: number; to: number }> = [];
	for (const number of numbers) {
		const last = ranges.at(-1);
		if (last?.to === number - 1) last.to = number;
		else ranges.push({ from: number, to: number });
	}
	const named = ranges.slice(0, mostNamed).map(({ from, to }) => {
		if (from === to) return `${from}`;
		return to === from + 1 ? `${from}, ${to}` : `${from} to ${to}`;
	});
	const left = ranges.slice(mostNamed).reduce((sum, { from, to }) => sum + to - from + 1, 0);
	return andMore(named, left);
}

const nameOf = ({ subscriberId, title }: Named) =>
	subscriberId === undefined ? title : `subscriber ${subscriberId}`;

const nameItem = (item: Named) =>
	nameOf(item) === undefined ? `${item.index}` : `${item.index} (${nameOf(item)})`;

/** `item 2 (subscriber 5003)`, `item 0 ("Summer sale")`, `items 2, 5 to 19`. */
export function nameItems(items: readonly Named[]): string {
	const isNamed = items.some(nameOf) && items.length <= mostNamed;
	const named = isNamed
		? items.map(nameItem).join(', ')
		: listRanges(items.map(({ index }) => index));
	return `${items.length === 1 ? 'item' : 'items'} ${named}`;
}

/** The same, and from where the numbers count. */
export const nameCounted = (items: readonly Named[]): string =>
	`${nameItems(items)}, counted from 0`;

/** All reasons why items failed. */
export const problemsOf = (failures: readonly Failure[]): Problem[] =>
	failures.flatMap(({ problem }) => [problem, ...(problem.others ?? [])]);

/** Each reason, with the items that it is about: `item 1, counted from 0: 'Title' is missing`. */
export function reasonsOf(failures: readonly Failure[]): string[] {
	const each = failures.flatMap((item) =>
		problemsOf([item]).map((problem) => ({ ...item, problem })),
	);
	const groups = [...groupBy(each, ({ problem }) => problem.message)];
	const reasons = groups.slice(0, mostNamed).map(([reason, items], place) => {
		const named = place === 0 ? nameCounted(items) : nameItems(items);
		return `${named}: ${clip(reason)}`;
	});
	const more = groups.length - mostNamed;
	return more > 0 ? [...reasons, `and ${counted(more, 'more reason')}`] : reasons;
}

/** How many items are not valid, how many were sent, and each reason. */
export function notValid(failures: readonly Failure[], all: number, tally: string): string {
	const are = failures.length === 1 ? 'is' : 'are';
	const count = `${inDigits(failures.length)} of ${counted(all, 'item')} ${are} not valid.`;
	const reasons = capitalize(reasonsOf(failures).join('; '));
	return [count, tally, reasons].filter((part) => part !== '').join(' ');
}

/** Whether all items that are left have one reason, such as a wrong option: then their numbers say nothing. */
export const haveOneReason = (failures: readonly Failure[], left: number): boolean =>
	failures.length === left &&
	new Set(problemsOf(failures).map(({ message }) => message)).size === 1;
