import type { PreparedSend } from '../operations/operation';
import { describeRecipients } from '../operations/send';
import { validationProblem } from '../service/problems';
import { capitalize, clip, quote } from '../service/text';
import { InvalidInput } from '../service/thrown';
import { groupBy, listSome, mostNamed, nameItems } from './names';
import type { ItemThat, RunItem } from './runItem';

// Items of one run that are the same, by their ID or by what their subscribers would see.

type NewItem = ItemThat<'ready' | 'shown'>;

/** Those that are to go out, or would. */
const newItemsIn = (items: readonly RunItem[]): NewItem[] =>
	items.filter((item) => item.how === 'ready' || item.how === 'shown');

/** The send itself, or the one that a test stands for. */
export const meantBy = ({ send }: { readonly send: PreparedSend }): PreparedSend =>
	send.standsFor ?? send;

/** What is seen, by whom and when. */
const notificationOf = (item: NewItem) => `${item.connection.site} ${meantBy(item).notification}`;

/** One subscriber may get the same again. */
export const isToMany = (item: { readonly send: PreparedSend }): boolean =>
	meantBy(item).audience !== 'subscriber';

const countOf = (items: readonly NewItem[], nameOf: (item: NewItem) => string) =>
	new Set(items.map(nameOf)).size;

const idOf = ({ key }: NewItem) => quote(key?.id ?? '');

const differentUnderOneId = (group: readonly NewItem[]) => {
	const id = group.slice(0, 1).map(idOf).join('');
	return new InvalidInput(
		`'Send Only Once' is ${id} for ${nameItems(group, mostNamed)}, which are different notifications`,
		'Put into it what tells one from another, such as the ID of the post or the number of the order.',
	);
};

const sameUnderSeveralIds = (group: readonly NewItem[]) => {
	const whom = group
		.slice(0, 1)
		.map((item) => clip(describeRecipients(meantBy(item))))
		.join('');
	const ids = listSome([...new Set(group.map(idOf))]);
	return new InvalidInput(
		`${capitalize(nameItems(group, mostNamed))} are the same notification to ${whom}, under different IDs in 'Send Only Once': ${ids}`,
		'Put into it what stays the same for one notification, such as the ID of the post.',
	);
};

/**
 * Refuses items whose IDs and notifications don't belong together. One ID for several is what an ID looks like that came
 * out the same for all: all but one would be lost. Several for one would send it again in later executions.
 */
export function refuseWrongIds(items: readonly RunItem[]): RunItem[] {
	const keyOf = ({ key }: NewItem) => key?.name ?? '';
	const keyed = newItemsIn(items).filter(({ key }) => key !== undefined);
	const refusals = new Map<number, InvalidInput>();
	const note = (group: readonly NewItem[], why: InvalidInput) => {
		for (const { index } of group) refusals.set(index, why);
	};
	for (const group of groupBy(keyed.filter(isToMany), notificationOf).values()) {
		if (countOf(group, keyOf) > 1) note(group, sameUnderSeveralIds(group));
	}
	for (const group of groupBy(keyed, keyOf).values()) {
		if (countOf(group, notificationOf) > 1) note(group, differentUnderOneId(group));
	}
	return items.map((item): RunItem => {
		const why = refusals.get(item.index);
		if (why === undefined) return item;
		return { ...item, how: 'failed', problem: validationProblem(why) };
	});
}

/** Finds the items that are the same as an earlier one: that one goes out in their place. */
export function foldSame(items: readonly RunItem[]): RunItem[] {
	const firsts = new Map<string, number>();
	return items.map((item): RunItem => {
		const isNew = item.how === 'ready' || item.how === 'shown';
		if (!isNew || (item.key === undefined && !isToMany(item))) return item;
		const name = `${item.key?.name} ${notificationOf(item)}`;
		const first = firsts.get(name);
		if (first === undefined) firsts.set(name, item.index);
		return { ...item, sameAs: first };
	});
}
