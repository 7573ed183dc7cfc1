import { z } from 'zod/v3';

import { InvalidInput, messageOf, Unavailable } from '../service/invalidInput';

/** The credential can't be used. */
export class CredentialFailure extends InvalidInput {
	/** @param isForAll whether it is the same for all items, because no expression had a part in it */
	constructor(
		message: string,
		advice: string,
		readonly isForAll: boolean,
	) {
		super(message, advice);
	}
}

const text = z.string().catch('');
/** What n8n throws, as far as it is text. */
const thrown = z
	.object({ code: text, description: text, name: text })
	.catch({ code: '', description: '', name: '' });

/** What a database, a vault or the network says. n8n hands it on in the driver's own words. */
const outage =
	/SQLITE_|\bE[A-Z]{5,}\b|database|vault|external secret|timed? ?out|timeout|connect|socket|unavailable/i;
const outageNames = new Set(['QueryFailedError', 'OperationalError', 'DbConnectionTimeoutError']);

const checkDatabase =
	"Check n8n's database, and the vault if the credential uses external secrets, then run the workflow again.";

/** Says why n8n could not open the credential, and what helps. The first cause that fits counts. */
export function notOpened(error: unknown): CredentialFailure | Unavailable {
	const message = messageOf(error);
	const { code, description, name } = thrown.parse(error);
	// By its name: what evaluates expressions apart from the server has classes of its own.
	const isForAll = !/^Expression(Extension)?Error$/.test(name);
	const fail = (what: string, advice: string) => new CredentialFailure(what, advice, isForAll);

	// n8n 2.41.1: n8n-workflow, `workflow-data-proxy-env-provider.js`.
	if (/access to env vars denied/i.test(message)) {
		return fail(
			'An expression in the credential reads an environment variable ($env), which this n8n does not allow',
			"Enter the value itself in the credential, or have n8n's administrator set N8N_BLOCK_ENV_ACCESS_IN_NODE to false and restart n8n.",
		);
	}
	// n8n 2.41.1: n8n-core, `constants.js`, CREDENTIAL_ERRORS. With another key, one text of some hundred still ends
	// as one does that was decrypted.
	if (/could not be decrypted|decrypted credentials data is not valid/i.test(message)) {
		return fail(
			'n8n could not decrypt the credential: it was saved with another encryption key',
			'Set N8N_ENCRYPTION_KEY to the same value for every process of n8n (main, workers, webhooks), and restart them. If that key is lost, enter the values of the credential again.',
		);
	}
	// n8n 2.41.1: n8n-core, `get-secrets-proxy.js`.
	if (/could not load secrets/i.test(message)) {
		if (/could not be found/i.test(description)) {
			return fail(
				'The vault has no secret of the name that the credential uses',
				'Check its name in the expression in the credential ($secrets), and that the vault holds it.',
			);
		}
		return new Unavailable(
			'n8n could not open the credential: the vault with its secrets is not connected',
			"Check under External Secrets in n8n's settings that the vault is connected and that the expression in the credential ($secrets) names it, then run the workflow again.",
		);
	}
	// n8n can't open it now, but may later. Otherwise the credential or its choice is at fault.
	if (outageNames.has(name) || outage.test(`${code} ${message}`)) {
		return new Unavailable(`n8n could not open the credential: ${message}`, checkDatabase);
	}
	return fail(message, 'Select a credential you have access to.');
}
