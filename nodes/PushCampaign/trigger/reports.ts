import type { INode, NodeError } from 'n8n-workflow';

import { toN8nError } from '../n8n/errors';
import type { Problem } from '../service/problems';
import { clip } from '../service/text';
import type { Failures } from './read';
import { siteId } from './read';

/** Stands for all that is watched, if a poll could not begin to read. No campaign has this ID. */
export const everything = '';

/** Stand for all that passes by itself: met in a part of what is watched, or while nothing at all can be read. */
const aPart = 'a part';
const theWhole = 'the whole';

/**
 * Whether it ends by itself, as an outage does; everything else stays wrong until somebody mends it. It is chance which
 * campaigns an outage meets, and with which words.
 */
export const isPassing = ({ cause }: Problem): boolean =>
	cause === 'rate-limited' || cause === 'temporarily-unavailable';

/** A failure that lasts until what fails is read again. */
interface Failure {
	/** An ID, or what stands for several. */
	readonly of: string;
	readonly isReported: boolean;
}

/** By trigger, and by what fails and its cause. */
const failing = new Map<string, ReadonlyMap<string, Failure>>();

/**
 * Whether a failure goes on after a poll. What failed in a part before an outage is not read in it, so the outage neither
 * ends nor repeats it; what fails in a part only after the outage is a failure of its own. The outage is over as soon as
 * anything is read, so that the next one is reported, whatever goes on failing.
 * @param met what could not be read in the poll
 */
function lasts({ of }: Failure, met: ReadonlySet<string>): boolean {
	// A poll that could not begin says nothing about what it would have read.
	if (met.has(everything)) return true;
	if (of === aPart && met.has(theWhole)) return true;
	return met.has(of);
}

/** Selects what to report after a poll, and remembers what fails. */
export function selectReports(
	trigger: string,
	failures: Failures,
	isAnythingRead: boolean,
): Failures {
	const passing = isAnythingRead ? aPart : theWhole;
	const subjectOf = (id: string, problem: Problem) => (isPassing(problem) ? passing : id);
	const met = new Set([...failures].flatMap(([id, problem]) => [id, subjectOf(id, problem)]));

	const before = failing.get(trigger) ?? new Map<string, Failure>();
	const now = new Map([...before].filter(([, failure]) => lasts(failure, met)));
	const reports = new Map<string, Problem>();
	for (const [id, problem] of failures) {
		const of = subjectOf(id, problem);
		const name = isPassing(problem) ? of : `${of} ${problem.cause}`;
		const known = before.get(name);
		now.set(name, { of, isReported: known !== undefined });
		// One poll may fail by chance, and what was reported has not healed since.
		if (known?.isReported === false) reports.set(id, problem);
	}
	failing.set(trigger, now);
	return reports;
}

/** A message names every ID, up to this many. */
const mostIds = 100;
/** Of more IDs it names this many, and counts the others. */
const idsOfMany = 10;

function nameIds(ids: readonly string[]): string {
	if (ids.length <= mostIds) return ids.map(clip).join(', ');
	const named = ids.slice(0, idsOfMany).map(clip);
	return `${named.join(', ')} and ${(ids.length - idsOfMany).toLocaleString('en-US')} more`;
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
	const s = ids.length === 1 ? '' : 's';
	// Specification, Errors: about a campaign's status, this is about its ID.
	if (problem.type === 'invalid_value') {
		return `The push service has no campaign${s} ${nameIds(ids)}`;
	}
	return `Campaign${s} ${nameIds(ids)} can't be read. ${problem.message}`;
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

/** What to mend. A pause that the service asks for is none: the next poll asks anyway. */
const fixOf = (problem: Problem) =>
	isPassing(problem) && problem.retryAfterMs !== undefined ? undefined : problem.fix;

const distinct = (sentences: ReadonlyArray<string | undefined>) =>
	[...new Set(sentences)].filter((sentence) => sentence !== undefined);

const endSentence = (text: string) => (text.endsWith('.') ? text : `${text}.`);

/**
 * One error for all failures, the reason of the most campaigns first; nothing if there are none. What to mend is in its
 * message: of a publication that fails, n8n shows nothing else.
 * @param goesOn how the trigger goes on, if it does
 */
export function toError(node: INode, failures: Failures, goesOn?: string): NodeError | undefined {
	const groups = groupByReason(failures);
	const problems = groups.map(({ problem }) => problem);
	const [first] = problems;
	if (first === undefined) return undefined;
	const what = groups.map((group) => endSentence(describe(group)));
	return toN8nError(node, first, {
		message: [...what, ...distinct(problems.map(fixOf))].join(' '),
		description: distinct([...problems.map(({ said }) => said), goesOn]).join(' '),
	});
}
