import { randomUUID } from 'crypto';

import type { IExecuteFunctions } from 'n8n-workflow';
import { sleep } from 'n8n-workflow';

import { claimedEarlierProblem, explain } from '../../service/failures';
import { InvalidInput, messageOf, Unavailable } from '../../service/invalidInput';
import type { SendKind } from '../../service/kinds';
import { Rows } from '../rows';
import type { SendAttempt, SendOutcome } from '../sendOutcome';
import { alreadySent, isUnknown, notRequested } from '../sendOutcome';
import type { KeyState } from './keyRows';
import { KeyRows } from './keyRows';
import type { Asked, KeyedSend } from './takeOver';
import { TakeOver, waitMs } from './takeOver';

/** Pauses after which it is noted again how a send ended, in milliseconds. */
const notePausesMs = [100, 1_000];

/** A run's wait for a claim of somebody else. */
interface Wait {
	readonly claims: number;
	/** When it counts as unknown, by `performance.now()`. */
	readonly until: number;
}

/**
 * The idempotency keys of one run of the node: what was sent under a key is never sent under it again by
 * this node of this workflow. A key is claimed right before its request leaves, by a row that one asker alone can
 * insert. No pause and no clock is part of that: time only decides how long to wait before what somebody else has
 * claimed counts as unknown.
 */
export class IdempotencyKeys {
	private readonly rows: Rows;
	private readonly waits = new Map<string, Wait>();
	private readonly takeOvers = new Map<string, TakeOver>();
	/** Whether the last key that was asked for was free: then the next one is claimed without looking first. */
	private wasFree = false;
	/** This run's own mark in claims of others. */
	private readonly mark = `watched by ${randomUUID()}`;

	constructor(
		private readonly context: IExecuteFunctions,
		private readonly kind: SendKind,
	) {
		this.rows = new Rows(context);
	}

	/**
	 * How a key stands. Only reads.
	 * @throws InvalidInput if this version of n8n lets a node have no rows of its own
	 * @throws Unavailable if n8n's database does not answer
	 */
	async read(key: string): Promise<KeyState> {
		await this.requireUsable();
		return await this.rowsOf(key)
			.read()
			.catch((error: unknown) => {
				throw notReachable(error);
			});
	}

	/** @throws InvalidInput or Unavailable, as `read` */
	async requireUsable(): Promise<void> {
		const areUsable = await this.rows.areUsable().catch((error: unknown) => {
			throw notReachable(error);
		});
		if (areUsable) return;
		throw new InvalidInput(
			'Idempotency Key and Send Only Once do not work with this version of n8n, which stores processed data differently',
			'Update Push Campaign, or remove them from the options: then a later execution can send the same again.',
		);
	}

	/**
	 * Makes a send unless one was made under its key before. If its key can't be claimed, nothing leaves.
	 * @param attempt makes the send once
	 * @throws what the attempt throws; its key stays claimed
	 */
	async once(send: KeyedSend, attempt: () => Promise<SendOutcome>): Promise<SendAttempt> {
		const rows = this.rowsOf(send.key);
		let asked: Asked;
		try {
			asked = await this.ask(send, rows);
		} catch (error) {
			return this.notClaimed(error);
		}
		switch (asked.kind) {
			case 'sent':
				return alreadySent;
			case 'unknown':
				return this.unknown(send);
			case 'held':
				return { kind: 'held', otherwise: this.unknown(send) };
			case 'ours':
				return await this.send(rows, send, asked.number, attempt);
		}
	}

	/** Gives back what was claimed and not used. Never throws. */
	async close(): Promise<void> {
		for (const takeOver of this.takeOvers.values()) await takeOver.giveUp().catch(() => undefined);
	}

	private rowsOf(key: string): KeyRows {
		return new KeyRows(this.rows, key);
	}

	private async ask(send: KeyedSend, rows: KeyRows): Promise<Asked> {
		// Most keys of a run are new, or most are known: an insert alone is faster than a look before it.
		if (this.wasFree) {
			this.wasFree = await rows.insert(1);
			if (this.wasFree) return { kind: 'ours', number: 1 };
		}
		const state = await rows.read();
		if (state.isSent) return { kind: 'sent' };
		if (state.claims === 0) {
			this.wasFree = await rows.insert(1);
			return this.wasFree ? { kind: 'ours', number: 1 } : { kind: 'held' };
		}
		if (send.resendUnknown) return await this.takeOverOf(send, rows, state).ask(state);
		const isOver = state.isAbandoned || performance.now() >= this.waitFor(send, state.claims).until;
		return { kind: isOver ? 'unknown' : 'held' };
	}

	/** How long this run waits for a claim. */
	private waitFor({ key, timeoutMs }: KeyedSend, claims: number): Wait {
		const known = this.waits.get(key);
		if (known?.claims === claims) return known;
		const wait = { claims, until: performance.now() + waitMs(timeoutMs) };
		this.waits.set(key, wait);
		return wait;
	}

	private takeOverOf(send: KeyedSend, rows: KeyRows, state: KeyState): TakeOver {
		const takeOver =
			this.takeOvers.get(send.key) ?? new TakeOver(rows, send.timeoutMs, this.mark, state);
		this.takeOvers.set(send.key, takeOver);
		return takeOver;
	}

	private async send(
		rows: KeyRows,
		{ key }: KeyedSend,
		number: number,
		attempt: () => Promise<SendOutcome>,
	): Promise<SendOutcome> {
		// The next try asks as if it were the first.
		this.takeOvers.delete(key);
		const abandon = async () => await this.note(async () => await rows.markAbandoned(number));
		const release = number === 1 ? async () => await this.free(rows, abandon) : abandon;
		if (this.context.getExecutionCancelSignal()?.aborted) {
			await release();
			return { kind: 'notStarted' };
		}
		let outcome: SendOutcome | undefined;
		try {
			outcome = await attempt();
		} finally {
			if (outcome === undefined || isUnknown(outcome)) await abandon();
		}
		if (outcome.kind === 'done') await this.note(async () => await rows.markSent());
		else if (!isUnknown(outcome)) await release();
		return outcome;
	}

	/** Notes how a send ended. Never throws: it has ended. If that can't be noted, its key stays claimed. */
	private async note(write: () => Promise<void>): Promise<void> {
		for (const pauseMs of [...notePausesMs, undefined]) {
			try {
				await write();
				return;
			} catch (error) {
				if (pauseMs !== undefined) await sleep(pauseMs);
				else this.warn('n8n could not save how its send ended', error);
			}
		}
	}

	/**
	 * Never throws. A key that can't be freed stays claimed: a later send under it counts as unknown.
	 * @param leave for a key that was taken over meanwhile
	 */
	private async free(rows: KeyRows, leave: () => Promise<void>): Promise<void> {
		try {
			if (!(await rows.free())) await leave();
		} catch (error) {
			this.warn('n8n could not free it', error);
		}
	}

	private warn(why: string, error: unknown): void {
		this.context.logger.warn(
			`An idempotency key in workflow ${this.context.getWorkflow().id} stays claimed, because ${why}: ${messageOf(error)}`,
		);
	}

	/** Somebody else claimed the key, and nobody knows whether it was sent. */
	private unknown({ key, isKeyMade = false }: KeyedSend): SendOutcome {
		const problem = claimedEarlierProblem(isKeyMade ? undefined : key, this.kind);
		return notRequested({ kind: 'failed', problem });
	}

	private notClaimed(error: unknown): SendOutcome {
		const { message, advice } = notReachable(error);
		const reason = { type: 'network', cause: 'temporarily-unavailable', message, advice } as const;
		return { kind: 'failed', problem: explain({ ...reason, outcome: 'notSent' }, this.kind) };
	}
}

const notReachable = (error: unknown) =>
	new Unavailable(
		`Could not access the idempotency key in n8n's database: ${messageOf(error)}`,
		'Without it, the same could be sent twice. Check that n8n can write to its database, then run the workflow again.',
	);
