import type { IDataObject, IExecuteFunctions, NodeExecutionHint } from 'n8n-workflow';

import type { Outcome } from '../delivery/outcome';
import type { ChangeOperation, ItemFailure, PreparedChange } from '../operations/operation';
import type { ItemParameters } from '../operations/parameters';
import { digest } from '../send/digest';
import { IdempotencyKeys } from '../send/idempotencyKeys';
import type { Ledger, SendIdentity } from '../send/ledger';
import type { SendOutcome } from '../send/sendOutcome';
import { alreadySent } from '../send/sendOutcome';
import type { SendReceipt } from '../service/answers';
import type { Problem } from '../service/failures';
import type { InvalidInput } from '../service/invalidInput';
import type { ChangeKind } from '../service/kinds';
import { kinds } from '../service/kinds';
import { checkLead } from '../service/schedule';
import { clip } from '../service/text';
import { ledgerOf } from './executionLedger';
import { executionHints } from './hints';
import type { ItemJob, JobFactory, Tally } from './itemJob';
import { isTool } from './itemJob';
import { hasExpression, parametersOf } from './parameterReader';
import { idCheckOf } from './sharedNodeId';
import type { Connection } from './transport';

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

/** Why it is too late for the time of a scheduled change; nothing if it is not. */
const tooLate = ({ schedule }: PreparedChange): InvalidInput | undefined =>
	schedule && checkLead(schedule, Date.now());

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
export class ChangeJobs implements JobFactory<Changed> {
	private readonly ledger: Ledger;
	private readonly keys: IdempotencyKeys;
	private readonly parametersFor: (itemIndex: number) => ItemParameters;
	private readonly requireOwnId: () => void;
	private readonly isOfAgent: boolean;
	/** What is the same in the identity of all items. */
	private readonly run: { readonly executionId: string; readonly index: number };
	/** The parameters as written, if they say that an item is the same though its content differs. */
	private readonly written: string | undefined;
	private readonly changes: PreparedChange[] = [];
	private readonly keysOfRun = new Set<string>();
	/** The keys of the items whose key an earlier item of this run has. */
	private readonly repeats = new Map<number, string>();
	/** Asks how many subscribers the first dry run would reach. */
	private countReached: (() => Promise<number | undefined>) | undefined;

	constructor(
		private readonly context: IExecuteFunctions,
		private readonly operation: ChangeOperation,
	) {
		this.ledger = ledgerOf(context);
		this.keys = new IdempotencyKeys(context, operation.kind);
		this.parametersFor = parametersOf(context);
		this.requireOwnId = idCheckOf(context);
		// An older agent hands its tool the arguments as an item, and evaluates its parameters by another one:
		// there the content alone tells one send from another.
		this.isOfAgent = isTool(context.getNode());
		this.written = this.isOfAgent ? undefined : writtenParameters(context);
		this.run = {
			// An agent's tool may run in a context that has none.
			executionId: String(context.getExecutionId()),
			// The first run where n8n tells none.
			index: this.isOfAgent ? 0 : Number(context.evaluateExpression('{{ $runIndex }}', 0)) || 0,
		};
	}

	async create(
		itemIndex: number,
		{ client, settings, site }: Connection,
	): Promise<ItemJob<Changed>> {
		const change = this.operation.prepare(this.parametersFor(itemIndex));
		this.changes[itemIndex] = change;
		const toItems = {
			toJson(value: Changed) {
				if (value === 'dryRun') return change.toDryRunItem(settings.baseUrl);
				return change.toItem(value === 'alreadySent' ? undefined : value);
			},
			toFailedJson: change.toFailedItem,
		};
		const late = tooLate(change);
		if (change.options.dryRun) {
			if (late !== undefined) throw late;
			this.countReached ??= async () => await change.countReached?.(client);
			return { known: { kind: 'done', value: 'dryRun' }, ...toItems };
		}

		const { idempotencyKey: key, resendUnknown, maxParallel, rateLimitRetries } = change.options;
		if (key !== undefined) this.requireOwnId();
		const identity = this.identify(itemIndex, change, site);
		const known = this.ledger.recall(identity, resendUnknown);
		if (known !== undefined) return { known, ...toItems };

		// What was refused for its time stays refused, whatever the clock does.
		const attempt = async (): Promise<SendOutcome> => {
			const invalid = late ?? tooLate(change);
			return invalid ? { kind: 'invalid', invalid } : await change.perform(client);
		};
		// The ledger is asked first: an execution that runs again gives its first answers again. Then the key: what
		// another execution sent under it is not judged by its time any more. Then the clock.
		const once = async (): Promise<SendOutcome> =>
			await this.ledger.once(identity, resendUnknown, async () =>
				key === undefined ? await attempt() : await this.keys.once(key, resendUnknown, attempt),
			);
		const isRepeat = key !== undefined && this.keysOfRun.has(key);
		if (isRepeat) this.repeats.set(itemIndex, key);
		// It is refused before anything is sent, unless it is known to be sent, or may be.
		if (late !== undefined && !isRepeat) return { known: await once(), ...toItems };
		if (key !== undefined) {
			this.keysOfRun.add(key);
			this.keys.expect(key);
		}
		return {
			maxParallel,
			dedupeKey: key,
			rateLimitRetries,
			transientRetries: kinds[this.operation.kind].unknownRetries,
			attempt: once,
			...toItems,
		};
	}

	toInvalidJson(itemIndex: number, failure: ItemFailure): IDataObject {
		return this.operation.toInvalidItem(this.parametersFor(itemIndex), failure);
	}

	async close(): Promise<void> {
		await this.keys.written();
	}

	end(ended: ReadonlyArray<Outcome<Changed>>) {
		const outcomes = ended.map((outcome, itemIndex): Outcome<Changed> => {
			const key = this.repeats.get(itemIndex);
			if (key === undefined) return outcome;
			if (outcome.kind === 'done') return alreadySent;
			if (outcome.kind !== 'failed') return outcome;
			return { ...outcome, problem: failedAsFirst(outcome.problem, key, this.operation.kind) };
		});
		const counts = count(outcomes);
		return { outcomes, counts, hints: async () => await this.hintsOf(outcomes, counts) };
	}

	/** What tells a change from others, in this execution and in those that n8n makes of it by Retry. */
	private identify(itemIndex: number, change: PreparedChange, site: string): SendIdentity {
		const { idempotencyKey: key } = change.options;
		const input = this.context.getInputData()[itemIndex]?.json;
		return {
			kind: this.operation.kind,
			position: this.isOfAgent ? 't' : `${this.run.index}.${itemIndex}`,
			content: digest([site, ...change.content]),
			source: this.written && digest([site, this.written, input]),
			key: key === undefined ? undefined : digest(key),
			executionId: this.run.executionId,
		};
	}

	/** What the editor says of the run. A dry run's audience is not counted once the service has refused something. */
	private async hintsOf(
		outcomes: ReadonlyArray<Outcome<Changed>>,
		counts: Tally,
	): Promise<NodeExecutionHint[]> {
		const sends = outcomes.flatMap((outcome, itemIndex) => {
			if (outcome.kind !== 'done' || outcome.value === 'alreadySent') return [];
			const receipt = outcome.value === 'dryRun' ? undefined : outcome.value;
			return this.changes[itemIndex]?.describe?.(receipt) ?? [];
		});
		const isRefused = outcomes.some(({ kind }) => kind === 'failed');
		const reached = isRefused ? undefined : await this.countReached?.();
		return executionHints(sends, counts, this.operation.kind, reached);
	}
}
