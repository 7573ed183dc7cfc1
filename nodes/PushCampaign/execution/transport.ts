import type {
	ICredentialDataDecryptedObject,
	IExecuteFunctions,
	IHttpRequestOptions,
	IPollFunctions,
} from 'n8n-workflow';

import type { Client } from '../service/client';
import { createClient } from '../service/client';
import { InvalidInput } from '../service/invalidInput';
import type { ServiceSettings } from '../service/settings';
import { parseSettings } from '../service/settings';
import { messageOf } from './errors';
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

function isExecution(context: Context): context is IExecuteFunctions {
	return 'getInputData' in context;
}

/** What n8n says of a credential that it does not open. */
function unopened(error: unknown): InvalidInput {
	return new InvalidInput(
		messageOf(error),
		'Choose a Push Campaign API credential in the node that you may use.',
	);
}

/** @throws InvalidInput where n8n gives none */
async function openCredential(context: Context, itemIndex: number): Promise<CredentialData> {
	try {
		return isExecution(context)
			? await context.getCredentials<CredentialData>(credentialType, itemIndex)
			: await context.getCredentials<CredentialData>(credentialType);
	} catch (error) {
		throw unopened(error);
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
	const site = JSON.stringify([settings.baseUrl, credentialsDecrypted.id]);
	return { settings, client, site };
}

/**
 * Opens the credential once for all requests of a run; n8n would look it up and decrypt it for each.
 * @param signal ends when the user stops the execution, or when a poll has no more time
 * @throws InvalidInput
 */
export async function connect(context: Context, signal?: AbortSignal): Promise<Connection> {
	return toConnection(context, await openCredential(context, 0), signal);
}

/** Whether the credential is the same for all of these items. */
async function isSame(
	context: IExecuteFunctions,
	itemIndexes: readonly number[],
): Promise<boolean> {
	const opened = await Promise.allSettled(
		itemIndexes.map(async (itemIndex) => await openCredential(context, itemIndex)),
	);
	const fingerprints = opened.map((each) =>
		each.status === 'fulfilled' ? JSON.stringify(each.value) : String(each.reason),
	);
	return new Set(fingerprints).size === 1;
}

/** How many items are looked at to see whether the credential depends on them. */
const probes = 20;

/** Items from the first to the last, evenly spread, and one that isn't there. */
const probed = (length: number) => [
	...Array.from({ length: Math.min(length, probes) }, (_, index) =>
		length > probes ? Math.round((index * (length - 1)) / (probes - 1)) : index,
	),
	length,
];

/**
 * Opens the credential for the items of a run. Its fields may be expressions, which n8n works out for each
 * item (`={{ $json.key }}`); opening it for each takes n8n about a millisecond. Whether they depend on the
 * item is seen from one that isn't there: n8n can't work out the fields of such an item. An expression that
 * has a word for it (`={{ $input.item?.json.key ?? 'ours' }}`) is seen from those that are there: from all
 * of a small run.
 * @param signal ends when the user stops the execution
 * @returns what gives an item its connection; throws InvalidInput
 */
export async function connectItems(
	context: IExecuteFunctions,
	signal?: AbortSignal,
): Promise<(itemIndex: number) => Promise<Connection>> {
	const connections = new Map<string, Connection>();
	const open = async (itemIndex: number) => {
		const data = await openCredential(context, itemIndex);
		const key = JSON.stringify(data);
		const connection = connections.get(key) ?? toConnection(context, data, signal);
		connections.set(key, connection);
		return connection;
	};
	const { length } = context.getInputData();
	if (length > 1 && !(await isSame(context, probed(length)))) return open;
	const only = open(0);
	// It is awaited for each item, perhaps not at once.
	only.catch(() => undefined);
	return async () => await only;
}
