import type {
	ICredentialDataDecryptedObject,
	IExecuteFunctions,
	IPollFunctions,
} from 'n8n-workflow';

import { digest } from '../send/digest';
import type { Client } from '../service/client';
import { createClient } from '../service/client';
import { InvalidInput } from '../service/invalidInput';
import type { ServiceSettings } from '../service/settings';
import { fixedMark, fixedMarkOf, parseSettings, settingNames } from '../service/settings';
import { CredentialFailure, notOpened } from './credentialFailure';
import { sleep } from './sleep';

const credentialType = 'pushCampaignApi';

export interface Connection {
	readonly settings: ServiceSettings;
	readonly client: Client;
	/**
	 * What a send goes to: the address, the credential in n8n, and a digest of what the credential's expressions
	 * give. A new key in a field that is no expression is the same site.
	 */
	readonly site: string;
	/**
	 * Whether it serves all items of a run. Otherwise a field of the credential is an expression
	 * (`={{ $json.key }}`), which n8n evaluates for each item. That takes about a millisecond.
	 */
	readonly isForAll: boolean;
}

/** A digest, because what it stands for is secret and a digest of the site is saved with the execution. */
function expressionDigest(data: ICredentialDataDecryptedObject): string[] {
	const names = Object.keys(settingNames).filter((name) => data[fixedMarkOf(name)] !== true);
	return names.length === 0 ? [] : [digest(names.map((name) => [name, data[name]]))];
}

function settingsOf(data: ICredentialDataDecryptedObject): ServiceSettings {
	try {
		return parseSettings(data);
	} catch (error) {
		throw notParsed(error, data[fixedMark] === true);
	}
}

function notParsed(error: unknown, isForAll: boolean): unknown {
	return error instanceof InvalidInput
		? new CredentialFailure(error.message, error.advice, isForAll)
		: error;
}

/**
 * Gives the connection of each item of a run. What is the same for all items is opened once, and if that fails
 * it is not tried again.
 */
export function connections(
	context: IExecuteFunctions,
	signal: AbortSignal | undefined,
	onRequest: () => void,
): (itemIndex: number) => Promise<Connection> {
	let connection: Connection | undefined;
	let failure: CredentialFailure | undefined;
	return async (itemIndex) => {
		if (connection?.isForAll) return connection;
		// A credential that was opened for some items holds an expression: each item may fail for itself.
		if (connection === undefined && failure?.isForAll) throw failure;
		connection = await connect(context, signal, itemIndex, onRequest).catch((error: unknown) => {
			if (error instanceof CredentialFailure) failure = error;
			throw error;
		});
		return connection;
	};
}

/**
 * Opens the credential once for all requests of an item, or of a poll; n8n would look it up and decrypt it for
 * each.
 * @param signal ends when the user stops the execution, or when the poll has no more time
 * @param onRequest called before each request leaves
 * @throws InvalidInput
 * @throws Unavailable
 */
export async function connect(
	context: IExecuteFunctions | IPollFunctions,
	signal?: AbortSignal,
	itemIndex?: number,
	onRequest: () => void = () => undefined,
): Promise<Connection> {
	const data = await context.getCredentials(credentialType, itemIndex).catch((error: unknown) => {
		throw notOpened(error);
	});
	const settings = settingsOf(data);
	const { id, name } = context.getNode().credentials?.[credentialType] ?? { id: null, name: '' };
	const credentialsDecrypted = { id: id ?? '', name, type: credentialType, data };
	const client = createClient({
		settings,
		signal,
		sleep,
		now: Date.now,
		transport: async (options): Promise<unknown> => {
			onRequest();
			// n8n's helper puts the execution's signal in the place of the request's own one, which ends with it
			// and with the request's time.
			const { abortSignal } = options;
			Object.defineProperty(options, 'abortSignal', {
				enumerable: true,
				get: () => abortSignal,
				set: () => undefined,
			});
			return await context.helpers.httpRequestWithAuthentication.call(
				context,
				credentialType,
				options,
				{ credentialsDecrypted },
			);
		},
	});
	const site = JSON.stringify([settings.baseUrl, id ?? '', ...expressionDigest(data)]);
	return { settings, client, site, isForAll: data[fixedMark] === true };
}
