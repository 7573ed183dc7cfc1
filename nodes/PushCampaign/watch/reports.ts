import type { Problem } from '../service/failures';
import { failureCauses } from '../service/failureWords';
import { clip } from '../service/text';
import type { Readings } from './readSubjects';
import type { Subject } from './subjects';

/** What can't be read. */
export interface Failing {
	/** By ID. */
	readonly reasons: ReadonlyMap<
		string,
		{
			/** The reason in the last poll. */
			readonly last: string;
			/** The reason that was reported last; missing if none was. */
			readonly reported?: string | undefined;
		}
	>;
	/** When something was reported last, by `performance.now()`, a clock that nobody sets. */
	readonly reportedAt: number;
}

export const nothingFails: Failing = { reasons: new Map(), reportedAt: 0 };

/** How often it is reported that nothing at all can be read, while that lasts; in milliseconds. */
export const repeatReportMs = 24 * 60 * 60_000;

/**
 * Selects the failures to report. A failure that is there in two polls in a row is reported once, until it
 * changes or heals. While nothing at all can be read, all failures are reported once a day.
 * @param before what was failing after the poll before
 * @param isPublication whether a failure is reported in the first poll already
 */
export function selectReports(
	{ observations, failures, unread }: Readings,
	before: Failing,
	isPublication: boolean,
): { readonly failing: Failing; readonly toReport: ReadonlyMap<string, Problem> } {
	const now = performance.now();
	const isNothingRead = observations.length === 0;
	const isDaily = isNothingRead && now - before.reportedAt >= repeatReportMs;
	// About what was not reached nothing new is known.
	const notReached = new Set(unread);
	const reasons = new Map([...before.reasons].filter(([id]) => notReached.has(id)));
	const toReport = new Map<string, Problem>();
	for (const [id, problem] of failures) {
		const reason = `${problem.type}: ${problem.message}`;
		const known = before.reasons.get(id);
		const isNew = known?.reported !== reason;
		// Reasons that alternate are one report: after the first, a new reason has to stay for two polls.
		const isRepeated =
			known !== undefined && (known.reported === undefined || known.last === reason);
		const isDue = isNew ? isPublication || isRepeated : isDaily;
		if (isDue) toReport.set(id, problem);
		reasons.set(id, { last: reason, reported: isDue ? reason : known?.reported });
	}
	const reportedAt = toReport.size > 0 ? now : before.reportedAt;
	return { failing: { reasons, reportedAt }, toReport };
}

/** A message names every ID, up to this many. */
const mostNamed = 100;
/** Of more IDs it names this many, and counts the others. */
const namedOfMany = 10;
/** A message gives at most this many reasons, and counts the others. */
const mostReasons = 10;

const andMore = (count: number) => `… and ${count.toLocaleString('en-US')} more`;

function nameIds(ids: readonly string[]): string {
	if (ids.length <= mostNamed) return ids.map(clip).join(', ');
	const named = ids.slice(0, namedOfMany).map(clip).join(', ');
	return `${named} ${andMore(ids.length - namedOfMany)}`;
}

/**
 * One problem for all failures, in words that name what can't be read and why.
 * @returns nothing if there are no failures
 */
export function describeFailures(
	failures: ReadonlyMap<string, Problem>,
	subject: Subject,
): Problem | undefined {
	const groups = new Map<string, { readonly problem: Problem; readonly ids: string[] }>();
	for (const [id, problem] of failures) {
		const group = groups.get(problem.message) ?? { problem, ids: [] };
		group.ids.push(id);
		groups.set(problem.message, group);
	}
	// What concerns the whole account comes first.
	const rank = ({ problem }: { readonly problem: Problem }) => failureCauses.indexOf(problem.cause);
	const sorted = [...groups.values()].sort((one, other) => rank(one) - rank(other));
	const [first] = sorted;
	if (first === undefined) return undefined;

	const named = sorted.slice(0, mostReasons).map(({ problem, ids }) => ({
		problem,
		who: subject.describe(nameIds(ids), ids.length),
	}));
	const messages = named.map(({ problem, who }) => `${who} can't be read: ${problem.message}`);
	const advice = named.map(({ problem, who }) => `${who}: ${problem.description}`);
	const others = sorted.length - named.length;
	if (others > 0) messages.push(`${andMore(others)} reasons`);
	return {
		...first.problem,
		message: messages.join('. '),
		description: sorted.length === 1 ? first.problem.description : advice.join(' '),
	};
}
