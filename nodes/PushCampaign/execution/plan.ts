import type { IExecuteFunctions } from 'n8n-workflow';

import type { Connection } from '../n8n/connection';
import { connections } from '../n8n/connection';
import { toRefusal } from '../n8n/errors';
import type { ItemParameters } from '../n8n/parameters';
import { itemParameters } from '../n8n/parameters';
import type { PreparedSend, SendOperation } from '../operations/operation';
import { isDryRun, isSentOnlyOnce, unknownOutcomeOf } from '../operations/options';
import {
	hasTestSubscriber,
	prepareSend,
	testOf,
	testSubscriberAsEntered,
	toRowAsEntered,
} from '../operations/send';
import { lateness } from '../operations/timing';
import { asEntered } from '../operations/values';
import type { Recalled } from '../send/ledger';
import type { SendsOnce } from '../send/once';
import { claimedElsewhere } from '../send/once';
import type { Problem, UnknownOutcome } from '../service/problems';
import { alreadySentUnderKey, countedAsSent } from './endings';
import type { AskedKey, Start } from './jobs';
import { Jobs } from './jobs';
import {
	comesBackUnknown,
	noDryRunInRetry,
	nothingUnknown,
	saysUnknown,
	trialUnknown,
} from './refusals';
import { planEach } from './results';
import type { RunItem } from './runItem';
import { isRetry, startOf } from './start';

/** A person tries the workflow: in the editor, or by an evaluation. */
const trials: readonly string[] = ['manual', 'evaluation'];

/** Reads and checks the items of a run, and decides what is to become of each; fewer if the execution is stopped. */
export async function planSends(
	context: IExecuteFunctions,
	operation: SendOperation,
	sendsOnce: SendsOnce,
	/** Throws if keys can't be used here. */
	requireKeys: () => Promise<void>,
): Promise<RunItem[]> {
	const planner = new Planner(context, operation, sendsOnce, requireKeys);
	await planner.askKeys();
	return await planEach(context, async (index) => await planner.plan(index));
}

class Planner {
	private readonly itemAt: (index: number) => ItemParameters;
	private readonly connectionOf: (index: number) => Promise<Connection>;
	private readonly start;
	private readonly isRetry;
	private readonly jobs: Jobs;
	/** Whether an item comes in whose outcome the execution that this one retries left unknown. */
	private hasComeBack = false;
	/** Why no further item can be sent, if none can. */
	private unavailable: Problem | undefined;
	/** How the keys stood when the run began about which something is chosen, by item. */
	private readonly asked = new Map<number, AskedKey>();

	constructor(
		private readonly context: IExecuteFunctions,
		private readonly operation: SendOperation,
		private readonly sendsOnce: SendsOnce,
		private readonly requireKeys: () => Promise<void>,
	) {
		this.itemAt = itemParameters(context);
		this.connectionOf = connections(context);
		this.start = startOf(context);
		this.isRetry = isRetry(context);
		this.jobs = new Jobs(context, sendsOnce, this.connectionOf);
	}

	/** Asks the keys about which something is chosen: what is unknown under one of them decides about the run. */
	async askKeys(): Promise<void> {
		for (const index of this.context.getInputData().keys()) {
			const start = this.begin(index);
			const asked = start.choice === 'report' ? undefined : await this.askKey(start);
			if (asked !== undefined) this.asked.set(index, asked);
		}
	}

	/** How the key of an item stands; undefined if it has none that can be asked. */
	private async askKey(start: Start): Promise<AskedKey | undefined> {
		if (start.isShown || start.isTest) return undefined;
		try {
			return await this.jobs.askKey(start, this.requireKeys);
		} catch (error) {
			// What is about the item alone, its plan says.
			const { problem, isForAll } = toRefusal(error);
			if (isForAll) this.unavailable = problem;
			return undefined;
		}
	}

	/**
	 * Reads and checks one item.
	 * @throws what is a defect of this node
	 */
	async plan(index: number): Promise<RunItem> {
		const start = this.begin(index);
		try {
			// What was sent gives its first answer again, and is not judged again.
			return (await this.recall(start)) ?? (await this.planNew(start));
		} catch (error) {
			const { problem, isForAll } = toRefusal(error);
			if (isForAll) this.unavailable = problem;
			return await this.refuse(start, problem);
		}
	}

	private begin(index: number): Start {
		const parameters = this.itemAt(index);
		const isShown = isDryRun(parameters);
		const isTest = this.isTrial(parameters) && !isShown;
		return {
			index,
			parameters,
			position: this.jobs.positionOf(index, parameters, isTest && index === 0),
			choice: this.choiceOf(parameters),
			isShown,
			isTest,
		};
	}

	/** What this execution has left unknown is decided in a later one, also if it comes back in an item of its own. */
	private choiceOf(parameters: ItemParameters): UnknownOutcome {
		if (!saysUnknown(parameters.input)) return unknownOutcomeOf(parameters);
		if (!this.isRetry || this.sendsOnce.hasLeftUnknown) return 'report';
		this.hasComeBack = true;
		return unknownOutcomeOf(parameters);
	}

	/** Whether a person tries the workflow, and it would go to the test subscriber. */
	private isTrial(parameters: ItemParameters): boolean {
		return trials.includes(this.start) && hasTestSubscriber(parameters);
	}

	/** What was sent, or may have been: by an earlier try of this execution, or under a key that was asked. */
	private async recall(start: Start): Promise<RunItem | undefined> {
		const { index, parameters, choice } = start;
		const recalled = this.recalled(start);
		if (recalled.says === 'sent') {
			return { index, parameters, how: 'sentEarlier', row: recalled.row };
		}
		if (this.isRetry && start.isShown) throw noDryRunInRetry;
		if (recalled.says === 'unknown') {
			// A test says nothing about the send that it stands for.
			const mayDecide = recalled.isOfEarlier && choice !== 'report' && !start.isTest;
			if (!mayDecide) return this.fail(start, recalled.problem);
			if (choice === 'countAsSent') return await this.countAsSent(start, recalled.key);
		}
		const asked = this.asked.get(index);
		if (asked?.state.is === 'sent') return this.alreadySent(start);
		if (asked?.state.is === 'unknown' && choice === 'countAsSent') {
			return await this.countAsSent(start, asked.key);
		}
		if (!saysUnknown(parameters.input) || choice === 'resend') return undefined;
		if (choice === 'countAsSent') return await this.countAsSent(start, undefined);
		// If this node left it unknown under its key, the key says so.
		const key = await this.askKey(start);
		const isKnown = key !== undefined && key.state.is !== 'free';
		return isKnown ? undefined : this.fail(start, comesBackUnknown);
	}

	/** What the ledger says of an item. An agent's tool asks it by its content, once that is read. */
	private recalled({ position }: Start): Recalled {
		return position === undefined ? { says: 'new' } : this.sendsOnce.recall(position);
	}

	/** It is not read and not judged again: what may be wrong with it by now changes nothing. */
	private async countAsSent(start: Start, key: string | undefined): Promise<RunItem> {
		const { index, parameters, position = '' } = start;
		// One that had no key then has perhaps one by now.
		const counted = key ?? (await this.jobs.keyOf(start).catch(() => undefined));
		const row = toRowAsEntered(parameters, this.operation, countedAsSent);
		if (counted !== undefined) await this.requireKeys();
		await this.sendsOnce.countAsSent(position, counted, row);
		return { index, parameters, how: 'sentEarlier', row };
	}

	private async planNew(start: Start): Promise<RunItem> {
		const { index, parameters, choice, isShown, isTest } = start;
		if (this.unavailable !== undefined) return this.fail(start, this.unavailable);
		// A dry run asks no key.
		const isAsked = !(isShown && isSentOnlyOnce(parameters));
		if (choice !== 'report' && isAsked && !this.wasAnyUnknown) throw nothingUnknown;
		const untold = isShown || !hasTestSubscriber(parameters) ? undefined : trialUnknown(this.start);
		if (untold !== undefined) throw untold;

		const send = prepareSend(parameters, this.operation);
		const connection = await this.connectionOf(index);
		const key = isTest ? undefined : await this.jobs.keyOf(start);
		const item = { index, parameters, isTest, subscriberId: send.body.sid, connection, key };
		if (isShown) {
			const late = lateness(send.timing, Date.now());
			if (late !== undefined) return this.fail(start, late, send);
			const test = this.isTrial(parameters) ? testOf(parameters, send) : undefined;
			return { ...item, how: 'shown', send, testSubscriberId: test?.body.sid };
		}
		if (isTest && index > 0) return { ...item, how: 'untested', send };
		const sent = isTest ? testOf(parameters, send) : send;
		if (key !== undefined) await this.requireKeys();
		const job = this.jobs.jobOf(start, sent, connection, key);
		const refusal = job.refusal();
		if (refusal !== undefined) return await this.refuse(start, refusal, sent);
		return { ...item, how: 'ready', subscriberId: sent.body.sid, send: sent, job };
	}

	/**
	 * Whether an earlier execution left anything unknown that a choice may decide about. Of a claim that was found just now
	 * nobody knows that yet.
	 */
	private get wasAnyUnknown(): boolean {
		const isOpen = ({ state }: AskedKey) => state.is === 'unknown' || state.is === 'held';
		return (
			this.hasComeBack || this.sendsOnce.hasFoundUnknown || [...this.asked.values()].some(isOpen)
		);
	}

	/** Refuses an item, unless its key is sent or unknown: then it is not judged any more. */
	private async refuse(start: Start, problem: Problem, send?: PreparedSend): Promise<RunItem> {
		const asked = this.unavailable === undefined ? await this.askKey(start) : undefined;
		if (this.unavailable !== undefined) return this.fail(start, this.unavailable, send);
		if (asked?.state.is === 'unknown') return this.fail(start, claimedElsewhere, send);
		return asked?.state.is === 'sent' ? this.alreadySent(start) : this.fail(start, problem, send);
	}

	private alreadySent({ index, parameters }: Start): RunItem {
		const row = toRowAsEntered(parameters, this.operation, alreadySentUnderKey);
		return { index, parameters, how: 'alreadySent', row };
	}

	private fail(start: Start, problem: Problem, send?: PreparedSend): RunItem {
		const { index, parameters, isShown, isTest } = start;
		const { subscriber } = this.operation;
		const entered =
			isTest && index === 0
				? testSubscriberAsEntered(parameters)
				: subscriber && asEntered(parameters, subscriber);
		const subscriberId = send?.body.sid ?? entered;
		const how = isShown && !this.isRetry ? 'unsendable' : 'failed';
		return { index, parameters, subscriberId, isTest, how, problem, send };
	}
}
