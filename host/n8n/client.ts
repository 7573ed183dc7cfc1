import { z } from 'zod';
import { until } from '../process/until';
import { N8nExecutions, type Execution } from './executions';
import { N8nRefused } from './rest';
import { credentialSchema, type Credential, type WorkflowDraft } from './workflows';

/** What a credential holds, by the names of its fields. */
type CredentialData = Record<string, unknown>;

const credentialTestSchema = z.object({ status: z.string(), message: z.string().optional() });
const workflowSchema = z
	.object({
		id: z.string(),
		name: z.string(),
		versionId: z.string(),
		active: z.boolean().default(false),
	})
	.passthrough();
const publicationSchema = z.object({
	status: z.enum(['in_progress', 'not_published', 'published', 'partial', 'failed']),
	liveVersionId: z.string().nullable(),
	triggers: z.array(z.object({ status: z.string(), errorMessage: z.string().nullish() })),
});

type Publication = z.infer<typeof publicationSchema>;
type CredentialTest = z.infer<typeof credentialTestSchema>;
export type Workflow = z.infer<typeof workflowSchema>;

export interface WebhookAnswer {
	status: number;
	text: string;
	/** The body if it is JSON, otherwise undefined. */
	json: unknown;
}

/** How long n8n may take to start or stop a trigger, in milliseconds. */
const publicationMs = 240_000;

/** Drives a server over the REST interface that its editor uses; works with n8n 1.x and 2.x. */
export class N8nClient extends N8nExecutions {
	/** Creates a credential of a type, such as `pushCampaignApi`. */
	async createCredential(name: string, type: string, data: CredentialData): Promise<Credential> {
		return credentialSchema.parse(await this.request('POST', 'credentials', { name, type, data }));
	}

	/** Puts new data into a credential. */
	async updateCredential({ id, name, type }: Credential, data: CredentialData): Promise<void> {
		await this.request('PATCH', `credentials/${id}`, { name, type, data });
	}

	/** Runs a credential's own test, as the editor's button does, with other values than the saved ones. */
	async testCredential(credential: Credential, data: CredentialData): Promise<CredentialTest> {
		const body = { credentials: { ...credential, data } };
		return credentialTestSchema.parse(await this.request('POST', 'credentials/test', body));
	}

	/** Creates a workflow, not active. */
	async createWorkflow(draft: WorkflowDraft): Promise<Workflow> {
		// n8n 1.x stores no workflow that leaves `active` out.
		const body = { ...draft, active: false };
		return workflowSchema.parse(await this.request('POST', 'workflows', body));
	}

	/** Changes what is given of a workflow; what is active keeps running as it was. */
	async updateWorkflow(id: string, changes: Partial<WorkflowDraft>): Promise<Workflow> {
		const { versionId } = await this.workflow(id);
		const body = { ...changes, versionId };
		return workflowSchema.parse(await this.request('PATCH', `workflows/${id}`, body));
	}

	/** A workflow with its nodes. */
	async workflow(id: string): Promise<Workflow> {
		return workflowSchema.parse(await this.request('GET', `workflows/${id}`));
	}

	/** All workflows, without their nodes. */
	async workflows(): Promise<Array<Pick<Workflow, 'id' | 'name' | 'active'>>> {
		const listed = workflowSchema.pick({ id: true, name: true, active: true });
		return z.array(listed).parse(await this.request('GET', 'workflows'));
	}

	/**
	 * Activates the newest version of a workflow and waits until its triggers really run.
	 *
	 * @throws with n8n's own words if a trigger could not be started
	 */
	async activate(id: string): Promise<void> {
		const { versionId } = await this.workflow(id);
		await this.request('POST', `workflows/${id}/activate`, { versionId });
		await this.untilPublication(id, ({ status, liveVersionId, triggers }) => {
			const reasons = triggers.flatMap(({ errorMessage }) => errorMessage ?? []);
			if (status === 'failed' || status === 'partial') {
				throw new Error(`Workflow ${id} was not activated: ${reasons.join('; ')}`);
			}
			return status === 'published' && liveVersionId === versionId;
		});
	}

	/** Deactivates a workflow and waits until its triggers have stopped. */
	async deactivate(id: string): Promise<void> {
		await this.request('POST', `workflows/${id}/deactivate`, {});
		await this.untilPublication(id, ({ status }) => status === 'not_published');
	}

	/** Waits for n8n 2.x, which starts and stops a workflow's triggers after it has answered. */
	private async untilPublication(
		id: string,
		isEnough: (publication: Publication) => boolean,
	): Promise<void> {
		const look = async () => {
			try {
				const answer = await this.request('GET', `workflows/${id}/publication-status`);
				return publicationSchema.parse(answer);
			} catch (error) {
				// n8n 1.x has no such address: it answered when all was done.
				if (error instanceof N8nRefused && error.status === 404) return undefined;
				throw error;
			}
		};
		await until(look, (seen) => seen === undefined || isEnough(seen), {
			within: publicationMs,
			late: (seen) => `Workflow ${id} is still ${seen?.status}`,
		});
	}

	/**
	 * 'Execute workflow' in the editor, from one of its triggers.
	 *
	 * @returns the execution when it has ended
	 */
	async runManually(id: string, trigger: string): Promise<Execution> {
		const workflowData = await this.workflow(id);
		const answer = await this.request('POST', `workflows/${id}/run`, {
			workflowData,
			triggerToStartFrom: { name: trigger },
		});
		const { executionId } = z.object({ executionId: z.coerce.string() }).parse(answer);
		return await this.waitForExecution(executionId);
	}

	/** Calls the production webhook of an active workflow. */
	async runWebhook(path: string, body: unknown = {}): Promise<WebhookAnswer> {
		const answer = await fetch(`${this.url}/webhook/${path}`, {
			method: 'POST',
			headers: { connection: 'close', 'content-type': 'application/json' },
			body: JSON.stringify(body),
			signal: AbortSignal.timeout(300_000),
		});
		const text = await answer.text();
		const isJson = /json/.test(answer.headers.get('content-type') ?? '') && text !== '';
		return { status: answer.status, text, json: isJson ? JSON.parse(text) : undefined };
	}
}
