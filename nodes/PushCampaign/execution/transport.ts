import type {
	ICredentialDataDecryptedObject,
	IExecuteFunctions,
	IHttpRequestOptions,
	IPollFunctions,
} from 'n8n-workflow';

import type { Client } from '../service/client';
import { createClient } from '../service/client';
import type { ServiceSettings } from '../service/settings';
import { parseSettings } from '../service/settings';
import type { Caught } from './errors';
import { asInvalid, catchInvalid } from './errors';
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

async function openCredential(
	context: Context,
	itemIndex: number,
): Promise<Caught<CredentialData>> {
	try {
		const value = isExecution(context)
			? await context.getCredentials<CredentialData>(credentialType, itemIndex)
			: await context.getCredentials<CredentialData>(credentialType);
		return { value };
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

function toConnection(
	context: Context,
	{ value: data, invalid: missing }: Caught<CredentialData>,
	signal: AbortSignal | undefined,
): Caught<Connection> {
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
	return { value: { settings, client, site } };
}

/**
 * Opens the credential once for all requests of a run; n8n would look it up and decrypt it for each.
 * @param signal ends when the user stops the execution, or when a poll has no more time
 * @returns the connection, or what is not valid in the credential
 */
export async function connect(context: Context, signal?: AbortSignal): Promise<Caught<Connection>> {
	return toConnection(context, await openCredential(context, 0), signal);
}

/** What tells one opened credential from another. */
const fingerprint = ({ value, invalid }: Caught<CredentialData>) =>
	JSON.stringify(invalid?.message ?? value);

/**
 * Opens the credential for the items of a run. Its fields may be expressions, which n8n works out for each
 * item (`={{ $json.key }}`); opening it for each takes n8n about a millisecond. Whether they depend on the
 * item is seen from one that isn't there: n8n can't work out the fields of such an item.
 * @param signal ends when the user stops the execution
 * @returns what gives an item its connection, or what is not valid in its credential
 */
export async function connectItems(
	context: IExecuteFunctions,
	signal?: AbortSignal,
): Promise<(itemIndex: number) => Promise<Caught<Connection>>> {
	const { length } = context.getInputData();
	const first = await openCredential(context, 0);
	const connections = new Map([[fingerprint(first), toConnection(context, first, signal)]]);
	const connectionOf = (opened: Caught<CredentialData>) => {
		const key = fingerprint(opened);
		const connection = connections.get(key) ?? toConnection(context, opened, signal);
		connections.set(key, connection);
		return connection;
	};
	if (length > 1) {
		const others = await Promise.all(
			[length - 1, length].map(async (itemIndex) => await openCredential(context, itemIndex)),
		);
		if (others.some((other) => fingerprint(other) !== fingerprint(first))) {
			return async (itemIndex) => connectionOf(await openCredential(context, itemIndex));
		}
	}
	return async () => connectionOf(first);
}
