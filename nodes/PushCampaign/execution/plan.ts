import type { IExecuteFunctions } from 'n8n-workflow';

import type { Connection } from '../n8n/connection';
import { connections } from '../n8n/connection';
import { toRefusal } from '../n8n/errors';
import type { ItemParameters } from '../n8n/parameters';
import { isTool, itemParameters } from '../n8n/parameters';
import type { PreparedSend, SendOperation } from '../operations/operation';
import {
	isDryRun,
	isSentOnlyOnce,
	readKey,
	readTimeout,
	unknownOutcomeOf,
} from '../operations/options';
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
import { countAsSent } from '../send/once';
import type { OpenMemory } from '../send/open';
import type { Problem } from '../service/problems';
import { shownBefore } from './duplicates';
import { alreadySentUnderKey, countedAsSent } from './endings';
import { jobOf, keyOf, positionOf } from './jobs';
import {
	comesBackUnknown,
	noDryRunInRetry,
	nothingUnknown,
	saysUnknown,
	trialUnknown,
} from './refusals';
import { planEach } from './results';
import type { KnownItem, RunItem } from './runItem';
import { isRetry, startOf } from './start';

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

class Planner {
	private readonly itemAt: (index: number) => ItemParameters;
	private readonly connectionOf: (index: number) => Promise<Connection>;
	private readonly node;
	private readonly start;
	private readonly isRetry;
	private readonly runIndex: number;
	/** Why no further item can be sent, if none can. */
	private unavailable: Problem | undefined;
	/** How the keys stood when the run began about which something is chosen, by item. */
	private readonly asked = new Map<number, { readonly key: string; readonly state: KeyState }>();

	constructor(
		private readonly context: IExecuteFunctions,
		private readonly operation: SendOperation,
		private readonly memory: OpenMemory,
	) {
		this.itemAt = itemParameters(context);
		this.connectionOf = connections(context);
		this.node = context.getNode();
		this.start = startOf(context);
		this.isRetry = isRetry(context);
		const isOfTool = isTool(this.node);
		this.runIndex = isOfTool ? 0 : Number(context.evaluateExpression('{{ $runIndex }}', 0)) || 0;
	}

	/** Asks the keys about which something is chosen: what is unknown under one of them decides about the run. */
	async askKeys(): Promise<void> {
		for (const index of this.context.getInputData().keys()) {
			const item = this.begin(index);
			if (item.choice === 'report' || item.isDryRun || item.isTest) continue;
			try {
				const key = await this.keyOf(item);
				if (key === undefined) continue;
				await this.memory.requireKeys();
				const timeoutMs = readable(() => readTimeout(item.parameters)) ?? 0;
				this.asked.set(index, { key, state: await this.look(key, timeoutMs) });
			} catch (error) {
				// If it is about the item alone, its plan says so.
				const { problem, isForAll } = toRefusal(error);
				if (isForAll) this.unavailable = problem;
			}
		}
	}

	/**
	 * Reads and checks one item.
	 * @throws what is a defect of this node
	 */
	async plan(index: number): Promise<RunItem> {
		const item = this.begin(index);
		try {
			// What was sent gives its first answer again, and is not judged again.
			return (await this.recall(item)) ?? (await this.planNew(item));
		} catch (error) {
			const { problem, isForAll } = toRefusal(error);
			if (isForAll) this.unavailable = problem;
			return this.refuse(item, problem);
		}
	}

	private begin(index: number): KnownItem {
		const parameters = this.itemAt(index);
		const isShown = isDryRun(parameters);
		const isTest = this.isTrial(parameters) && !isShown;
		return {
			index,
			parameters,
			position: this.positionOf(index, parameters, isTest),
			// What this execution has left unknown is decided in a later one.
			choice: this.isBack(parameters) ? 'report' : unknownOutcomeOf(parameters),
			isDryRun: isShown,
			isTest,
		};
	}

	private positionOf(index: number, { input }: ItemParameters, isTest: boolean) {
		if (isTool(this.node)) return undefined;
		const position = positionOf(this.runIndex, index, input);
		// What a test sent says nothing about the send that it stands for.
		return isTest && index === 0 ? `${position}.test` : position;
	}

	/** What an item is sent once under, if it has Send Only Once. @throws InvalidInput, UnusableCredential */
	private async keyOf({ index, parameters }: KnownItem): Promise<string | undefined> {
		const id = readKey(parameters);
		if (id === undefined) return undefined;
		const { site } = await this.connectionOf(index);
		return keyOf(this.node.id, site, id);
	}

	/** Whether an item comes back from the error output of this node, unknown; that of another node says nothing here. */
	private isBack({ input }: ItemParameters): boolean {
		return this.memory.ledger.hasLeftUnknown && saysUnknown(input);
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
			if (!mayDecide) return this.refuse(item, recalled.problem);
			if (choice === 'countAsSent') return await this.countAsSent(item, recalled.key);
		}
		const asked = this.asked.get(index);
		if (asked?.state.is === 'sent') {
			const row = toRowAsEntered(parameters, this.operation, alreadySentUnderKey);
			return { ...item, how: 'alreadySent', row };
		}
		if (asked?.state.is === 'unknown' && choice === 'countAsSent') {
			return await this.countAsSent(item, asked.key);
		}
		const isKeyless = !isSentOnlyOnce(parameters) || isTest;
		return isKeyless && this.isBack(parameters) ? this.refuse(item, comesBackUnknown) : undefined;
	}

	/** It is not read and not judged again: what may be wrong with it by now changes nothing. */
	private async countAsSent(item: KnownItem, key: string | undefined): Promise<RunItem> {
		// The key that it has by now counts, too, if it can be read.
		const present = await this.keyOf(item).catch(() => undefined);
		const keys = [...new Set([key, present])].filter((each) => each !== undefined);
		const row = toRowAsEntered(item.parameters, this.operation, countedAsSent);
		if (keys.length > 0) await this.memory.requireKeys();
		await countAsSent(this.memory, item.position ?? '', keys, row);
		return { ...item, how: 'sentEarlier', row };
	}

	private async planNew(item: KnownItem): Promise<RunItem> {
		const { index, parameters, isTest } = item;
		if (this.unavailable !== undefined) return this.refuse(item, this.unavailable);
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
		if (item.isDryRun) {
			const late = lateness(send.timing, Date.now());
			if (late !== undefined) return this.refuse(item, late, send);
			const test = this.isTrial(parameters) ? testOf(parameters, send) : undefined;
			return { ...checked, how: 'shown', send, testSubscriberId: test?.body.sid };
		}
		if (isTest && index > 0) return { ...checked, how: 'untested', send };
		const sent = isTest ? testOf(parameters, send) : send;
		const job = jobOf(item, sent, connection, key);
		if (this.memory.ledger.hasShown(job)) return this.refuse(item, shownBefore(sent), sent);
		if (key !== undefined) await this.memory.requireKeys();
		const late = job.checkTime();
		// A key that was sent, or is somebody else's, is not judged by its time.
		const isJudged = async () =>
			key === undefined || (await this.look(key, job.timeoutMs)).is === 'free';
		if (late !== undefined && (await isJudged())) return this.refuse(item, late, sent);
		return { ...checked, how: 'ready', subscriberId: sent.body.sid, send: sent, job };
	}

	/**
	 * Whether an earlier execution left anything unknown that a choice may decide about. Of a claim that was found just now
	 * nobody knows that yet.
	 */
	private get wasAnyUnknown(): boolean {
		const isOpen = ({ state }: { state: KeyState }) =>
			state.is === 'unknown' || state.is === 'held';
		return this.memory.ledger.hasFoundUnknown || [...this.asked.values()].some(isOpen);
	}

	private async look(key: string, timeoutMs: number): Promise<KeyState> {
		return await this.memory.keys.look({ key, timeoutMs, unknownOutcome: 'report' }, false);
	}

	private refuse(item: KnownItem, problem: Problem, send?: PreparedSend): RunItem {
		const { subscriber } = this.operation;
		const entered = item.isTest
			? testSubscriberAsEntered(item.parameters)
			: subscriber && asEntered(item.parameters, subscriber);
		const how = item.isDryRun && !this.isRetry ? 'unsendable' : 'failed';
		return { ...item, subscriberId: send?.body.sid ?? entered, how, problem, send };
	}
}
