import { ExecutionLifecycleHooks, ExternalSecretsProxy } from 'n8n-core';
import type { IWorkflowExecuteAdditionalData, WorkflowExecuteMode } from 'n8n-workflow';
import type { CredentialsOfTest } from './credentials';
import type { WorkflowJson } from './workflow';

const unused = async (): Promise<never> => {
	throw new Error('Not part of the engine tests');
};

const nowhere = 'http://127.0.0.1:1';

/** What the engine wants to know of the server around it, with an address that nobody answers at. */
export const additionalDataOf = (
	workflow: WorkflowJson,
	mode: WorkflowExecuteMode,
	executionId: string,
	credentialsHelper: CredentialsOfTest,
): IWorkflowExecuteAdditionalData => ({
	credentialsHelper,
	externalSecretsProxy: new ExternalSecretsProxy(),
	executionId,
	executeWorkflow: unused,
	getRunExecutionData: unused,
	getRuntimeCredential: unused,
	startRunnerTask: unused,
	logAiEvent: () => undefined,
	currentNodeExecutionIndex: 0,
	variables: {},
	restApiUrl: nowhere,
	instanceBaseUrl: nowhere,
	formBaseUrl: nowhere,
	formWaitingBaseUrl: nowhere,
	formTestBaseUrl: nowhere,
	webhookBaseUrl: nowhere,
	webhookWaitingBaseUrl: nowhere,
	webhookTestBaseUrl: nowhere,
	mcpBaseUrl: nowhere,
	mcpTestBaseUrl: nowhere,
	hooks: new ExecutionLifecycleHooks(mode, executionId, {
		id: 'engine-test',
		name: 'Workflow',
		active: mode === 'trigger',
		activeVersionId: null,
		isArchived: false,
		createdAt: new Date(),
		updatedAt: new Date(),
		nodes: workflow.nodes,
		connections: workflow.connections,
	}),
});
