import type {
	ICredentialDataDecryptedObject,
	IExecuteFunctions,
	IHttpRequestOptions,
	IPollFunctions,
} from 'n8n-workflow';

import type { Client } from '../service/client';
import { createClient } from '../service/client';
import { InvalidInput, messageOf } from '../service/invalidInput';
import type { ServiceSettings } from '../service/settings';
import { fixedMark, parseSettings } from '../service/settings';
import { sleep } from './sleep';

const credentialType = 'pushCampaignApi';

export interface Connection {
	readonly settings: ServiceSettings;
	readonly client: Client;
	/** What stands for the site, whatever key it has at the moment: its address and its credential in n8n. */
	readonly site: string;
}

type Context = IExecuteFunctions | IPollFunctions;
type CredentialData = ICredentialDataDecryptedObject;

/** Says why n8n does not open a credential, in its words. */
function unopened(error: unknown): never {
	throw new InvalidInput(
		messageOf(error),
		'Choose a Push Campaign API credential in the node that you may use.',
	);
}

/**
 * n8n's helper puts the execution's signal in the place of the request's own one, which ends with it
 * and with the request's time.
 */
function keepSignal(options: IHttpRequestOptions): void {
	const { abortSignal } = options;
	Object.defineProperty(options, 'abortSignal', {
		enumerable: true,
		get: () => abortSignal,
		set: () => undefined,
	});
}

/** @throws InvalidInput naming the credential's field */
function toConnection(
	context: Context,
	data: CredentialData,
	signal: AbortSignal | undefined,
): Connection {
	const settings = parseSettings(data);
	const reference = context.getNode().credentials?.[credentialType];
	const credentialsDecrypted = {
		id: reference?.id ?? '',
		name: reference?.name ?? '',
		type: credentialType,
		data,
	};
	const client = createClient({
		settings,
		signal,
		sleep,
		now: Date.now,
		transport: async (options): Promise<unknown> => {
			keepSignal(options);
			return await context.helpers.httpRequestWithAuthentication.call(
				context,
				credentialType,
				options,
				{ credentialsDecrypted },
			);
		},
	});
	const site = JSON.stringify([settings.baseUrl, credentialsDecrypted.id]);
	return { settings, client, site };
}

/**
 * Opens the credential once for all requests of a poll; n8n would look it up and decrypt it for each.
 * @param signal ends when the poll has no more time
 * @throws InvalidInput
 */
export async function connect(context: IPollFunctions, signal?: AbortSignal): Promise<Connection> {
	const data = await context.getCredentials<CredentialData>(credentialType).catch(unopened);
	return toConnection(context, data, signal);
}

/**
 * Opens the credential for the items of a run. Its fields may be expressions, which n8n works out for each
 * item (`={{ $json.key }}`); that takes n8n about a millisecond. Where none is one, what was opened for the
 * first item serves all.
 * @param signal ends when the user stops the execution
 * @returns what gives an item its connection; throws InvalidInput
 */
export function connectItems(
	context: IExecuteFunctions,
	signal?: AbortSignal,
): (itemIndex: number) => Promise<Connection> {
	let forAll: Connection | undefined;
	return async (itemIndex) => {
		if (forAll !== undefined) return forAll;
		const data = await context
			.getCredentials<CredentialData>(credentialType, itemIndex)
			.catch(unopened);
		const connection = toConnection(context, data, signal);
		if (data[fixedMark] === true) forAll = connection;
		return connection;
	};
}
