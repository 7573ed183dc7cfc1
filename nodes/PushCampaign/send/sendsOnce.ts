import type { InvalidInput } from '../service/invalidInput';
import { messageOf, Unavailable } from '../service/invalidInput';
import type { IdempotencyKeys } from './keys/idempotencyKeys';
import type { Journal } from './ledger/journal';
import type { Ledger } from './ledger/ledger';
import type { SendIdentity } from './ledger/sendIdentity';
import type { SendAttempt, SendOutcome } from './sendOutcome';
import { alreadySent } from './sendOutcome';

/** One item's send. */
export interface Send {
	readonly identity: SendIdentity;
	readonly key: string | undefined;
	/** Whether no user entered its key. */
	readonly isKeyMade: boolean;
	/** Whether its key alone does not stop a Retry after a crash. */
	readonly needsJournal: boolean;
	/** Whether to send again what an earlier execution left unknown. */
	readonly resendUnknown: boolean;
	/** How long its request may take, in milliseconds. */
	readonly timeoutMs: number;
	/** Why it was too late for its time when it was read. It stays so, whatever the clock does. */
	readonly late: InvalidInput | undefined;
	/** Why it is too late for its time now. */
	readonly checkTime: () => InvalidInput | undefined;
	/** Makes the request once. */
	readonly request: () => Promise<SendOutcome>;
}

const notNoted = (error: unknown) =>
	new Unavailable(
		`Could not record the start of this send in n8n's database: ${messageOf(error)}`,
		'Without that, a Retry after a crash could send it twice. Check that n8n can write to its database, then run the workflow again.',
	);

/**
 * Makes each send of a run once. The ledger is asked first: an execution that runs again gives its first answers
 * again. Then the key: what another execution sent under it is not judged by its time any more. Then the clock.
 */
export class SendsOnce {
	private openedJournal: Promise<Journal | undefined> | undefined;

	/** @param openJournal gives the execution's journal, if it has one */
	constructor(
		private readonly ledger: Ledger,
		private readonly keys: IdempotencyKeys,
		private readonly openJournal: () => Promise<Journal | undefined>,
	) {}

	/**
	 * How a send ended that must not be made: it is known already, or it is too late for its time.
	 * @param isRepeat whether an earlier item of the run has its key
	 * @throws Unavailable if n8n's database does not answer
	 * @throws InvalidInput if keys can't be used
	 */
	async recall(send: Send, isRepeat: boolean): Promise<SendOutcome | undefined> {
		const { identity, key, resendUnknown, late } = send;
		const known = this.ledger.recall(identity, resendUnknown);
		if (known !== undefined) return known;
		const tooLate = late && ({ kind: 'invalid', invalid: late } as const);
		const cutOff = send.needsJournal ? await this.recallCutOff(send) : undefined;
		if (cutOff !== undefined) return cutOff;
		if (key === undefined) return tooLate;

		await this.keys.requireUsable();
		if (late === undefined) return undefined;
		const { isSent, claims } = await this.keys.read(key);
		if (isSent) return alreadySent;
		// What somebody else may be sending is waited for, unless it would be sent again then.
		const mayBeSent = claims > 0 && !resendUnknown;
		return mayBeSent || isRepeat ? undefined : tooLate;
	}

	/**
	 * Whether what has this key was sent. Only reads.
	 * @throws Unavailable if n8n's database does not answer
	 * @throws InvalidInput if keys can't be used
	 */
	async wasSent(key: string): Promise<boolean> {
		return (await this.keys.read(key)).isSent;
	}

	/**
	 * Makes a send once, unless it is known by now.
	 * @throws what its request throws
	 */
	async once(send: Send): Promise<SendAttempt> {
		const attempt = async () => await this.inTime(send);
		const { identity, key, isKeyMade, resendUnknown, timeoutMs } = send;
		return await this.ledger.once(identity, resendUnknown, async () =>
			key === undefined
				? await attempt()
				: await this.keys.once({ key, isKeyMade, resendUnknown, timeoutMs }, attempt),
		);
	}

	/** Ends a run: waits until all that ended is written, and gives back what is not used. Never throws. */
	async close(): Promise<void> {
		await this.keys.close();
		const journal = await this.openedJournal?.catch(() => undefined);
		await journal?.written();
	}

	/** What an execution that was cut off left of a send. */
	private async recallCutOff({ identity, resendUnknown }: Send): Promise<SendOutcome | undefined> {
		try {
			const journal = await this.journal();
			const entry = await journal?.recall(identity);
			if (entry === undefined) return undefined;
			this.ledger.note(identity, entry);
		} catch (error) {
			throw notNoted(error);
		}
		return this.ledger.recall(identity, resendUnknown);
	}

	private async inTime(send: Send): Promise<SendOutcome> {
		const { identity, late, checkTime, needsJournal, request } = send;
		const invalid = late ?? checkTime();
		if (invalid !== undefined) return { kind: 'invalid', invalid };
		const journal = needsJournal ? await this.journal() : undefined;
		try {
			await journal?.begin(identity);
		} catch (error) {
			return { kind: 'invalid', invalid: notNoted(error) };
		}
		const outcome = await request();
		journal?.end(identity, outcome);
		return outcome;
	}

	private async journal(): Promise<Journal | undefined> {
		this.openedJournal ??= this.openJournal();
		return await this.openedJournal;
	}
}
