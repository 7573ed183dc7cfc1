import { getAdditionalKeys } from 'n8n-core';
import type {
	ICredentialDataDecryptedObject,
	ICredentialsExpressionResolveValues,
	ICredentialType,
	IExecuteData,
	IHttpRequestOptions,
	INodeCredentialsDetails,
	INodeParameters,
	IWorkflowExecuteAdditionalData,
	WorkflowExecuteMode,
} from 'n8n-workflow';
import { ICredentialsHelper, NodeHelpers } from 'n8n-workflow';
import { z } from 'zod';
import { PushCampaignApi } from '../../../credentials/PushCampaignApi.credentials';

/** What a user typed into a credential. */
export type CredentialData = Record<string, string | number | boolean>;

const decrypted = z.record(z.string(), z.union([z.string(), z.number(), z.boolean()]));

const unused = async (): Promise<never> => {
	throw new Error('Not part of the engine tests');
};

/**
 * Does for the engine what n8n's own credentials helper does once a credential is decrypted (n8n 2.41.1:
 * `credentials-helper.js`, `applyDefaultsAndOverwrites`): fills in the type's defaults, evaluates expressions for the
 * item, and lets the type authenticate the request.
 */
export class CredentialsOfTest extends ICredentialsHelper {
	private readonly type: ICredentialType = new PushCampaignApi();

	/** @param onOpen called each time the credential is opened; may throw what a vault would */
	constructor(
		private readonly stored: CredentialData,
		private readonly onOpen: () => void = () => undefined,
	) {
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
		additionalData: IWorkflowExecuteAdditionalData,
		_details: INodeCredentialsDetails,
		_type: string,
		mode: WorkflowExecuteMode,
		executeData?: IExecuteData,
		_raw?: boolean,
		values?: ICredentialsExpressionResolveValues,
	): Promise<ICredentialDataDecryptedObject> {
		this.onOpen();
		const { properties } = this.type;
		const given: INodeParameters =
			NodeHelpers.getNodeParameters(properties, this.stored, true, false, null, null) ?? {};
		if (values === undefined) return decrypted.parse(given);
		const { workflow, runExecutionData, runIndex, itemIndex, node, connectionInputData } = values;
		const evaluated = workflow.expression.getParameterValue(
			given,
			runExecutionData,
			runIndex,
			itemIndex,
			node.name,
			connectionInputData,
			mode,
			getAdditionalKeys(additionalData, mode, null, { isCredential: true }),
			executeData,
			false,
			given,
		);
		return decrypted.parse(evaluated);
	}
}
