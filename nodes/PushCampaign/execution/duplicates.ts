import { describeRecipients } from '../operations/send';
import type { Key } from '../send/once';
import type { Problem } from '../service/problems';
import { validationProblem } from '../service/problems';
import { capitalize, clip, quote } from '../service/text';
import { InvalidInput } from '../service/thrown';
import type { Group } from './names';
import { groupBy, listSome, nameItems } from './names';
import type { ItemIn, RunItem } from './runItem';

// Items of one run that are the same, by their ID or by what their subscribers would see.

/** It is to go out, or would. */
type NewItem = ItemIn<'ready' | 'shown'>;
type WithKey = NewItem & { readonly key: Key };

const isNew = (item: RunItem) => item.state === 'ready' || item.state === 'shown';

/** What is seen, by whom and when. */
const notificationOf = ({ connection, send }: NewItem) => `${connection.site} ${send.notification}`;

/** One subscriber may get the same again. */
const isToMany = ({ send }: NewItem) => send.audience !== 'subscriber';

const keyOf = ({ key }: WithKey) => key.name;

const idOf = ({ key }: WithKey) => quote(key.id);

/** A fact: which ID would be right, only its user knows. */
export const underAnotherId = 'Under another ID, what was sent goes out again.';

const differentUnderOneId = (group: Group<WithKey>) =>
	new InvalidInput(
		`'Send Only Once' is ${idOf(group[0])} for ${nameItems(group)}, which are different notifications`,
		underAnotherId,
	);

function sameUnderSeveralIds(group: Group<WithKey>): InvalidInput {
	const whom = clip(describeRecipients(group[0].send));
	const ids = listSome([...new Set(group.map(idOf))]);
	return new InvalidInput(
		`${capitalize(nameItems(group))} are the same notification to ${whom}, under different IDs in 'Send Only Once': ${ids}`,
		underAnotherId,
	);
}

/**
 * Finds items whose IDs and notifications don't belong together. One ID for several is what an ID looks like that came out
 * the same for all: all but one would be lost. Several for one would send it again in later executions.
 * @returns why they are refused, by their numbers
 */
export function checkIds(items: readonly RunItem[]): Map<number, Problem> {
	const withKey = items.flatMap((item): WithKey[] =>
		isNew(item) && item.key !== undefined ? [{ ...item, key: item.key }] : [],
	);
	const problems = new Map<number, Problem>();
	const refuse = (group: Group<WithKey>, why: InvalidInput) => {
		for (const { index } of group) problems.set(index, validationProblem(why));
	};
	for (const group of groupBy(withKey.filter(isToMany), notificationOf).values()) {
		if (groupBy(group, keyOf).size > 1) refuse(group, sameUnderSeveralIds(group));
	}
	for (const group of groupBy(withKey, keyOf).values()) {
		if (groupBy(group, notificationOf).size > 1) refuse(group, differentUnderOneId(group));
	}
	return problems;
}

/** Finds the items that are the same as an earlier one: that one goes out in their place. */
export function deduplicate(items: readonly RunItem[]): RunItem[] {
	const firsts = new Map<string, number>();
	return items.map((item): RunItem => {
		if (!isNew(item)) return item;
		if (item.key === undefined && !isToMany(item)) return item;
		const name = `${item.key?.name} ${notificationOf(item)}`;
		const sameAs = firsts.get(name);
		if (sameAs === undefined) firsts.set(name, item.index);
		return { ...item, sameAs };
	});
}
