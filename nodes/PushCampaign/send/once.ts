import type { IDataObject } from 'n8n-workflow';

import { failedAttempt } from '../delivery/attempts';
import type { Attempt } from '../delivery/queue';
import type { Receipt } from '../service/answers';
import type { Result } from '../service/client';
import type { Problem } from '../service/problems';
import { unknownProblem } from '../service/problems';
import { clip } from '../service/text';
import { messageOf } from '../service/thrown';
import type { ClaimEnd, KeyState } from './keys';
import type { Ledger } from './ledger';
import type { SendMemory } from './open';
import { toUnavailable } from './open';

/** One item's send. */
export interface Send {
	/** Its position in the execution, which no other send has; missing for a test, which nothing remembers. */
	readonly position?: string | undefined;
	/** The positions of other items of the run that are the same, with what they give if it is sent. */
	readonly repeats: ReadonlyMap<string, IDataObject>;
	/** What it is sent once under: the name of the key's rows, and the ID as it was entered. */
	readonly key?: { readonly name: string; readonly id: string } | undefined;
	/** How long its request may take, in milliseconds. */
	readonly timeoutMs: number;
	/** Why it must not leave now: it is not valid, or it is too late. */
	readonly refusal: () => Problem | undefined;
	/** Makes the request. */
	readonly request: () => Promise<Result<Receipt>>;
	/** The item that it gives. */
	readonly toRow: (receipt: Receipt) => IDataObject;
}

/** How a send ended. */
export type SendOutcome =
	/** It was sent now; or this execution sent it in an earlier try, and gave this item. */
	| { readonly ended: 'sent' | 'sentEarlier'; readonly row: IDataObject }
	/** An earlier execution sent it under its key, or has told that nobody knows. */
	| { readonly ended: 'underKey'; readonly isUnknown: boolean }
	| { readonly ended: 'failed'; readonly problem: Problem };

type SendAttempt = Attempt<SendOutcome>;

/** What a send asks of the memory of its run. */
type Asked = Pick<SendMemory, 'ledger' | 'keys' | 'warn'>;

/** Nothing was requested, and nothing else stops. */
const end = (outcome: SendOutcome): SendAttempt => ({ outcome, then: 'end', isAccepted: false });

const failed = (problem: Problem): SendAttempt =>
	failedAttempt<SendOutcome>({ ended: 'failed', problem }, problem);

/** What the answer of a request means for the queue. */
function toAttempt(outcome: SendOutcome): SendAttempt {
	// No such subscriber is about one alone: people unsubscribe every week.
	const isAlone = outcome.ended === 'failed' && outcome.problem.type === 'invalid_sid';
	if (outcome.ended !== 'failed' || isAlone) return { outcome, then: 'end', isAccepted: true };
	return failed(outcome.problem);
}

const claimEnds: Readonly<Record<Problem['outcome'], ClaimEnd>> = {
	notSent: 'free',
	unknown: 'lost',
};

/**
 * Makes one try of a send. It asks in this order: the ledger, the key, whether it is valid and in time. Then it claims the
 * key, makes the request, and notes how that ended.
 * @throws nothing but what is a defect of this node
 */
export async function trySend(memory: Asked, send: Send): Promise<SendAttempt> {
	return await tryOnce(memory, send).catch((error: unknown) => failed(toUnavailable(error)));
}

const withoutKey: KeyState = { is: 'free', lastClaim: 0 };

/** Without a key it waits for nothing before its request. */
async function tryOnce({ ledger, keys, warn }: Asked, send: Send): Promise<SendAttempt> {
	const { position, key } = send;
	const known = ledger.recall(position);
	if (known.says === 'sent') return end({ ended: 'sentEarlier', row: known.row });
	if (known.says === 'unknown') return end({ ended: 'failed', problem: known.problem });
	if (known.says === 'inFlight') return { then: 'held' };

	const refusal = send.refusal();
	const state = key ? await keys.look(key.name, send.timeoutMs, !refusal) : withoutKey;
	if (state.is === 'sent') return end({ ended: 'underKey', isUnknown: false });
	if (state.is === 'lost') return end({ ended: 'underKey', isUnknown: true });
	if (state.is === 'held') return { then: 'held' };
	if (key && state.is === 'ended') {
		// Of all who find it, one execution reports it.
		const isFirst = await keys.end(key.name, state.lastClaim, 'lost');
		if (!isFirst) return end({ ended: 'underKey', isUnknown: true });
		const problem = leftBefore(key.id);
		if (position !== undefined) ledger.keepFound(position, problem);
		return end({ ended: 'failed', problem });
	}
	if (refusal !== undefined) return failed(refusal);

	if (key === undefined) return toAttempt(await leave(ledger, send));
	const claim = await keys.claim(key.name, state.lastClaim);
	if (claim === 0) return { then: 'held' };
	// While the database was waited for, another call of a tool may have begun the same, or its time have come too close.
	if (ledger.recall(position).says !== 'new' || send.refusal() !== undefined) {
		await keys.end(key.name, claim, 'free');
		return { then: 'held' };
	}
	const outcome = await leave(ledger, send);
	const how = outcome.ended === 'failed' ? claimEnds[outcome.problem.outcome] : 'sent';
	await keys.end(key.name, claim, how).catch((error: unknown) => {
		warn(`n8n could not save how a send ended (${how}): ${messageOf(error)}`);
	});
	return toAttempt(outcome);
}

const leftBefore = (id: string) => {
	const how = `a request left before under the ID '${clip(id)}', and nobody knows how it ended`;
	return unknownProblem(how, { isSend: true });
};

async function leave(ledger: Ledger, send: Send): Promise<SendOutcome> {
	const { position, repeats } = send;
	const positions = position === undefined ? [] : [position, ...repeats.keys()];
	ledger.begin(positions);
	try {
		const result = await send.request();
		if (!result.answered) {
			ledger.keepFailed(positions, result.problem);
			return { ended: 'failed', problem: result.problem };
		}
		const row = send.toRow(result.value);
		for (const each of positions) ledger.keepSent(each, repeats.get(each) ?? row);
		return { ended: 'sent', row };
	} finally {
		ledger.end(positions);
	}
}
