import type {
	IAuthenticate,
	IAuthenticateRuleResponseSuccessBody,
	ICredentialTestRequest,
	ICredentialType,
	IDataObject,
	INodeProperties,
} from 'n8n-workflow';

import { wordsOf } from '../nodes/PushCampaign/service/failureWords';
import { subscriberCountPath } from '../nodes/PushCampaign/service/rules';
import type { ServiceSettings } from '../nodes/PushCampaign/service/settings';
import {
	fixedMark,
	headerOptions,
	parseSettings,
	settingNames,
} from '../nodes/PushCampaign/service/settings';
import { InvalidInput } from '../nodes/PushCampaign/service/thrown';

const text = { type: 'string', default: '', required: true } as const;
const secret = { ...text, typeOptions: { password: true } } as const;
const custom = { show: { headerNames: ['custom'] } };

const headersIn = (option: keyof typeof headerOptions) =>
	`${headerOptions[option].apiKeyHeader} and ${headerOptions[option].authTokenHeader}`;

const setting = (name: keyof typeof settingNames) => ({ displayName: settingNames[name], name });

const fields: INodeProperties[] = [
	{
		...setting('baseUrl'),
		...text,
		placeholder: 'e.g. https://push.example.com',
		description: 'Address of your push service, without /v1',
	},
	{
		...setting('apiKey'),
		...secret,
		description: 'REST API key of your site',
	},
	{
		...setting('authToken'),
		...secret,
		description: 'Authentication token of your site',
	},
	{
		...setting('headerNames'),
		type: 'options',
		default: 'standard',
		options: [
			{ name: 'Standard', value: 'standard', description: headersIn('standard') },
			{ name: 'Webpushr', value: 'webpushr', description: headersIn('webpushr') },
			{ name: 'Custom', value: 'custom', description: 'The names that your provider uses' },
		],
		description: 'The headers in which your provider expects the key and the token',
	},
	{
		...setting('apiKeyHeader'),
		...text,
		placeholder: 'e.g. X-Api-Key',
		displayOptions: custom,
		description: 'Name of the header that carries the API key',
	},
	{
		...setting('authTokenHeader'),
		...text,
		placeholder: 'e.g. X-Auth-Token',
		displayOptions: custom,
		description: 'Name of the header that carries the auth token',
	},
	{
		displayName: 'Allow HTTP',
		name: 'allowHttp',
		type: 'boolean',
		default: false,
		description:
			'Whether to allow a plain http:// address that is not on this machine. The key and token then travel unencrypted.',
	},
];

/** A text that begins with `=`: `>` is the next character. n8n 1 can't ask a boolean what it begins with. */
const isExpression = { _cnd: { between: { from: '=', to: '>' } } };

/**
 * n8n leaves out of the decrypted data what is not displayed, and decides that by the fields as they are saved. So
 * this is in it only if no field is an expression.
 */
const mark: INodeProperties = {
	displayName: 'Is Fixed',
	name: fixedMark,
	type: 'hidden',
	default: true,
	displayOptions: { hide: Object.fromEntries(fields.map(({ name }) => [name, [isExpression]])) },
};

/** For all requests of a run, n8n hands over the same data. */
const knownSettings = new WeakMap<object, ServiceSettings>();

/** Where n8n signs a request itself, it shows the message alone: what to do has to be in it. */
function settingsOf(credentials: object): ServiceSettings {
	try {
		const settings = knownSettings.get(credentials) ?? parseSettings(credentials);
		knownSettings.set(credentials, settings);
		return settings;
	} catch (error) {
		if (!(error instanceof InvalidInput)) throw error;
		throw new InvalidInput(`${error.message}. ${error.fix}`, error.fix);
	}
}

/** Specification, Common to all operations: the header is on every request, also on one without a body. */
function withContentType(headers: IDataObject = {}): IDataObject {
	const isThere = Object.keys(headers).some((name) => name.toLowerCase() === 'content-type');
	return isThere ? headers : { ...headers, 'Content-Type': 'application/json' };
}

type Rule = IAuthenticateRuleResponseSuccessBody;

/** The test fails if a field of the answer has a value. */
const failsIf = (key: string, value: string | undefined, message: string): Rule => ({
	type: 'responseSuccessBody',
	properties: { key, value, message },
});

/** The test fails with a failure of this type. */
function failsWith(type: string, fix?: string): Rule {
	const words = wordsOf({ type, description: '' }, { isSend: false });
	return failsIf('type', type, `${words.message}. ${fix ?? words.fix}`);
}

// n8n can't show what the service says, so each sentence is true whatever that is.
const refused =
	"The push service refused the request. Push Campaign's operation 'Get Subscriber Count' shows what it says.";
const notTheService =
	"The answer is not the push service's. Either 'Base URL' is not its address, or the service is not working.";

export class PushCampaignApi implements ICredentialType {
	name = 'pushCampaignApi';

	displayName = 'Push Campaign API';

	icon = {
		light: 'file:../nodes/PushCampaign/pushCampaign.svg',
		dark: 'file:../nodes/PushCampaign/pushCampaign.dark.svg',
	} as const;

	documentationUrl = 'https://example.com/n8n-nodes-push-campaign#credential';

	properties: INodeProperties[] = [...fields, mark];

	// A function: written as expressions, n8n would evaluate them again for each request.
	authenticate: IAuthenticate = async (credentials, requestOptions) => {
		const { baseUrl, headers: signature } = settingsOf(credentials);
		const headers = { ...withContentType(requestOptions.headers), ...signature };
		const signed = { ...requestOptions, headers };
		// The test's own: it asks the very address that the nodes ask.
		return requestOptions.baseURL === undefined ? signed : { ...signed, baseURL: baseUrl };
	};

	test: ICredentialTestRequest = {
		request: {
			baseURL: '={{ $credentials.baseUrl }}',
			url: subscriberCountPath,
			// n8n would send the key and the token along, to any host.
			disableFollowRedirect: true,
			// Otherwise n8n shows HTTP's own words, such as "Unauthorized", and asks no rule about the body.
			ignoreHttpStatusErrors: true,
		},
		// The first rule that fits counts.
		rules: [
			failsWith('header_invalid'),
			failsWith('authentication_failure'),
			failsWith('rate_limit', 'Try again later.'),
			failsIf('status', 'failure', refused),
			// Also if the answer is a text, such as a web page.
			failsIf('active_subscribers', undefined, notTheService),
		],
	};
}
