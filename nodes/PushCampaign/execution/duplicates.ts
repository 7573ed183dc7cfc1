import { describeRecipients } from '../operations/send';
import { validationProblem } from '../service/problems';
import { clip, quote } from '../service/text';
import { InvalidInput } from '../service/thrown';
import type { RunItem } from './runItem';
import { groupBy, nameItems } from './runItem';

// Items of one run that are the same, by their key or by what they send.

/** The same items, in which those of some groups are refused for one reason each. */
function refuse(
	items: readonly RunItem[],
	groups: Iterable<readonly RunItem[]>,
	reasonOf: (group: readonly RunItem[]) => InvalidInput | undefined,
): RunItem[] {
	const refused = new Map<number, RunItem>();
	for (const group of groups) {
		const reason = group.length > 1 ? reasonOf(group) : undefined;
		if (reason === undefined) continue;
		const problem = validationProblem(reason);
		for (const item of group) {
			const how = item.how === 'previewed' ? 'unsendable' : 'failed';
			refused.set(item.index, { ...item, how, problem });
		}
	}
	return items.map((item) => refused.get(item.index) ?? item);
}

const byKey = (items: readonly RunItem[]) =>
	groupBy(
		items.filter(({ key }) => key !== undefined),
		({ key = '' }) => key,
	).values();

/**
 * Refuses items that share an entered key and go to different subscribers: nobody means that, it is what a key looks like
 * that came out the same for all.
 */
export const refuseSharedKeys = (items: readonly RunItem[]): RunItem[] =>
	refuse(items, byKey(items), (group) => {
		const audiences = new Set(group.map((item) => item.send?.recipients));
		if (audiences.size === 1) return undefined;
		const key = quote(group[0]?.send?.options.idempotencyKey);
		return new InvalidInput(
			`'Send Only Once' is ${key} for ${nameItems(group)}, which go to different subscribers`,
			'Put into it what tells one item from another, such as an order number or the ID of the subscriber.',
		);
	});

/** Refuses items that send the same campaign: many rows in front of a send to all look like that. */
export function refuseSameCampaigns(items: readonly RunItem[]): RunItem[] {
	const campaigns = items.filter(
		({ meant, hasKey }) => meant !== undefined && meant.audience !== 'subscriber' && !hasKey,
	);
	const groups = groupBy(
		campaigns,
		({ connection, meant }) => `${connection?.site} ${meant?.content}`,
	).values();
	return refuse(items, groups, (group) => {
		const meant = group[0]?.meant;
		if (meant === undefined) return undefined;
		const whom = clip(describeRecipients(meant));
		return new InvalidInput(
			`${group.length} items would send the same notification to ${whom}: everybody there would get it ${group.length} times`,
			"To send it once, turn on Execute Once in the settings of the node, or add the option 'Send Only Once'.",
		);
	});
}

/** Finds the items that have the key of an earlier one: only that one is sent, or would be in a dry run. */
export function findRepeats(items: readonly RunItem[]): RunItem[] {
	const firsts = new Map<number, number>();
	for (const wanted of ['ready', 'previewed']) {
		for (const [first, ...others] of byKey(items.filter(({ how }) => how === wanted))) {
			for (const { index } of others) firsts.set(index, first?.index ?? index);
		}
	}
	return items.map((item) => ({ ...item, first: firsts.get(item.index) }));
}
