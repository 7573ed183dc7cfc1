import type { Problem } from '../service/failures';
import { clip } from '../service/text';
import type { WatchState } from './state';

type Failing = WatchState['failing'];

/**
 * Finds the failures that are to be told: those that are there in two polls in a row, once, until they
 * change or heal.
 * @param before what was failing in the poll before
 * @param atOnce whether also those that were not there before are told
 */
export function findNews(
	failures: ReadonlyMap<string, Problem>,
	before: Failing,
	atOnce: boolean,
): { readonly failing: Failing; readonly news: ReadonlyMap<string, Problem> } {
	const failing: Failing = {};
	const news = new Map<string, Problem>();
	for (const [id, problem] of failures) {
		const reason = `${problem.type}: ${problem.message}`;
		const known = Object.hasOwn(before, id) ? before[id] : undefined;
		// Of one that fails now for this reason, now for that one, the first that is told is enough.
		const isStable = known !== undefined && (known.told === undefined || known.last === reason);
		const isNews = known?.told !== reason && (atOnce || isStable);
		if (isNews) news.set(id, problem);
		const told = isNews ? reason : known?.told;
		failing[id] = { last: reason, ...(told === undefined ? {} : { told }) };
	}
	return { failing, news };
}

/** What concerns the account or the service comes before what concerns a campaign. */
const order: ReadonlyArray<Problem['cause']> = [
	'credential-invalid',
	'rate-limited',
	'temporarily-unavailable',
	'configuration-invalid',
];

const mostNames = 10;

function nameCampaigns(campaignIds: readonly string[]): string {
	const names = campaignIds.slice(0, mostNames).map(clip).join(', ');
	const more = campaignIds.length - mostNames;
	const noun = campaignIds.length === 1 ? 'Campaign' : 'Campaigns';
	return `${noun} ${names}${more > 0 ? ` and ${more} more` : ''}`;
}

/**
 * All failures in one, in words that name every campaign and every reason: the account's first.
 * @returns nothing where there are none
 */
export function describeFailures(failures: ReadonlyMap<string, Problem>): Problem | undefined {
	const groups = new Map<string, { problem: Problem; ids: string[] }>();
	for (const [id, problem] of failures) {
		const group = groups.get(problem.message) ?? { problem, ids: [] };
		group.ids.push(id);
		groups.set(problem.message, group);
	}
	const sorted = [...groups.values()].sort(
		(one, other) => order.indexOf(one.problem.cause) - order.indexOf(other.problem.cause),
	);
	const [first] = sorted;
	if (first === undefined) return undefined;
	const told = sorted.map(({ problem, ids }) => ({ names: nameCampaigns(ids), problem }));
	const advice = told.map(({ names, problem: { description } }) =>
		told.length === 1 ? description : `${names}: ${description}`,
	);
	const isShortened = sorted.some(({ ids }) => ids.length > mostNames);
	const all = isShortened ? [`All that can't be read: ${[...failures.keys()].join(', ')}.`] : [];
	return {
		...first.problem,
		message: told
			.map(({ names, problem: { message } }) => `${names} can't be read: ${message}`)
			.join('. '),
		description: [...advice, ...all].join(' '),
	};
}
