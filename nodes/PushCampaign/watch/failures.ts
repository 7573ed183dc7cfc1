import type { Problem } from '../service/failures';
import { failureCauses } from '../service/failureWords';
import { clip } from '../service/text';
import type { Readings } from './readCampaigns';

/** By campaign, why it could not be read last, and the reason that was told. */
export type Failing = ReadonlyMap<
	string,
	{ readonly last: string; readonly told?: string | undefined }
>;

/**
 * Finds the failures that are to be told: those that are there in two polls in a row, once, until they
 * change or heal.
 * @param before what was failing in the poll before
 * @param atOnce whether also those that were not there before are told
 */
export function findNews(
	{ failures, unread }: Pick<Readings, 'failures' | 'unread'>,
	before: Failing,
	atOnce: boolean,
): { readonly failing: Failing; readonly news: ReadonlyMap<string, Problem> } {
	// Of what was not reached nothing new is known.
	const failing = new Map([...before].filter(([id]) => unread.includes(id)));
	const news = new Map<string, Problem>();
	for (const [id, problem] of failures) {
		const reason = `${problem.type}: ${problem.message}`;
		const known = before.get(id);
		// Of one that fails now for this reason, now for that one, the first that is told is enough.
		const isStable = known !== undefined && (known.told === undefined || known.last === reason);
		const isNews = known?.told !== reason && (atOnce || isStable);
		if (isNews) news.set(id, problem);
		failing.set(id, { last: reason, told: isNews ? reason : known?.told });
	}
	return { failing, news };
}

/**
 * All failures in one, in words that name every campaign and every reason: the account's first.
 * @returns nothing where there are none
 */
export function describeFailures(failures: ReadonlyMap<string, Problem>): Problem | undefined {
	const groups = new Map<string, { problem: Problem; ids: string[] }>();
	for (const [id, problem] of failures) {
		const group = groups.get(problem.message) ?? { problem, ids: [] };
		group.ids.push(clip(id));
		groups.set(problem.message, group);
	}
	const rank = ({ problem }: { problem: Problem }) => failureCauses.indexOf(problem.cause);
	const told = [...groups.values()].sort((one, other) => rank(one) - rank(other));
	const [first] = told;
	if (first === undefined) return undefined;
	const name = (ids: string[]) =>
		`${ids.length === 1 ? 'Campaign' : 'Campaigns'} ${ids.join(', ')}`;
	const reasons = told.map(({ ids, problem }) => `${name(ids)} can't be read: ${problem.message}`);
	const advice = told.map(({ ids, problem }) => `${name(ids)}: ${problem.description}`);
	return {
		...first.problem,
		message: reasons.join('. '),
		description: told.length === 1 ? first.problem.description : advice.join(' '),
	};
}
