import type { PreparedSend } from '../operations/operation';
import { describeRecipients } from '../operations/send';
import type { Problem } from '../service/problems';
import { validationProblem } from '../service/problems';
import { capitalize, clip, quote } from '../service/text';
import { InvalidInput } from '../service/thrown';
import { nameItems } from './names';
import type { ReadyItem, RunItem, ShownItem, UntestedItem } from './runItem';
import { groupBy } from './runItem';

// Items that are the same, by their key or by what their subscribers would see.

type NewItem = ReadyItem | ShownItem | UntestedItem;

/** The send itself, or the one that a test stands for. */
const meantBy = (send: PreparedSend): PreparedSend => send.standsFor ?? send;

/** The items that are to go out, or would, each with the subscriber whom it is meant for. */
const newItemsIn = (items: readonly RunItem[]): NewItem[] =>
	items
		.filter((item) => item.how === 'ready' || item.how === 'shown' || item.how === 'untested')
		.map((item) => ({ ...item, subscriberId: meantBy(item.send).body.sid }));

/** The same items, in which those of some groups are refused for one reason each. */
function refuseGroups(
	items: readonly RunItem[],
	groups: Iterable<readonly NewItem[]>,
	reasonOf: (group: readonly NewItem[]) => Problem | undefined,
): RunItem[] {
	const refused = new Map<number, RunItem>();
	for (const group of groups) {
		const problem = group.length > 1 ? reasonOf(group) : undefined;
		if (problem === undefined) continue;
		for (const { index, parameters, subscriberId, send, how } of group) {
			const known = { index, parameters, subscriberId, send, problem };
			refused.set(index, { ...known, how: how === 'shown' ? 'unsendable' : 'failed' });
		}
	}
	return items.map((item) => refused.get(item.index) ?? item);
}

const byKey = <Item extends NewItem>(items: readonly Item[]) =>
	groupBy(
		items.filter(({ key }) => key !== undefined),
		({ key = '' }) => key,
	).values();

/**
 * Refuses items that share a key and go to different subscribers: nobody means that, it is what a key looks like that came
 * out the same for all.
 */
export const refuseSharedKeys = (items: readonly RunItem[]): RunItem[] =>
	refuseGroups(items, byKey(newItemsIn(items)), (group) => {
		const audiences = new Set(group.map(({ send }) => send.recipients));
		if (audiences.size === 1) return undefined;
		const key = quote(group[0]?.send.options.idempotencyKey);
		const refusal = new InvalidInput(
			`'Send Only Once' is ${key} for ${nameItems(group)}, which go to different subscribers`,
			'Put into it what tells one item from another, such as an order number or the ID of the subscriber.',
		);
		const reason = `'Send Only Once' is ${key} for different subscribers`;
		return { ...validationProblem(refusal), reason };
	});

const leaveOut = 'Leave out all but one of them, for example with the node Remove Duplicates.';

const sameAs = (send: PreparedSend) => `the same notification to ${clip(describeRecipients(send))}`;

/**
 * Refuses items that would show the same to the same subscribers: many rows in front of a send to all look like that. Under
 * one key the first of them is sent.
 */
export function refuseSameNotifications(items: readonly RunItem[]): RunItem[] {
	const all = newItemsIn(items);
	const campaigns = all.filter(({ send }) => meantBy(send).notification !== undefined);
	const nameOf = ({ connection, send }: NewItem) =>
		`${connection.site} ${meantBy(send).notification}`;
	return refuseGroups(items, groupBy(campaigns, nameOf).values(), (group) => {
		const [first] = group;
		const isOneKey = new Set(group.map(({ key }) => key)).size === 1 && first?.key !== undefined;
		if (first === undefined || isOneKey) return undefined;
		const same = sameAs(meantBy(first.send));
		const areAll = group.length === items.length;
		const refusal = new InvalidInput(
			`${capitalize(nameItems(group))} would send ${same}`,
			areAll ? 'To send it once, turn on Execute Once in the settings of the node.' : leaveOut,
		);
		return { ...validationProblem(refusal), reason: `each would send ${same}` };
	});
}

/** Why an item is refused that shows what an earlier round, or an earlier call of a tool, has shown. */
export const shownBefore = (send: PreparedSend, isTool: boolean): Problem => {
	const [earlier, advice] = isTool
		? ['an earlier call of this tool', '']
		: ['an earlier round of this execution', leaveOut];
	return validationProblem(
		new InvalidInput(
			`This would send ${sameAs(send)} that ${earlier} has sent, or may have sent`,
			advice,
		),
	);
};

/** Finds the items that have the key of an earlier one: only that one is sent, or would be in a dry run. */
export function findRepeats(items: readonly RunItem[]): RunItem[] {
	const firsts = new Map<number, number>();
	for (const how of ['ready', 'shown']) {
		for (const [first, ...others] of byKey(newItemsIn(items).filter((item) => item.how === how))) {
			for (const { index } of others) firsts.set(index, first?.index ?? index);
		}
	}
	return items.map((item) =>
		item.how === 'ready' || item.how === 'shown'
			? { ...item, first: firsts.get(item.index) }
			: item,
	);
}
