import { createHash } from 'crypto';

import type {
	ICredentialDataDecryptedObject,
	IExecuteFunctions,
	IHttpRequestOptions,
	IPollFunctions,
} from 'n8n-workflow';

import type { Client } from '../service/client';
import { createClient } from '../service/client';
import type { ServiceSettings } from '../service/settings';
import { fixedMark, parseSettings } from '../service/settings';
import { InvalidInput, messageOf, Unavailable } from '../service/thrown';

const credentialType = 'pushCampaignApi';

/** The way to one site of the push service. */
export interface Connection {
	readonly client: Client;
	readonly baseUrl: string;
	/**
	 * What keys and baselines belong to: a digest of the address and the credential in n8n. If a field of the credential
	 * is an expression, the API key that it gives counts too; a new key in a fixed field, and a new token, are the same
	 * site. It is saved, so how it is made stays as it is.
	 */
	readonly site: string;
	/** Whether it serves all items. Otherwise a field of the credential is an expression, evaluated for each item. */
	readonly isForAll: boolean;
}

/** A short digest of any text: 96 bits, so that no two texts look alike. */
export const digest = (text: string): string =>
	createHash('sha256').update(text).digest('base64url').slice(0, 16);

/** The credential can't be used, whichever item it is for: that fails a run once, not once for each item. */
export class UnusableCredential extends Error {
	constructor(readonly reason: InvalidInput | Unavailable) {
		super(reason.message);
		this.name = 'UnusableCredential';
	}
}

/**
 * Says why n8n did not open the credential, in n8n's own words: they name a vault, a wrong encryption key or a database.
 * Only an expression may fail for one item and not for the next one.
 */
function notOpened(error: unknown): InvalidInput | UnusableCredential {
	const message = `n8n could not open the credential: ${messageOf(error)}`;
	// By its name: what evaluates expressions apart from the server has classes of its own, and an `Error`.
	const hasName = typeof error === 'object' && error !== null && 'name' in error;
	const isOfItem = hasName && /^Expression/.test(String(error.name));
	if (isOfItem) return new InvalidInput(message, 'Correct the expression in the credential.');
	const fix = 'Check the credential that this node has chosen.';
	return new UnusableCredential(new Unavailable(message, fix));
}

function settingsOf(data: ICredentialDataDecryptedObject, isForAll: boolean): ServiceSettings {
	try {
		return parseSettings(data);
	} catch (error) {
		throw isForAll && error instanceof InvalidInput ? new UnusableCredential(error) : error;
	}
}

/**
 * Opens the credential, once for all requests that go with it.
 * @param signal ends when the user stops the execution, or when a poll has no more time
 * @throws UnusableCredential
 * @throws InvalidInput if an expression in the credential gives nothing valid for this item
 */
export async function connect(
	context: IExecuteFunctions | IPollFunctions,
	signal: AbortSignal | undefined,
	itemIndex = 0,
): Promise<Connection> {
	const data = await context.getCredentials(credentialType, itemIndex).catch((error: unknown) => {
		throw notOpened(error);
	});
	const isForAll = data[fixedMark] === true;
	const settings = settingsOf(data, isForAll);
	const id = context.getNode().credentials?.[credentialType]?.id;
	const evaluated = isForAll ? [] : [settings.apiKey];
	return {
		client: createClient({ settings, signal, transport: transportOf(context, data) }),
		baseUrl: settings.baseUrl,
		site: digest(JSON.stringify([settings.baseUrl, id, ...evaluated])),
		isForAll,
	};
}

/** Gives the connection of each item of a run. What is the same for all items is opened once. */
export function connections(
	context: IExecuteFunctions,
): (itemIndex: number) => Promise<Connection> {
	const signal = context.getExecutionCancelSignal();
	let shared: Connection | undefined;
	return async (itemIndex) => {
		if (shared !== undefined) return shared;
		const connection = await connect(context, signal, itemIndex);
		if (connection.isForAll) shared = connection;
		return connection;
	};
}

/** Makes requests with the credential that is open already: n8n would look it up and decrypt it for each. */
function transportOf(
	context: IExecuteFunctions | IPollFunctions,
	data: ICredentialDataDecryptedObject,
) {
	const credentialsDecrypted = { id: '', name: '', type: credentialType, data };
	return async (options: IHttpRequestOptions): Promise<unknown> => {
		// n8n's helper puts the execution's signal in the place of the request's own one, which ends with it and with the
		// request's time (n8n-core 2.41.1: request-helpers/authentication.js).
		const { abortSignal } = options;
		Object.defineProperty(options, 'abortSignal', {
			enumerable: true,
			get: () => abortSignal,
			set() {
				// It stays the request's own.
			},
		});
		return await context.helpers.httpRequestWithAuthentication.call(
			context,
			credentialType,
			options,
			{ credentialsDecrypted },
		);
	};
}
