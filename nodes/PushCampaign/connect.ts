import type {
	ICredentialDataDecryptedObject,
	IExecuteFunctions,
	IHttpRequestOptions,
	IPollFunctions,
} from 'n8n-workflow';

import type { Caught } from './nodeErrors';
import { asInvalid, catchInvalid } from './nodeErrors';
import type { Client } from './service/client';
import { createClient } from './service/client';
import type { ServiceSettings } from './service/settings';
import { parseSettings } from './service/settings';
import { sleep } from './sleep';

const credentialType = 'pushCampaignApi';

export interface Connection {
	readonly settings: ServiceSettings;
	readonly client: Client;
}

async function openCredential(
	context: IExecuteFunctions | IPollFunctions,
): Promise<Caught<ICredentialDataDecryptedObject>> {
	try {
		return { value: await context.getCredentials<ICredentialDataDecryptedObject>(credentialType) };
	} catch (error) {
		const advice = 'Choose a Push Campaign API credential in the node that you may use.';
		return { invalid: asInvalid(error, 'Credential', advice) };
	}
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

/**
 * Opens the credential once for all requests of a run; n8n would look it up and decrypt it for each.
 * @param signal ends when the user stops the execution, or when a poll has no more time
 * @returns the connection, or what is not valid in the credential
 */
export async function connect(
	context: IExecuteFunctions | IPollFunctions,
	signal?: AbortSignal,
): Promise<Caught<Connection>> {
	const { value: data, invalid: missing } = await openCredential(context);
	if (data === undefined) return { invalid: missing };
	const { value: settings, invalid } = catchInvalid(() => parseSettings(data));
	if (settings === undefined) return { invalid };
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
		clock: () => performance.now(),
		transport: async (options) => {
			keepSignal(options);
			const response: unknown = await context.helpers.httpRequestWithAuthentication.call(
				context,
				credentialType,
				options,
				{ credentialsDecrypted },
			);
			return response;
		},
	});
	return { value: { settings, client } };
}
