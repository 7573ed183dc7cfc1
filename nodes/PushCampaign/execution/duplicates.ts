import type { PreparedSend } from '../operations/operation';
import { describeRecipients } from '../operations/send';
import type { Problem } from '../service/problems';
import { validationProblem } from '../service/problems';
import { capitalize, clip, quote } from '../service/text';
import { InvalidInput } from '../service/thrown';
import type { Group } from './names';
import { groupBy, listSome, mostNamed, nameItems } from './names';
import type { ItemThat, RunItem } from './runItem';

// Items of one run that are the same, by their ID or by what their subscribers would see.

/** It is to go out, or would. */
type NewItem = ItemThat<'ready' | 'shown'>;

/** The send itself, or the one that a test stands for. */
export const meantBy = ({ send }: { readonly send: PreparedSend }): PreparedSend =>
	send.standsFor ?? send;

/** What is seen, by whom and when. */
const notificationOf = (item: NewItem) => `${item.connection.site} ${meantBy(item).notification}`;

/** One subscriber may get the same again. */
export const isToMany = (item: { readonly send: PreparedSend }): boolean =>
	meantBy(item).audience !== 'subscriber';

const idOf = ({ key }: NewItem) => quote(key?.id ?? '');

const differentUnderOneId = (group: Group<NewItem>) =>
	new InvalidInput(
		`'Send Only Once' is ${idOf(group[0])} for ${nameItems(group, mostNamed)}, which are different notifications`,
		'Put into it what tells one from another, such as the ID of the post or the number of the order.',
	);

function sameUnderSeveralIds(group: Group<NewItem>): InvalidInput {
	const whom = clip(describeRecipients(meantBy(group[0])));
	const ids = listSome([...new Set(group.map(idOf))]);
	return new InvalidInput(
		`${capitalize(nameItems(group, mostNamed))} are the same notification to ${whom}, under different IDs in 'Send Only Once': ${ids}`,
		'Put into it what stays the same for one notification, such as the ID of the post.',
	);
}

/**
 * Refuses items whose IDs and notifications don't belong together. One ID for several is what an ID looks like that came
 * out the same for all: all but one would be lost. Several for one would send it again in later executions.
 */
export function refuseWrongIds(items: readonly RunItem[]): RunItem[] {
	const keyOf = ({ key }: NewItem) => key?.name ?? '';
	const keyed = items
		.filter((item) => item.how === 'ready' || item.how === 'shown')
		.filter(({ key }) => key !== undefined);
	const problems = new Map<number, Problem>();
	const refuse = (group: Group<NewItem>, why: InvalidInput) => {
		for (const { index } of group) problems.set(index, validationProblem(why));
	};
	for (const group of groupBy(keyed.filter(isToMany), notificationOf).values()) {
		if (groupBy(group, keyOf).size > 1) refuse(group, sameUnderSeveralIds(group));
	}
	for (const group of groupBy(keyed, keyOf).values()) {
		if (groupBy(group, notificationOf).size > 1) refuse(group, differentUnderOneId(group));
	}
	return items.map((item): RunItem => {
		const problem = problems.get(item.index);
		return problem === undefined ? item : { ...item, how: 'failed', problem };
	});
}

/** Finds the items that are the same as an earlier one: that one goes out in their place. */
export function foldSame(items: readonly RunItem[]): RunItem[] {
	const firsts = new Map<string, number>();
	return items.map((item): RunItem => {
		if (item.how !== 'ready' && item.how !== 'shown') return item;
		if (item.key === undefined && !isToMany(item)) return item;
		const name = `${item.key?.name} ${notificationOf(item)}`;
		const sameAs = firsts.get(name);
		if (sameAs === undefined) firsts.set(name, item.index);
		return { ...item, sameAs };
	});
}
