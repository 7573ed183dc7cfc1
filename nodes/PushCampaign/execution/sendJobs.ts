import type { IExecuteFunctions, NodeExecutionHint } from 'n8n-workflow';

import type { Job } from '../delivery/job';
import type { Outcome } from '../delivery/outcome';
import type { ItemFailure, PreparedSend, SendOperation, TimedSend } from '../operations/operation';
import { isDryRun } from '../operations/options';
import type { ItemParameters } from '../operations/parameters';
import { IdempotencyKeys } from '../send/keys/idempotencyKeys';
import { SendsOnce } from '../send/sendsOnce';
import type { SendReceipt } from '../service/answers';
import type { InvalidInput } from '../service/invalidInput';
import { checkLead } from '../service/schedule';
import { DryRun } from './dryRun';
import { toError, toItemFailure, toProblem } from './errors';
import { journalOf, ledgerOf } from './executionLedger';
import { droppedHint } from './hints';
import { htmlHint } from './htmlHint';
import { Identities } from './identities';
import type { ItemJob, JobFactory } from './itemJob';
import { KeysOfRun } from './keysOfRun';
import { parametersOf } from './parameterReader';
import type { SendKey } from './sendKey';
import { keysFor } from './sendKey';
import { idCheckOf } from './sharedNodeId';
import type { Counts } from './tally';
import { TestRun } from './testRun';
import type { Connection } from './transport';

/** How a send went: its answer, or why nothing was requested. */
type SendResult = SendReceipt | 'alreadySent' | 'dryRun';

/** Counts how sends ended that did not fail. */
function count(outcomes: ReadonlyArray<Outcome<SendResult>>): Counts {
	const counts = { sent: 0, scheduled: 0, sentEarlier: 0, dryRun: 0 };
	for (const outcome of outcomes) {
		if (outcome.kind !== 'done') continue;
		if (outcome.value === 'dryRun') counts.dryRun += 1;
		else if (outcome.value === 'alreadySent') counts.sentEarlier += 1;
		else if (outcome.value.sendAt !== undefined) counts.scheduled += 1;
		else counts.sent += 1;
	}
	return counts;
}

/** Why it is too late for the time of a scheduled send; nothing if it is not. */
const tooLate = ({ schedule }: PreparedSend): InvalidInput | undefined =>
	schedule && checkLead(schedule, Date.now());

/** Makes the jobs of sends: each is sent once in this execution, and once at all under an idempotency key. */
export class SendJobs implements JobFactory<SendResult> {
	private readonly sends: SendsOnce;
	private readonly parametersFor: (itemIndex: number) => ItemParameters;
	private readonly requireOwnId: () => void;
	private readonly testRun: TestRun;
	private readonly keyOf: ReturnType<typeof keysFor>;
	private readonly identities: Identities;
	private readonly prepared: PreparedSend[] = [];
	private readonly keysOfRun = new KeysOfRun(this.prepared);
	private readonly keysOfDryRun = new KeysOfRun(this.prepared);
	private readonly dryRun = new DryRun();
	private hasKeys = false;

	constructor(
		context: IExecuteFunctions,
		private readonly operation: SendOperation,
	) {
		this.sends = new SendsOnce(
			ledgerOf(context),
			new IdempotencyKeys(context, operation.kind),
			async () => await journalOf(context),
		);
		this.parametersFor = parametersOf(context);
		this.requireOwnId = idCheckOf(context);
		this.keyOf = keysFor(context);
		this.testRun = new TestRun(context);
		this.identities = new Identities(context);
	}

	async create(itemIndex: number, connection: Connection): Promise<ItemJob<SendResult>> {
		const meant = this.operation.prepare(this.parametersFor(itemIndex));
		const position = this.identities.testPosition(itemIndex, meant);
		const toSend = this.testRun.choose(itemIndex, position, meant);
		const prepared = toSend ?? meant;
		this.prepared[itemIndex] = prepared;
		const toItems = {
			toJson(value: SendResult) {
				if (value === 'dryRun') return prepared.toDryRunItem(connection.settings.baseUrl);
				return value === 'alreadySent' ? prepared.toSentEarlierItem() : prepared.toItem(value);
			},
			toFailedJson: prepared.toFailedItem,
		};
		const key = toSend && this.keyOf(toSend, connection.site);
		if (key !== undefined) this.requireOwnId();
		if (toSend !== undefined && !toSend.options.dryRun) {
			return { ...(await this.createSend(itemIndex, toSend, key, connection)), ...toItems };
		}
		const late = tooLate(prepared);
		if (late !== undefined) throw late;
		// What a test run does not send is no dry run that a user chose.
		if (toSend !== undefined) {
			const { timeout } = toSend.options;
			if (key !== undefined) this.keysOfDryRun.note(key.text, itemIndex);
			this.dryRun.add(
				itemIndex,
				key,
				async () => await this.operation.countReached?.(connection.client, timeout),
			);
		}
		return { known: { kind: 'done', value: 'dryRun' }, ...toItems };
	}

	private async createSend(
		itemIndex: number,
		prepared: PreparedSend,
		sendKey: SendKey | undefined,
		{ client, site }: Connection,
	): Promise<Job<SendResult> & { maxParallel?: number }> {
		const { resendUnknown, timeout, maxParallel, rateLimitRetries } = prepared.options;
		const key = sendKey?.text;
		if (key !== undefined) this.hasKeys = true;
		const late = tooLate(prepared);
		const send = {
			identity: this.identities.of(itemIndex, prepared, site, key),
			key,
			isKeyMade: sendKey?.isMade ?? false,
			// A Retry may give it another key, such as that of another day, which stops nothing.
			needsJournal: !sendKey?.isStable,
			resendUnknown,
			timeoutMs: timeout,
			late,
			checkTime: () => tooLate(prepared),
			request: async () => await prepared.perform(client),
		};
		const isRepeat = key !== undefined && this.keysOfRun.has(key);
		// Not awaited before: the next items have to know. A late one is not sent, unless its key is another's, too.
		if (key !== undefined && (late === undefined || isRepeat)) this.keysOfRun.note(key, itemIndex);
		const known = await this.sends.recall(send, isRepeat);
		if (known !== undefined) return { known };
		return {
			maxParallel,
			dedupeKey: key,
			rateLimitRetries,
			transientRetries: 0,
			attempt: async () => await this.sends.once(send),
		};
	}

	review(jobs: ReadonlyArray<ItemJob<SendResult>>): ReadonlyArray<ItemJob<SendResult>> {
		const conflicts = this.keysOfRun.findConflicts();
		const conflictsOfDryRun = this.keysOfDryRun.findConflicts();
		return jobs.map((job, itemIndex): ItemJob<SendResult> => {
			const shown = conflictsOfDryRun.get(itemIndex);
			if (shown !== undefined) return this.showInvalid(itemIndex, shown, job.toFailedJson);
			const invalid = conflicts.get(itemIndex);
			if (invalid === undefined || job.known !== undefined) return job;
			return { ...job, known: { kind: 'invalid', invalid } };
		});
	}

	createInvalid(itemIndex: number, thrown: unknown): ItemJob<SendResult> {
		const item = this.parametersFor(itemIndex);
		const toFailedJson = (failure: ItemFailure) => this.operation.toInvalidItem(item, failure);
		if (isDryRun(item)) return this.showInvalid(itemIndex, thrown, toFailedJson);
		return { known: { kind: 'invalid', invalid: toError(thrown) }, toFailedJson };
	}

	/** The job of an item of a dry run that could not be sent. */
	private showInvalid(
		itemIndex: number,
		thrown: unknown,
		toFailedJson: ItemJob<SendResult>['toFailedJson'],
	): ItemJob<SendResult> {
		const problem = toProblem(thrown, false);
		this.dryRun.addInvalid(itemIndex, problem);
		const { error } = toItemFailure(problem, this.operation.kind);
		const toJson = () => toFailedJson({ dryRun: true, error });
		return { known: { kind: 'done', value: 'dryRun' }, toJson, toFailedJson };
	}

	async close(): Promise<void> {
		await this.sends.close();
	}

	end(ended: ReadonlyArray<Outcome<SendResult>>) {
		const outcomes = ended.map((outcome, itemIndex) => this.keysOfRun.report(outcome, itemIndex));
		return {
			outcomes,
			counts: count(outcomes),
			hasKeys: this.hasKeys,
			hints: async () => await this.hintsOf(outcomes),
		};
	}

	private async hintsOf(
		outcomes: ReadonlyArray<Outcome<SendResult>>,
	): Promise<NodeExecutionHint[]> {
		const sends = this.sendsOf(outcomes);
		const hasFailed = outcomes.some(({ kind }) => kind === 'failed');
		const wasSent = async (key: string) => await this.sends.wasSent(key);
		return [
			...this.testRun.hint((itemIndex) => outcomes[itemIndex]?.kind === 'done'),
			...(await this.dryRun.hints([...sends.values()], outcomes.length, hasFailed, wasSent)),
			...droppedHint(this.keysOfRun.countDropped(outcomes)),
			...htmlHint(sends),
		];
	}

	/** The sends that were accepted now, and those of a dry run that would be sent, by the index of their item. */
	private sendsOf(outcomes: ReadonlyArray<Outcome<SendResult>>): Map<number, TimedSend> {
		const sends = new Map<number, TimedSend>();
		for (const [itemIndex, outcome] of outcomes.entries()) {
			const prepared = this.prepared[itemIndex];
			if (prepared === undefined || outcome.kind !== 'done') continue;
			if (outcome.value === 'alreadySent') continue;
			if (outcome.value !== 'dryRun') {
				sends.set(itemIndex, prepared.asSent(outcome.value));
				continue;
			}
			const isTestRest = !prepared.options.dryRun;
			if (!isTestRest && !this.dryRun.isInvalid(itemIndex)) {
				sends.set(itemIndex, prepared.preview());
			}
		}
		return sends;
	}
}
