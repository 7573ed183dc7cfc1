import type { IExecuteFunctions } from 'n8n-workflow';

import type { Connection } from '../n8n/connection';
import { connections } from '../n8n/connection';
import { toRefusal } from '../n8n/errors';
import type { ItemParameters } from '../n8n/parameters';
import { itemParameters } from '../n8n/parameters';
import type { PreparedSend, SendOperation } from '../operations/operation';
import { isDryRun, isSentOnlyOnce, readTimeout, unknownOutcomeOf } from '../operations/options';
import {
	hasTestSubscriber,
	prepareSend,
	testOf,
	testSubscriberAsEntered,
	toRowAsEntered,
} from '../operations/send';
import { lateness } from '../operations/timing';
import { asEntered, readable } from '../operations/values';
import type { KeyState } from '../send/keys';
import { claimedElsewhere, countAsSent } from '../send/once';
import type { OpenMemory } from '../send/open';
import type { Problem, UnknownOutcome } from '../service/problems';
import { jobOf, keyNames, positions } from './jobs';
import {
	alreadySentUnderKey,
	comesBackUnknown,
	countedAsSent,
	noDryRunInRetry,
	nothingUnknown,
	saysUnknown,
	trialUnknown,
} from './refusals';
import { planEach } from './results';
import type { KnownItem, RunItem } from './runItem';
import { startOf } from './start';

/** A person tries the workflow: in the editor, or by an evaluation. */
const trials: readonly string[] = ['manual', 'evaluation'];

/** Reads and checks the items of a run, and decides what is to become of each; fewer if the execution is stopped. */
export async function planSends(
	context: IExecuteFunctions,
	operation: SendOperation,
	memory: OpenMemory,
): Promise<RunItem[]> {
	const planner = new Planner(context, operation, memory);
	await planner.askKeys();
	return await planEach(context, async (index) => await planner.plan(index));
}

interface AskedKey {
	readonly key: string;
	readonly state: KeyState;
}

class Planner {
	private readonly itemAt: (index: number) => ItemParameters;
	private readonly connectionOf: (index: number) => Promise<Connection>;
	private readonly positionOf;
	private readonly keyOf;
	private readonly start;
	private readonly isRetry;
	/** Whether an item comes in whose outcome the execution that this one retries left unknown. */
	private hasComeBack = false;
	/** Why no further item can be sent, if none can. */
	private unavailable: Problem | undefined;
	/** How the keys stood when the run began about which something is chosen, by item. */
	private readonly asked = new Map<number, AskedKey>();

	constructor(
		private readonly context: IExecuteFunctions,
		private readonly operation: SendOperation,
		private readonly memory: OpenMemory,
	) {
		this.itemAt = itemParameters(context);
		this.connectionOf = connections(context);
		this.start = startOf(context);
		this.isRetry = context.getMode() === 'retry';
		this.positionOf = positions(context);
		this.keyOf = keyNames(context, this.connectionOf);
	}

	/** Asks the keys about which something is chosen: what is unknown under one of them decides about the run. */
	async askKeys(): Promise<void> {
		for (const index of this.context.getInputData().keys()) {
			const item = this.begin(index);
			const asked = item.choice === 'report' ? undefined : await this.askKey(item);
			if (asked !== undefined) this.asked.set(index, asked);
		}
	}

	/** How the key of an item stands; undefined if it has none that can be asked. */
	private async askKey(item: KnownItem): Promise<AskedKey | undefined> {
		if (item.isDryRun || item.isTest) return undefined;
		try {
			const key = await this.keyOf(item);
			if (key === undefined) return undefined;
			await this.memory.requireKeys();
			const timeoutMs = readable(() => readTimeout(item.parameters)) ?? 0;
			const send = { key, timeoutMs, unknownOutcome: 'report' } as const;
			return { key, state: await this.memory.keys.look(send, false) };
		} catch (error) {
			// What is about the item alone, its plan says.
			this.problemOf(error);
			return undefined;
		}
	}

	/** Why an item is refused; if it is for what all items need, all that follow are. @throws what is a defect of this node */
	private problemOf(error: unknown): Problem {
		const { problem, isForAll } = toRefusal(error);
		if (isForAll) this.unavailable = problem;
		return problem;
	}

	/** Reads and checks one item. @throws what is a defect of this node */
	async plan(index: number): Promise<RunItem> {
		const item = this.begin(index);
		try {
			// What was sent gives its first answer again, and is not judged again.
			return (await this.recall(item)) ?? (await this.planNew(item));
		} catch (error) {
			return await this.refuse(item, this.problemOf(error));
		}
	}

	private begin(index: number): KnownItem {
		const parameters = this.itemAt(index);
		const isShown = isDryRun(parameters);
		const isTest = this.isTrial(parameters) && !isShown;
		return {
			index,
			parameters,
			position: this.positionOf(index, parameters, isTest && index === 0),
			choice: this.choiceOf(parameters),
			isDryRun: isShown,
			isTest,
		};
	}

	/** What this execution has left unknown is decided in a later one, also if it comes back in an item of its own. */
	private choiceOf(parameters: ItemParameters): UnknownOutcome {
		if (!saysUnknown(parameters.input)) return unknownOutcomeOf(parameters);
		if (!this.isRetry || this.memory.ledger.hasLeftUnknown) return 'report';
		this.hasComeBack = true;
		return unknownOutcomeOf(parameters);
	}

	/** Whether a person tries the workflow, and it would go to the test subscriber. */
	private isTrial(parameters: ItemParameters): boolean {
		return trials.includes(this.start) && hasTestSubscriber(parameters);
	}

	/** What was sent, or may have been: by an earlier try of this execution, or under a key that was asked. */
	private async recall(item: KnownItem): Promise<RunItem | undefined> {
		const { index, parameters, position, choice, isTest } = item;
		// An agent's tool asks the ledger by its content, once that is read.
		const recalled = position === undefined ? undefined : this.memory.ledger.recall(position);
		if (recalled?.says === 'sent') return { ...item, how: 'sentEarlier', row: recalled.row };
		if (this.isRetry && item.isDryRun) throw noDryRunInRetry;
		if (recalled?.says === 'unknown') {
			// A test says nothing about the send that it stands for.
			const mayDecide = recalled.isOfEarlier && choice !== 'report' && !isTest;
			if (!mayDecide) return this.fail(item, recalled.problem);
			if (choice === 'countAsSent') return await this.countAsSent(item, recalled.key);
		}
		const asked = this.asked.get(index);
		if (asked?.state.is === 'sent') return this.alreadySent(item);
		if (asked?.state.is === 'unknown' && choice === 'countAsSent') {
			return await this.countAsSent(item, asked.key);
		}
		if (!saysUnknown(parameters.input) || choice === 'resend') return undefined;
		if (choice === 'countAsSent') return await this.countAsSent(item, undefined);
		// If this node left it unknown under its key, the key says so.
		const key = await this.askKey(item);
		const isKnown = key !== undefined && key.state.is !== 'free';
		return isKnown ? undefined : this.fail(item, comesBackUnknown);
	}

	/** It is not read and not judged again: what may be wrong with it by now changes nothing. */
	private async countAsSent(item: KnownItem, key: string | undefined): Promise<RunItem> {
		// One that had no key then has perhaps one by now.
		const counted = key ?? (await this.keyOf(item).catch(() => undefined));
		const row = toRowAsEntered(item.parameters, this.operation, countedAsSent);
		if (counted !== undefined) await this.memory.requireKeys();
		await countAsSent(this.memory, item.position ?? '', counted, row);
		return { ...item, how: 'sentEarlier', row };
	}

	private async planNew(item: KnownItem): Promise<RunItem> {
		const { index, parameters, isTest } = item;
		if (this.unavailable !== undefined) return this.fail(item, this.unavailable);
		// A dry run asks no key.
		const isAsked = !(item.isDryRun && isSentOnlyOnce(parameters));
		if (item.choice !== 'report' && isAsked && !this.wasAnyUnknown) throw nothingUnknown;
		const isForTest = hasTestSubscriber(parameters) && !item.isDryRun;
		const untold = isForTest ? trialUnknown(this.start) : undefined;
		if (untold !== undefined) throw untold;

		const send = prepareSend(parameters, this.operation);
		const connection = await this.connectionOf(index);
		const key = isTest ? undefined : await this.keyOf(item);
		const checked = { ...item, subscriberId: send.body.sid, connection, key };
		// What a dry run shows, and what a test stands for, would be refused.
		const late = lateness(send.timing, Date.now());
		if (late !== undefined && (item.isDryRun || isTest)) return this.fail(item, late, send);
		if (item.isDryRun) {
			const test = this.isTrial(parameters) ? testOf(parameters, send) : undefined;
			return { ...checked, how: 'shown', send, testSubscriberId: test?.body.sid };
		}
		if (isTest && index > 0) return { ...checked, how: 'untested', send };
		const sent = isTest ? testOf(parameters, send) : send;
		if (key !== undefined) await this.memory.requireKeys();
		const job = jobOf(item, sent, connection, key, this.memory.ledger);
		// A call of a tool is known by its content alone: its send asks the ledger first.
		const refusal = item.position === undefined ? undefined : job.refusal();
		if (refusal !== undefined) return await this.refuse(item, refusal, sent);
		return { ...checked, how: 'ready', subscriberId: sent.body.sid, send: sent, job };
	}

	/** Whether anything was left unknown before; of a claim that was found just now nobody knows that yet. */
	private get wasAnyUnknown(): boolean {
		if (this.hasComeBack || this.memory.ledger.hasFoundUnknown) return true;
		const states = [...this.asked.values()].map(({ state }) => state.is);
		return states.includes('unknown') || states.includes('held');
	}

	/** Refuses an item, unless its key is sent or unknown: then it is not judged any more. */
	private async refuse(item: KnownItem, problem: Problem, send?: PreparedSend): Promise<RunItem> {
		const asked = this.unavailable === undefined ? await this.askKey(item) : undefined;
		if (this.unavailable !== undefined) return this.fail(item, this.unavailable, send);
		if (asked?.state.is === 'unknown') return this.fail(item, claimedElsewhere, send);
		return asked?.state.is === 'sent' ? this.alreadySent(item) : this.fail(item, problem, send);
	}

	private alreadySent(item: KnownItem): RunItem {
		const row = toRowAsEntered(item.parameters, this.operation, alreadySentUnderKey);
		return { ...item, how: 'alreadySent', row };
	}

	private fail(item: KnownItem, problem: Problem, send?: PreparedSend): RunItem {
		const { subscriber } = this.operation;
		const isSentAsTest = item.isTest && item.index === 0;
		const entered = isSentAsTest
			? testSubscriberAsEntered(item.parameters)
			: subscriber && asEntered(item.parameters, subscriber);
		const how = item.isDryRun && !this.isRetry ? 'unsendable' : 'failed';
		return { ...item, subscriberId: send?.body.sid ?? entered, how, problem, send };
	}
}
