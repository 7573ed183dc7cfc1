import type {
	ICredentialDataDecryptedObject,
	IExecuteFunctions,
	IPollFunctions,
} from 'n8n-workflow';

import { digest } from '../send/digest';
import type { Client } from '../service/client';
import { createClient } from '../service/client';
import { InvalidInput, messageOf } from '../service/invalidInput';
import type { ServiceSettings } from '../service/settings';
import { fixedMark, fixedMarkOf, parseSettings, settingNames } from '../service/settings';
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

/** The credential can't be used. */
class CredentialFailure extends InvalidInput {
	/** @param isForAll whether it is the same for all items, because no expression had a part in it */
	constructor(
		message: string,
		advice: string,
		readonly isForAll: boolean,
	) {
		super(message, advice);
	}
}

/** By its name: what evaluates expressions apart from the server has classes of its own. */
const isExpressionError = (error: unknown) =>
	typeof error === 'object' &&
	error !== null &&
	'name' in error &&
	/^Expression(Extension)?Error$/.test(String(error.name));

function settingsOf(data: ICredentialDataDecryptedObject): ServiceSettings {
	try {
		return parseSettings(data);
	} catch (error) {
		if (!(error instanceof InvalidInput)) throw error;
		throw new CredentialFailure(error.message, error.advice, data[fixedMark] === true);
	}
}

/**
 * Gives the connection of each item of a run. What is the same for all items is opened once, and if that fails
 * it is not tried again.
 */
export function connections(
	context: IExecuteFunctions,
	signal: AbortSignal | undefined,
): (itemIndex: number) => Promise<Connection> {
	let connection: Connection | undefined;
	let failure: CredentialFailure | undefined;
	return async (itemIndex) => {
		if (connection?.isForAll) return connection;
		// A credential that was opened for some items holds an expression: each item may fail for itself.
		if (connection === undefined && failure?.isForAll) throw failure;
		try {
			connection = await connect(context, signal, itemIndex);
			return connection;
		} catch (error) {
			if (error instanceof CredentialFailure) failure = error;
			throw error;
		}
	};
}

/**
 * Opens the credential once for all requests of an item, or of a poll; n8n would look it up and decrypt it for
 * each.
 * @param signal ends when the user stops the execution, or when the poll has no more time
 * @throws InvalidInput
 */
export async function connect(
	context: IExecuteFunctions | IPollFunctions,
	signal?: AbortSignal,
	itemIndex?: number,
): Promise<Connection> {
	const data = await context.getCredentials(credentialType, itemIndex).catch((error: unknown) => {
		throw new CredentialFailure(
			messageOf(error),
			'Choose a Push Campaign API credential in the node that you may use.',
			!isExpressionError(error),
		);
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
