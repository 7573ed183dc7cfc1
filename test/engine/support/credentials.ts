import {
	ICredentialsHelper,
	NodeHelpers,
	type ICredentialDataDecryptedObject,
	type ICredentialType,
	type IHttpRequestOptions,
	type INodeCredentialsDetails,
	type IWorkflowExecuteAdditionalData,
} from 'n8n-workflow';
import { z } from 'zod';
import { PushCampaignApi } from '../../../credentials/PushCampaignApi.credentials';

/** What a user typed into a credential. */
export type CredentialData = Record<string, string | number | boolean>;

const credentialData = z.record(z.union([z.string(), z.number(), z.boolean()]));

const unused = async (): Promise<never> => {
	throw new Error('Not part of the engine tests');
};

/**
 * Does for the engine what n8n's own credentials helper does once a credential is decrypted: fills in
 * the type's defaults, and lets the type authenticate the request. There are no expressions in it.
 */
export class CredentialsOfTest extends ICredentialsHelper {
	private readonly type: ICredentialType = new PushCampaignApi();

	constructor(private readonly stored: CredentialData) {
		super();
	}

	readonly getParentTypes = () => [];
	readonly isCredentialUsableByNode = () => true;
	readonly getCredentialsProperties = () => this.type.properties;
	readonly preAuthentication = async () => undefined;
	readonly runPreAuthentication = async () => undefined;
	readonly getCredentials = unused;
	readonly updateCredentials = unused;
	readonly updateCredentialsOauthTokenData = unused;

	async authenticate(
		credentials: ICredentialDataDecryptedObject,
		_typeName: string,
		requestOptions: IHttpRequestOptions,
	): Promise<IHttpRequestOptions> {
		const { authenticate } = this.type;
		if (typeof authenticate !== 'function') throw new Error('A function was expected');
		return await authenticate(credentials, requestOptions);
	}

	async getDecrypted(
		_additionalData: IWorkflowExecuteAdditionalData,
		_details: INodeCredentialsDetails,
	): Promise<ICredentialDataDecryptedObject> {
		const { properties } = this.type;
		return credentialData.parse(
			NodeHelpers.getNodeParameters(properties, this.stored, true, false, null, null),
		);
	}
}
