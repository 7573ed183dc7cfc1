import { validationProblem } from '../service/problems';
import { quote } from '../service/text';
import { InvalidInput } from '../service/thrown';
import type { Plan } from './plan';

/** Items of a run that have the same key. */
function groupsOf(plans: readonly Plan[]): Plan[][] {
	const groups = new Map<string, Plan[]>();
	for (const plan of plans) {
		const key = keyOf(plan);
		if (key !== undefined) groups.set(key, [...(groups.get(key) ?? []), plan]);
	}
	return [...groups.values()].filter(({ length }) => length > 1);
}

/** What an item is sent once under, or would be. */
export function keyOf(plan: Plan): string | undefined {
	if (plan.action === 'send') return plan.once.key;
	return plan.action === 'preview' ? plan.key : undefined;
}

const sendOf = (plan: Plan) =>
	plan.action === 'send' || plan.action === 'preview' ? plan.send : undefined;

/**
 * Refuses items that share an entered key and go to different subscribers: nobody means that, it is what a key looks like
 * that came out the same for all.
 */
export function refuseSharedKeys(plans: readonly Plan[]): Plan[] {
	const refused = new Map<number, Plan>();
	for (const group of groupsOf(plans)) {
		const audiences = new Set(group.map((plan) => sendOf(plan)?.recipients));
		if (audiences.size === 1) continue;
		const [key] = group.map((plan) => sendOf(plan)?.options.idempotencyKey);
		const numbers = group.map(({ index }) => index);
		const invalid = new InvalidInput(
			`'Send Only Once' is ${quote(key)} for items ${numbers.slice(0, 10).join(', ')}${numbers.length > 10 ? ', …' : ''}, which go to different subscribers`,
			'Put into it what tells one item from another, such as an order number or the ID of the subscriber.',
		);
		for (const plan of group) {
			const send = sendOf(plan);
			refused.set(plan.index, {
				index: plan.index,
				item: plan.item,
				action: 'refuse',
				problem: validationProblem(invalid),
				isDryRun: plan.action === 'preview',
				...(send === undefined ? {} : { send }),
			});
		}
	}
	return plans.map((plan) => refused.get(plan.index) ?? plan);
}

/** The items that have the key of an earlier one, by index; each with the index of the first one, which is sent. */
export function findRepeats(plans: readonly Plan[]): ReadonlyMap<number, number> {
	const repeats = new Map<number, number>();
	const sends = plans.filter(({ action }) => action === 'send');
	for (const [first, ...others] of groupsOf(sends)) {
		if (first === undefined) continue;
		for (const { index } of others) repeats.set(index, first.index);
	}
	return repeats;
}
