import type {
	ICredentialDataDecryptedObject,
	IExecuteFunctions,
	IPollFunctions,
} from 'n8n-workflow';

import { digest } from '../send/digest';
import type { Client } from '../service/client';
import { createClient } from '../service/client';
import { InvalidInput, messageOf, Unavailable } from '../service/invalidInput';
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

/** What a database, a vault or the network says. n8n hands it on in the driver's own words. */
const outage =
	/SQLITE_|\bE[A-Z]{5,}\b|database|vault|external secret|timed? ?out|timeout|connect|socket|unavailable/i;
const outageNames = new Set(['QueryFailedError', 'OperationalError', 'DbConnectionTimeoutError']);

/** Whether n8n can't open the credential now, but may later; otherwise the credential or its choice is at fault. */
function isOutage(error: unknown): boolean {
	if (error instanceof Error && outageNames.has(error.name)) return true;
	const code = typeof error === 'object' && error !== null && 'code' in error ? error.code : '';
	return outage.test(`${String(code)} ${messageOf(error)}`);
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

function notOpened(error: unknown): CredentialFailure | Unavailable {
	const message = messageOf(error);
	if (!isOutage(error)) {
		const advice = 'Select a credential you have access to.';
		return new CredentialFailure(message, advice, !isExpressionError(error));
	}
	return new Unavailable(
		`n8n could not open the credential: ${message}`,
		"Check n8n's database, and the vault if the credential uses external secrets, then run the workflow again.",
	);
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
