import type {
	ICredentialsDecrypted,
	ICredentialTestFunctions,
	IHttpRequestOptions,
	INodeCredentialTestResult,
} from 'n8n-workflow';

import { subscriberCount } from '../service/answers';
import { createClient } from '../service/client';
import type { FailureCause } from '../service/failureWords';
import { subscriberCountPath } from '../service/rules';
import type { ServiceSettings } from '../service/settings';
import { parseSettings } from '../service/settings';
import { toProblem } from './errors';
import { sleep } from './sleep';

/** What to do inside of the credential: n8n shows one message, beside its fields. */
const adviceOf: Record<FailureCause, string> = {
	'credential-invalid': 'Check API Key, Auth Token and Header Names.',
	'configuration-invalid': 'Check Base URL: the address of your push service, without /v1.',
	'temporarily-unavailable': 'Check Base URL, without /v1, or test again later.',
	'rate-limited': 'Wait a moment and test again.',
	'node-defect': 'Report it to the maintainers of this node.',
};

const timeoutMs = 30_000;

/** Makes requests by the one helper that n8n gives here. Any status is an answer, and no redirect is followed. */
const transportOf =
	({ helpers }: ICredentialTestFunctions, { headers: secrets }: ServiceSettings) =>
	async ({ url, headers, timeout }: IHttpRequestOptions): Promise<unknown> =>
		await helpers.request({
			uri: url,
			headers: { ...headers, ...secrets },
			simple: false,
			resolveWithFullResponse: true,
			followRedirect: false,
			timeout,
		});

const failed = (message: string, advice: string): INodeCredentialTestResult => ({
	status: 'Error',
	message: `${message}. ${advice}`,
});

/**
 * The test of the credential, as n8n looks for it in a node: reads the subscriber count, and says in the
 * node's words why that did not work. A declarative test can't report connection errors, and can't tell one count
 * from none. Never throws.
 */
async function pushCampaignApi(
	this: ICredentialTestFunctions,
	{ data }: ICredentialsDecrypted,
): Promise<INodeCredentialTestResult> {
	try {
		const settings = parseSettings(data);
		const transport = transportOf(this, settings);
		const client = createClient({ settings, transport, sleep, now: Date.now });
		const request = { kind: 'read', path: subscriberCountPath } as const;
		const result = await client.request(request, subscriberCount, timeoutMs);
		if (result.kind === 'done') return { status: 'OK', message: 'The push service answers' };
		const { message, remedy, cause } = result.problem;
		return failed(message, remedy ?? adviceOf[cause]);
	} catch (error) {
		const { message, description } = toProblem(error, false);
		return failed(message, description);
	}
}

export const credentialTest = { pushCampaignApi };
