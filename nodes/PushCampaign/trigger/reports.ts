import type { INode, NodeError } from 'n8n-workflow';

import { toN8nError } from '../n8n/errors';
import type { Problem } from '../service/problems';
import { clip } from '../service/text';
import type { Failures } from './read';
import { siteId, timeIsOver } from './read';

/** Stands for all that is watched, if a poll could not begin to read. No campaign has this ID. */
export const everything = '';

/** A failure in the last poll. */
interface Known {
	/** Its reason then. */
	readonly last: string;
	/** The reason that was reported last; missing if none was. */
	readonly reported?: string | undefined;
}

/** What can't be read, by trigger and by what fails. */
const failing = new Map<string, ReadonlyMap<string, Known>>();

/** Whether it is chance which campaigns it meets: then it is one failure, whatever their number. */
const isChance = (problem: Problem) => problem.cause === 'rate-limited' || problem === timeIsOver;

/**
 * Selects what to report after a poll, and remembers what fails. A failure that is there in two polls in a row is
 * reported once, until it changes or heals.
 */
export function selectReports(trigger: string, failures: Failures): Failures {
	const known = failing.get(trigger) ?? new Map<string, Known>();
	// About what was not reached nothing new is known.
	const next = new Map(failures.has(everything) ? known : []);
	const reports = new Map<string, Problem>();
	for (const [id, problem] of failures) {
		const own = known.get(id);
		if (isChance(problem) && own !== undefined) next.set(id, own);

		const subject = isChance(problem) ? problem.message : id;
		const before = known.get(subject);
		const isLasting = before?.last === problem.message;
		// Reasons that alternate are one report: after the first, a new reason has to stay for two polls.
		const isSecond = before !== undefined && (before.reported === undefined || isLasting);
		const isDue = isSecond && before.reported !== problem.message;
		if (isDue) reports.set(id, problem);
		const reported = isDue ? problem.message : before?.reported;
		next.set(subject, { last: problem.message, reported });
	}
	failing.set(trigger, next);
	return reports;
}

/** A message names every ID, up to this many. */
const mostIds = 100;
/** Of more IDs it names this many, and counts the others. */
const idsOfMany = 10;
/** A message gives at most this many reasons, and counts the others. */
const mostReasons = 10;

const andMore = (count: number, what: string) => `and ${count.toLocaleString('en-US')} more${what}`;

function nameIds(ids: readonly string[]): string {
	if (ids.length <= mostIds) return ids.map(clip).join(', ');
	const named = ids.slice(0, idsOfMany).map(clip);
	return `${named.join(', ')} ${andMore(ids.length - idsOfMany, '')}`;
}

/** The failures that have one reason. */
interface Group {
	readonly problem: Problem;
	readonly ids: string[];
}

/** Sentences about what can't be read. */
function describe({ problem, ids }: Group): string {
	if (ids.includes(everything)) return problem.message;
	if (ids.includes(siteId)) return `The subscriber count can't be read. ${problem.message}`;
	const campaigns = ids.length === 1 ? 'Campaign' : 'Campaigns';
	return `${campaigns} ${nameIds(ids)} can't be read. ${problem.message}`;
}

function groupByReason(failures: Failures): Group[] {
	const groups = new Map<string, Group>();
	for (const [id, problem] of failures) {
		const group = groups.get(problem.message) ?? { problem, ids: [] };
		group.ids.push(id);
		groups.set(problem.message, group);
	}
	return [...groups.values()].sort((one, other) => other.ids.length - one.ids.length);
}

const goesOn = 'The trigger goes on with its next poll.';

const nextStep = ({ remedy, fix }: Problem) =>
	remedy === 'wait' || fix === undefined ? 'Try again later.' : 'Then try again.';

/** One error for all failures, the reason of the most campaigns first; nothing if there are none. */
export function toError(node: INode, failures: Failures, isThrown: boolean): NodeError | undefined {
	const groups = groupByReason(failures);
	const [first] = groups;
	if (first === undefined) return undefined;

	const named = groups.slice(0, mostReasons);
	const message = named.map(describe);
	const others = groups.length - named.length;
	if (others > 0) message.push(andMore(others, ' reasons'));

	const advice = named.flatMap(({ problem: { said, fix } }) => [said, fix]);
	const toMend = [...new Set(advice)].filter((sentence) => sentence !== undefined);
	return toN8nError(node, first.problem, {
		message: message.join('. '),
		description: [...toMend, isThrown ? nextStep(first.problem) : goesOn].join(' '),
	});
}
