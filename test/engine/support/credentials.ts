import { getAdditionalKeys } from 'n8n-core';
import {
	ICredentialsHelper,
	NodeHelpers,
	type IAuthenticate,
	type ICredentialDataDecryptedObject,
	type ICredentials,
	type ICredentialsExpressionResolveValues,
	type ICredentialType,
	type IExecuteData,
	type IHttpRequestOptions,
	type INodeCredentialsDetails,
	type INodeProperties,
	type IWorkflowExecuteAdditionalData,
	type WorkflowExecuteMode,
} from 'n8n-workflow';
import { z } from 'zod';

/** What a user typed into a credential. */
export type CredentialData = Record<string, string | number | boolean>;

const credentialData = z.record(z.union([z.string(), z.number(), z.boolean()]));

const unused = (what: string): never => {
	throw new Error(`${what} is not part of the engine tests`);
};

/**
 * Does for the engine what n8n's own credentials helper does once a credential is decrypted: fills in
 * the type's defaults, resolves expressions, and lets the type authenticate the request.
 */
export class CredentialsOfTest extends ICredentialsHelper {
	/** How often a node or a request asked for a decrypted credential. */
	decryptions = 0;

	constructor(
		private readonly types: readonly ICredentialType[],
		private readonly stored: Readonly<Record<string, CredentialData>>,
	) {
		super();
	}

	getParentTypes(): string[] {
		return [];
	}

	isCredentialUsableByNode(): boolean {
		return true;
	}

	async authenticate(
		credentials: ICredentialDataDecryptedObject,
		typeName: string,
		requestOptions: IHttpRequestOptions,
	): Promise<IHttpRequestOptions> {
		const authenticate: IAuthenticate | undefined = this.typeOf(typeName).authenticate;
		if (authenticate === undefined) return requestOptions;
		if (typeof authenticate !== 'function') return unused('A declarative authenticate');
		return await authenticate(credentials, requestOptions);
	}

	async preAuthentication(): Promise<undefined> {
		return undefined;
	}

	async runPreAuthentication(): Promise<undefined> {
		return undefined;
	}

	async getCredentials(): Promise<ICredentials> {
		return unused('An encrypted credential');
	}

	async getDecrypted(
		additionalData: IWorkflowExecuteAdditionalData,
		_details: INodeCredentialsDetails,
		typeName: string,
		mode: WorkflowExecuteMode,
		executeData?: IExecuteData,
		raw?: boolean,
		within?: ICredentialsExpressionResolveValues,
	): Promise<ICredentialDataDecryptedObject> {
		this.decryptions += 1;
		const stored = this.stored[typeName];
		if (stored === undefined) throw new Error(`No credential ${typeName} was given to this test`);
		if (raw === true) return { ...stored };
		const properties = this.getCredentialsProperties(typeName);
		const filled = NodeHelpers.getNodeParameters(properties, stored, true, false, null, null) ?? {};
		if (within === undefined) return credentialData.parse(filled);
		const resolved = within.workflow.expression.getParameterValue(
			filled,
			within.runExecutionData,
			within.runIndex,
			within.itemIndex,
			within.node.name,
			within.connectionInputData,
			mode,
			getAdditionalKeys(additionalData, mode, null, { isCredential: true }),
			executeData,
			false,
			filled,
		);
		return credentialData.parse(resolved);
	}

	async updateCredentials(): Promise<void> {
		unused('Changing a credential');
	}

	async updateCredentialsOauthTokenData(): Promise<void> {
		unused('OAuth');
	}

	getCredentialsProperties(typeName: string): INodeProperties[] {
		return this.typeOf(typeName).properties;
	}

	private typeOf(name: string): ICredentialType {
		const type = this.types.find((candidate) => candidate.name === name);
		if (type === undefined) throw new Error(`No credential type ${name} in this test`);
		return type;
	}
}
