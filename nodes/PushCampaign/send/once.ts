import type { IDataObject } from 'n8n-workflow';

import { toAttempt } from '../delivery/attempts';
import type { Attempt } from '../delivery/queue';
import type { Receipt } from '../service/answers';
import type { Result } from '../service/client';
import type { Problem } from '../service/problems';
import { unknownProblem } from '../service/problems';
import { messageOf } from '../service/thrown';
import type { ClaimEnd } from './keys';
import type { EarlierOutcome, Ledger, SendOutcome } from './ledger';
import type { SendMemory } from './open';
import { toUnavailable } from './open';

/** What it is sent once under: the name of the key's rows, and the ID as it was entered. */
export interface Key {
	readonly name: string;
	readonly id: string;
}

/** What a send is known by. */
interface KnownSend {
	/** Its position in the execution, which no other send has; a call of a tool that is not read yet has none. */
	readonly position?: string | undefined;
	/** The item that it gives, as it ended. */
	readonly toRow: (ending: Receipt & { readonly status: 'success' | 'alreadySent' }) => IDataObject;
}

/** One item's send. */
export interface Send extends KnownSend {
	readonly position: string;
	readonly key?: Key | undefined;
	/** How long its request may take, in milliseconds. */
	readonly timeoutMs: number;
	readonly request: () => Promise<Result<Receipt>>;
}

type SendAttempt = Attempt<SendOutcome>;

/** What a send asks of the memory of its run. */
type Asked = Pick<SendMemory, 'ledger' | 'keys' | 'warn'>;

export const alreadySent = (how: string) =>
	({ status: 'alreadySent', description: `Nothing was sent for this item: ${how}` }) as const;

const leftBefore = unknownProblem(
	'a request left before under its ID, and nobody knows how it ended',
	{ isSend: true },
);

/** How a send ended under its key, before this execution or in another one. */
const endUnderKey = (
	{ toRow }: KnownSend,
	wasSent: boolean,
	ifUnknown: 'failed' | 'reported',
): EarlierOutcome =>
	wasSent
		? { state: 'before', row: toRow(alreadySent('its ID was sent earlier')) }
		: { state: ifUnknown, problem: leftBefore };

/**
 * How a send that is refused stands under its key: what was sent, or may have been, is not judged. Its position keeps the
 * answer, because a Retry may have another ID.
 * @returns undefined if its key is free
 * @throws Unavailable
 */
export async function askKey(
	{ ledger, keys }: Pick<SendMemory, 'ledger' | 'keys'>,
	key: Key,
	send: KnownSend,
): Promise<EarlierOutcome | undefined> {
	const { is } = await keys.look(key.name);
	if (is === 'free') return undefined;
	const outcome = endUnderKey(send, is === 'sent', is === 'lost' ? 'reported' : 'failed');
	ledger.keep(send.position, outcome);
	return outcome;
}

/**
 * Makes one try of a send. It asks in this order: the ledger, the key. Then it claims the key, makes the request, and notes
 * how that ended.
 * @throws nothing but what is a defect of this node
 */
export async function trySend(memory: Asked, send: Send): Promise<SendAttempt> {
	return await tryOnce(memory, send).catch((error: unknown) =>
		attemptOf({ state: 'failed', problem: toUnavailable(error) }),
	);
}

/** Without a key it waits for nothing before its request. */
async function tryOnce({ ledger, keys, warn }: Asked, send: Send): Promise<SendAttempt> {
	const { position, key } = send;
	const known = ledger.recall(position);
	if (known.state === 'inFlight') return { then: 'held' };
	if (known.state !== 'new') return withoutRequest(known);
	if (key === undefined) return attemptOf(await request(ledger, send));

	const answer = await keys.claim(key.name, send.timeoutMs);
	if (answer.is === 'held') return { then: 'held' };
	if (answer.is !== 'ours') {
		// Of all who find that a claim's time is over, one execution fails for it.
		const isFound = answer.is === 'lost' && answer.isFound;
		const outcome = endUnderKey(send, answer.is === 'sent', isFound ? 'failed' : 'reported');
		ledger.keep(position, outcome);
		return withoutRequest(outcome);
	}
	const end = async (how: ClaimEnd) => await keys.end(key.name, answer.claim, how);
	// While the database was waited for, another call of a tool may have begun the same under another ID.
	if (ledger.recall(position).state !== 'new') {
		await end('free');
		return { then: 'held' };
	}
	const outcome = await request(ledger, send);
	const how = 'problem' in outcome ? claimEnds[outcome.problem.outcome] : 'sent';
	await end(how).catch((error: unknown) => {
		warn(`n8n could not save how a send ended (${how}): ${messageOf(error)}`);
	});
	return attemptOf(outcome);
}

const claimEnds: Readonly<Record<Problem['outcome'], ClaimEnd>> = {
	notSent: 'free',
	unknown: 'lost',
};

/** Nothing was requested, and nothing else stops. */
const withoutRequest = (outcome: SendOutcome): SendAttempt => ({
	outcome,
	then: 'end',
	isAccepted: false,
});

const attemptOf = (outcome: SendOutcome): SendAttempt =>
	toAttempt(outcome, 'problem' in outcome ? outcome.problem : undefined);

async function request(ledger: Ledger, send: Send): Promise<SendOutcome> {
	const { position } = send;
	ledger.begin(position);
	try {
		const result = await send.request();
		const outcome: SendOutcome = result.answered
			? { state: 'sent', row: send.toRow({ status: 'success', ...result.value }) }
			: { state: 'failed', problem: result.problem };
		ledger.keep(position, outcome);
		return outcome;
	} finally {
		ledger.end(position);
	}
}
