import type { INode, NodeError } from 'n8n-workflow';

import { toN8nError } from '../n8n/errors';
import type { Problem } from '../service/problems';
import { clip } from '../service/text';
import type { Failures } from './fetch';
import { siteId } from './fetch';

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

/** It lasts until what fails is read again. */
interface LastingFailure {
	/** An ID, or what stands for several. */
	readonly of: string;
	readonly isReported: boolean;
}

/** By trigger, and by what fails and its cause. */
const failing = new Map<string, ReadonlyMap<string, LastingFailure>>();

/**
 * Whether a failure goes on after a poll. What failed in a part before an outage is not read in it, so the outage neither
 * ends nor repeats it; what fails in a part only after the outage is a failure of its own. The outage is over as soon as
 * anything is read, so that the next one is reported, whatever goes on failing.
 * @param met what could not be read in the poll
 */
function lasts({ of }: LastingFailure, met: ReadonlySet<string>): boolean {
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

	const before = failing.get(trigger) ?? new Map<string, LastingFailure>();
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

/** A message names every ID, up to this many, and counts the others. */
const mostIds = 100;
/** How many different sentences of the service a message has at most. */
const mostSaid = 10;

function nameIds(ids: readonly string[]): string {
	const named = ids.slice(0, mostIds).map(clip).join(', ');
	const others = ids.length - mostIds;
	return others > 0 ? `${named} and ${others.toLocaleString('en-US')} more` : named;
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

const distinct = (sentences: ReadonlyArray<string | undefined>) =>
	[...new Set(sentences)].filter((sentence) => sentence !== undefined);

const endSentence = (text: string) => (text.endsWith('.') ? text : `${text}.`);

/**
 * One error for all failures, the reason of the most campaigns first; nothing if there are none. All of it is in its
 * message: of a publication that fails, n8n shows nothing else.
 * @param goesOn how the trigger goes on, if it does
 */
export function toError(node: INode, failures: Failures, goesOn = ''): NodeError | undefined {
	const groups = groupByReason(failures);
	const problems = groups.map(({ problem }) => problem);
	const [first] = problems;
	if (first === undefined) return undefined;
	const message = [
		...groups.map((group) => endSentence(describe(group))),
		...distinct(Array.from(failures.values(), ({ said }) => said)).slice(0, mostSaid),
		...distinct(problems.map(({ fix }) => fix)),
	].join(' ');
	return toN8nError(node, first, { message, description: goesOn });
}
