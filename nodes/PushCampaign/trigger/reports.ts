import type { INode, NodeError } from 'n8n-workflow';

import { toN8nError } from '../n8n/errors';
import type { Problem } from '../service/problems';
import { clip } from '../service/text';
import type { Failures } from './read';
import { siteId } from './read';

/** Stands for all that is watched, if a poll could not begin to read. No campaign has this ID. */
export const everything = '';

/** Stands for the service. */
const theService = 'the service';

/** Whether it ends by itself, as an outage does. It is chance which campaigns that meets, and with which words. */
export const isPassing = ({ cause }: Problem): boolean =>
	cause === 'rate-limited' || cause === 'temporarily-unavailable';

/** A failure that lasts until what fails is read again. */
interface Failure {
	/** An ID; or the service, for all that ends by itself. */
	readonly of: string;
	readonly isReported: boolean;
}

/** By trigger, and by what fails and its cause. */
const failing = new Map<string, ReadonlyMap<string, Failure>>();

/**
 * Selects what to report after a poll, and remembers what fails. A failure is reported when a second poll meets it, and
 * then no more until it heals, or has another cause.
 */
export function selectReports(trigger: string, failures: Failures): Failures {
	const before = failing.get(trigger) ?? new Map<string, Failure>();
	// A poll that could not begin says nothing about what it would have read.
	const isUnread = ({ of }: Failure) => failures.has(of) || failures.has(everything);
	const now = new Map([...before].filter(([, failure]) => isUnread(failure)));
	const reports = new Map<string, Problem>();
	for (const [id, problem] of failures) {
		const of = isPassing(problem) ? theService : id;
		const name = isPassing(problem) ? theService : `${id} ${problem.cause}`;
		const known = before.get(name);
		if (known?.isReported === false) reports.set(id, problem);
		now.set(name, { of, isReported: known !== undefined });
	}
	failing.set(trigger, now);
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
	const s = ids.length === 1 ? '' : 's';
	// Specification, Errors: about a campaign's status, this is about its ID.
	if (problem.type === 'invalid_value')
		return `The push service has no campaign${s} ${nameIds(ids)}`;
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

/** What the service says, what helps, and how it goes on. */
function adviseOn(first: Problem, others: readonly Problem[], isThrown: boolean): string {
	const problems = [first, ...others];
	const sentences = [...problems.map(({ said }) => said), ...problems.map(({ fix }) => fix)];
	const advice = [...new Set(sentences)].filter((sentence) => sentence !== undefined);
	if (!isThrown) return [...advice, 'The trigger goes on with its next poll.'].join(' ');
	if (isPassing(first) || first.fix === undefined) return [...advice, 'Try again later.'].join(' ');
	return advice.join(' ').replace(/\.$/, ', and try again.');
}

/** One error for all failures, the reason of the most campaigns first; nothing if there are none. */
export function toError(node: INode, failures: Failures, isThrown: boolean): NodeError | undefined {
	const groups = groupByReason(failures);
	const named = groups.slice(0, mostReasons);
	const message = named.map(describe);
	const unnamed = groups.length - named.length;
	if (unnamed > 0) message.push(andMore(unnamed, unnamed === 1 ? ' reason' : ' reasons'));

	const [first, ...others] = named.map(({ problem }) => problem);
	if (first === undefined) return undefined;
	return toN8nError(node, first, {
		message: message.join('. '),
		description: adviseOn(first, others, isThrown),
	});
}
