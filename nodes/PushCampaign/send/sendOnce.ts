import type { InvalidInput } from '../service/invalidInput';
import type { IdempotencyKeys } from './idempotencyKeys';
import type { Identity, Ledger, Place } from './ledger';
import type { SendOutcome } from './outcome';

/** What is remembered of sends: by this execution, and under their keys by all of this node. */
export interface Memory {
	readonly ledger: Ledger;
	readonly keys: IdempotencyKeys;
}

/** A send of an item that is to be made once. */
export interface Send {
	readonly place: Place;
	readonly identity: Identity;
	/** Its idempotency key. */
	readonly key?: string | undefined;
	/** Whether to send what may have been sent before. */
	readonly resendUnknown: boolean;
	/** Why the service would refuse it by now, if it would. */
	readonly tooLate: () => InvalidInput | undefined;
	/** Makes the request. Never throws. */
	readonly request: () => Promise<SendOutcome>;
}

/**
 * Sends once. The ledger is asked first: an execution that runs again gives its first answers again. Then the
 * key: what another execution sent under it is not judged by its time any more. Then the clock, and then it is
 * sent. Never throws.
 */
export async function sendOnce({ ledger, keys }: Memory, send: Send): Promise<SendOutcome> {
	const { place, identity, key, resendUnknown, tooLate, request } = send;
	const attempt = async (): Promise<SendOutcome> => {
		const invalid = tooLate();
		return invalid === undefined ? await request() : { kind: 'invalid', invalid };
	};
	return await ledger.once(place, identity, resendUnknown, async () =>
		key === undefined ? await attempt() : await keys.once(key, resendUnknown, attempt),
	);
}
