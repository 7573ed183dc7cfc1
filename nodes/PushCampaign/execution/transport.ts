import type { IExecuteFunctions, IPollFunctions } from 'n8n-workflow';

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
	/**
	 * Whether it serves all items of a run. Otherwise a field of the credential is an expression
	 * (`={{ $json.key }}`), which n8n works out for each item; that takes it about a millisecond.
	 */
	readonly isForAll: boolean;
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
		throw new InvalidInput(
			messageOf(error),
			'Choose a Push Campaign API credential in the node that you may use.',
		);
	});
	const settings = parseSettings(data);
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
	const site = JSON.stringify([settings.baseUrl, credentialsDecrypted.id]);
	return { settings, client, site, isForAll: data[fixedMark] === true };
}
