import type { IExecuteFunctions, NodeExecutionHint } from 'n8n-workflow';

import type { Outcome } from '../delivery/outcome';
import type { ChangeOperation, PreparedChange } from '../operations/operation';
import { digest } from '../send/digest';
import { IdempotencyKeys } from '../send/idempotencyKeys';
import type { SendOutcome } from '../send/sendOutcome';
import { alreadySent } from '../send/sendOutcome';
import type { SendReceipt } from '../service/answers';
import type { Problem } from '../service/failures';
import type { ChangeKind } from '../service/kinds';
import { kinds } from '../service/kinds';
import { checkLead } from '../service/schedule';
import { clip } from '../service/text';
import { ledgerOf } from './executionLedger';
import { executionHints } from './hints';
import type { JobFactory, Tally } from './itemJob';
import { isTool } from './itemJob';
import { hasExpression, parametersOf } from './parameterReader';
import { idCheckOf } from './sharedNodeId';

/** How a change went: its answer, or why nothing was requested. */
type Changed = SendReceipt | 'alreadySent' | 'dryRun';

/**
 * The parameters as written, without the options: turning on Resend Unknown must not make every item
 * a new one. Missing where no expression is among them: then other content means other input.
 */
function writtenParameters(context: IExecuteFunctions): string | undefined {
	const parameters = { ...context.getNode().parameters, options: undefined };
	return hasExpression(parameters) ? JSON.stringify(parameters) : undefined;
}

/** Counts how changes ended; a dry run changes nothing, whatever comes of it. */
function count(outcomes: ReadonlyArray<Outcome<Changed>>): Tally {
	const counts = { items: outcomes.length, done: 0, doneEarlier: 0, notDone: 0, unknown: 0 };
	for (const outcome of outcomes) {
		if (outcome.kind === 'failed' && outcome.problem.outcome === 'unknown') counts.unknown += 1;
		else if (outcome.kind !== 'done' || outcome.value === 'dryRun') counts.notDone += 1;
		else if (outcome.value === 'alreadySent') counts.doneEarlier += 1;
		else counts.done += 1;
	}
	return counts;
}

/** How an item failed that shares its key with an earlier one of the run: in words that do not name that one's audience. */
function failedAsFirst(problem: Problem, key: string, kind: ChangeKind): Problem {
	const { done, notDone } = kinds[kind].change;
	const first = `an earlier item with the idempotency key "${clip(key)}"`;
	if (problem.outcome === 'unknown') {
		const message = `It is unknown whether this was ${done}: ${first} has no known outcome`;
		return { ...problem, message };
	}
	return {
		...problem,
		message: `This was ${notDone}, because ${first} was ${notDone}`,
		description: `That item says why. Correct it, or give this one a key of its own.`,
	};
}

/** Makes the jobs of changes: each is made once in this execution, and once at all under an idempotency key. */
export function changeJobs(
	context: IExecuteFunctions,
	operation: ChangeOperation,
): JobFactory<Changed> {
	const items = context.getInputData();
	const parametersFor = parametersOf(context);
	const ledger = ledgerOf(context);
	const requireOwnId = idCheckOf(context);
	// An agent's tool may run in a context that has none.
	const executionId = String(context.getExecutionId());
	const keys = new IdempotencyKeys(context, operation.kind);
	// An older agent hands its tool the arguments as an item, and evaluates its parameters by another one:
	// there the content alone tells one send from another.
	const isOfAgent = isTool(context.getNode());
	const written = isOfAgent ? undefined : writtenParameters(context);
	// The first run where n8n tells none.
	const runIndex = isOfAgent ? 0 : Number(context.evaluateExpression('{{ $runIndex }}', 0)) || 0;
	const changes: PreparedChange[] = [];
	const keysOfRun = new Set<string>();
	/** Asks how many subscribers the first dry run would reach. */
	let countReached: (() => Promise<number | undefined>) | undefined;
	/** The keys of the items whose key an earlier item of this run has. */
	const repeats = new Map<number, string>();

	async function hintsOf(
		outcomes: ReadonlyArray<Outcome<Changed>>,
		counts: Tally,
	): Promise<NodeExecutionHint[]> {
		const sends = outcomes.flatMap((outcome, itemIndex) => {
			if (outcome.kind !== 'done' || outcome.value === 'alreadySent') return [];
			const receipt = outcome.value === 'dryRun' ? undefined : outcome.value;
			return changes[itemIndex]?.describe?.(receipt) ?? [];
		});
		return executionHints(sends, counts, operation.kind, await countReached?.());
	}

	return {
		create(itemIndex, { client, settings, site }) {
			const change = operation.prepare(parametersFor(itemIndex));
			changes[itemIndex] = change;
			const { dryRun, idempotencyKey: key, resendUnknown, ...limits } = change.options;
			const toItems = {
				toJson(value: Changed) {
					if (value === 'dryRun') return change.toDryRunItem(settings.baseUrl);
					return change.toItem(value === 'alreadySent' ? undefined : value);
				},
				toFailedJson: change.toFailedItem,
			};
			const tooLate = () => change.schedule && checkLead(change.schedule, Date.now());
			const late = tooLate();
			if (dryRun) {
				if (late !== undefined) throw late;
				countReached ??= async () => await change.countReached?.(client);
				return { known: { kind: 'done', value: 'dryRun' }, ...toItems };
			}
			if (key !== undefined) requireOwnId();
			const identity = {
				kind: operation.kind,
				position: isOfAgent ? 't' : `${runIndex}.${itemIndex}`,
				content: digest([site, ...change.content]),
				source: written && digest([site, written, items[itemIndex]?.json]),
				key: key === undefined ? undefined : digest(key),
				executionId,
			};
			const known = ledger.recall(identity, resendUnknown);
			if (known !== undefined) return { known, ...toItems };

			async function attempt(): Promise<SendOutcome> {
				const invalid = late ?? tooLate();
				return invalid ? { kind: 'invalid', invalid } : await change.perform(client);
			}
			/**
			 * The ledger is asked first: an execution that runs again gives its first answers again. Then the key:
			 * what another execution sent under it is not judged by its time any more. Then the clock.
			 */
			async function once(): Promise<SendOutcome> {
				return await ledger.once(identity, resendUnknown, async () =>
					key === undefined ? await attempt() : await keys.once(key, resendUnknown, attempt),
				);
			}
			if (key !== undefined && keysOfRun.has(key)) repeats.set(itemIndex, key);
			else if (late !== undefined) {
				// Refused before anything is sent, unless it is known to be sent, or may be. Whatever the clock does.
				return once().then((outcome) => ({ known: outcome, ...toItems }));
			}
			if (key !== undefined) {
				keysOfRun.add(key);
				keys.expect(key);
			}
			return {
				maxParallel: limits.maxParallel,
				dedupeKey: key,
				rateLimitRetries: limits.rateLimitRetries,
				transientRetries: kinds[operation.kind].unknownRetries,
				attempt: once,
				...toItems,
			};
		},
		toInvalidJson: (itemIndex, failure) =>
			operation.toInvalidItem(parametersFor(itemIndex), failure),
		close: async () => await keys.written(),
		end(ended) {
			const outcomes = ended.map((outcome, itemIndex): Outcome<Changed> => {
				const key = repeats.get(itemIndex);
				if (key === undefined) return outcome;
				if (outcome.kind === 'done') return alreadySent;
				if (outcome.kind !== 'failed') return outcome;
				return { ...outcome, problem: failedAsFirst(outcome.problem, key, operation.kind) };
			});
			const counts = count(outcomes);
			return { outcomes, counts, hints: async () => await hintsOf(outcomes, counts) };
		},
	};
}
