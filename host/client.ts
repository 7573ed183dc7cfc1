import { z } from 'zod';
import {
	executionSummarySchema,
	finalStatuses,
	readExecution,
	type Execution,
	type ExecutionSummary,
} from './executions';
import { until } from './until';
import type { Credential, WorkflowDraft } from './workflows';

/** The account that owns a server. */
export interface Owner {
	email: string;
	firstName: string;
	lastName: string;
	password: string;
}

export const testOwner: Owner = {
	email: 'owner@example.com',
	firstName: 'Ada',
	lastName: 'Owner',
	password: 'Owner-of-this-1',
};

/** An answer of n8n's REST interface that is not a success. */
export class N8nRefused extends Error {
	constructor(
		readonly status: number,
		method: string,
		path: string,
		readonly body: string,
	) {
		super(`${method} ${path} answered ${status}: ${body.slice(0, 2000)}`);
	}
}

const credentialSchema: z.ZodType<Credential> = z.object({
	id: z.string(),
	name: z.string(),
	type: z.string(),
});
const credentialTestSchema = z.object({ status: z.string(), message: z.string().optional() });
const workflowSchema = z
	.object({
		id: z.string(),
		name: z.string(),
		versionId: z.string(),
		active: z.boolean().default(false),
		activeVersionId: z.string().nullish(),
	})
	.passthrough();
const executionsSchema = z.object({ results: z.array(executionSummarySchema) });
const publicationSchema = z.object({
	status: z.enum(['in_progress', 'not_published', 'published', 'partial', 'failed']),
	liveVersionId: z.string().nullable(),
	triggers: z.array(z.object({ status: z.string(), errorMessage: z.string().nullish() })),
});

type Publication = z.infer<typeof publicationSchema>;
export type CredentialTest = z.infer<typeof credentialTestSchema>;
export type Workflow = z.infer<typeof workflowSchema>;

export interface ExecutionsFilter {
	workflowId?: string;
	status?: string[];
	/** At most this many, the newest first. Default 100. */
	limit?: number;
}

export interface WaitOptions extends ExecutionsFilter {
	/** How many executions must be there. Default 1. */
	count?: number;
	/** Whether they must have ended. Default true. */
	ended?: boolean;
	/** Milliseconds. Default 60000. */
	timeout?: number;
}

export interface WebhookAnswer {
	status: number;
	text: string;
	/** The body where it is JSON, otherwise undefined. */
	json: unknown;
}

/**
 * Whether n8n refused for a reason that is gone a moment later, before it did anything: a busy one misses
 * a beat of its database, and now and then its check of a workflow that is published breaks by itself
 * (what is really wrong with a parameter it says in other words).
 */
function isMomentary(error: unknown): boolean {
	if (!(error instanceof N8nRefused)) return false;
	const { status, message } = error;
	return (
		(status === 503 && message.includes('Database is not ready')) ||
		(status === 400 && message.includes('Error validating node parameters'))
	);
}

/** Drives a server over the REST interface that its editor uses; works with n8n 1.x and 2.x. */
export class N8nClient {
	private cookie = '';

	constructor(readonly url: string) {}

	/**
	 * One request to `/rest`, as the logged-in owner.
	 *
	 * @returns the answer's `data`, unparsed
	 * @throws {N8nRefused}
	 */
	async request(method: string, path: string, body?: unknown): Promise<unknown> {
		const answer = await until(
			() => this.requestOnce(method, path, body),
			(seen) => !isMomentary(seen),
			{
				within: 180_000,
				every: 500,
				late: (seen) => (seen instanceof Error ? seen : String(seen)),
			},
		);
		if (answer instanceof N8nRefused) throw answer;
		return answer;
	}

	/** Gives n8n's refusal where there is one. */
	private async requestOnce(method: string, path: string, body?: unknown): Promise<unknown> {
		const answer = await fetch(`${this.url}/rest/${path}`, {
			method,
			headers: {
				// n8n ends a kept connection after seconds, perhaps just when the next request comes.
				connection: 'close',
				// n8n ties a session to the browser that opened it.
				'browser-id': 'push-campaign-host',
				...(this.cookie === '' ? {} : { cookie: this.cookie }),
				...(body === undefined ? {} : { 'content-type': 'application/json' }),
			},
			...(body === undefined ? {} : { body: JSON.stringify(body) }),
			signal: AbortSignal.timeout(120_000),
		});
		const text = await answer.text();
		if (!answer.ok) return new N8nRefused(answer.status, method, path, text);
		const [cookie] = answer.headers.getSetCookie();
		if (cookie !== undefined) this.cookie = cookie.split(';')[0] ?? '';
		return text === '' ? undefined : z.object({ data: z.unknown() }).parse(JSON.parse(text)).data;
	}

	/** Creates the owner of a new server and logs in; does nothing where there is one. */
	async setupOwner(owner: Owner = testOwner): Promise<void> {
		try {
			await this.request('POST', 'owner/setup', owner);
		} catch (error) {
			const isThere = error instanceof N8nRefused && error.message.includes('already setup');
			if (!isThere) throw error;
		}
	}

	/** Logs in. */
	async login({ email, password }: Pick<Owner, 'email' | 'password'> = testOwner): Promise<void> {
		await this.request('POST', 'login', { emailOrLdapLoginId: email, password });
	}

	/** Creates a credential of a type, such as `pushCampaignApi`. */
	async createCredential(
		name: string,
		type: string,
		data: Record<string, unknown>,
	): Promise<Credential> {
		return credentialSchema.parse(await this.request('POST', 'credentials', { name, type, data }));
	}

	/** Puts new data into a credential. */
	async updateCredential(
		{ id, name, type }: Credential,
		data: Record<string, unknown>,
	): Promise<void> {
		await this.request('PATCH', `credentials/${id}`, { name, type, data });
	}

	/** All credentials, without their data. */
	async credentials(): Promise<Credential[]> {
		return z.array(credentialSchema).parse(await this.request('GET', 'credentials'));
	}

	/** Runs a credential's own test, as the editor's button does. Give `data` to test other values. */
	async testCredential(
		credential: Credential,
		data?: Record<string, unknown>,
	): Promise<CredentialTest> {
		const credentials = { ...credential, data: data ?? (await this.shownData(credential.id)) };
		return credentialTestSchema.parse(
			await this.request('POST', 'credentials/test', { credentials }),
		);
	}

	/** A credential's data as the editor gets it: secrets blanked, which n8n fills in again. */
	private async shownData(id: string): Promise<Record<string, unknown>> {
		const shown = z.object({ data: z.record(z.unknown()) });
		return shown.parse(await this.request('GET', `credentials/${id}?includeData=true`)).data;
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
		return workflowSchema.parse(
			await this.request('PATCH', `workflows/${id}`, { ...changes, versionId }),
		);
	}

	/** A workflow with its nodes. */
	async workflow(id: string): Promise<Workflow> {
		return workflowSchema.parse(await this.request('GET', `workflows/${id}`));
	}

	/** All workflows, without their nodes. */
	async workflows(): Promise<Array<Pick<Workflow, 'id' | 'name' | 'active'>>> {
		const listed = z.object({
			id: z.string(),
			name: z.string(),
			active: z.boolean().default(false),
		});
		return z.array(listed).parse(await this.request('GET', 'workflows'));
	}

	/**
	 * Activates the newest version of a workflow and waits until its triggers really run.
	 *
	 * @param timeout milliseconds
	 * @throws with n8n's own words when a trigger could not be started
	 */
	async activate(id: string, timeout = 180_000): Promise<void> {
		const { versionId } = await this.workflow(id);
		await this.request('POST', `workflows/${id}/activate`, { versionId });
		await this.untilPublication(id, timeout, ({ status, liveVersionId, triggers }) => {
			const reasons = triggers.flatMap(({ errorMessage }) => errorMessage ?? []);
			if (status === 'failed' || status === 'partial') {
				throw new Error(`Workflow ${id} was not activated: ${reasons.join('; ')}`);
			}
			return status === 'published' && liveVersionId === versionId;
		});
	}

	/** Deactivates a workflow and waits until its triggers have stopped. */
	async deactivate(id: string, timeout = 180_000): Promise<void> {
		await this.request('POST', `workflows/${id}/deactivate`, {});
		await this.untilPublication(id, timeout, ({ status }) => status === 'not_published');
	}

	private async untilPublication(
		id: string,
		timeout: number,
		isEnough: (publication: Publication) => boolean,
	): Promise<void> {
		await until(
			() => this.publication(id),
			(publication) => publication === undefined || isEnough(publication),
			{
				within: timeout,
				late: (seen) => `Workflow ${id} is ${seen?.status ?? ''} after ${timeout / 1000} s`,
			},
		);
	}

	/** Where n8n 2.x is with starting a workflow's triggers; 1.x answers when it is done. */
	private async publication(id: string): Promise<Publication | undefined> {
		try {
			const answer = await this.request('GET', `workflows/${id}/publication-status`);
			return publicationSchema.parse(answer);
		} catch (error) {
			if (error instanceof N8nRefused && error.status === 404) return undefined;
			throw error;
		}
	}

	/** Deletes a workflow that is not active, with its executions. */
	async deleteWorkflow(id: string): Promise<void> {
		await this.request('POST', `workflows/${id}/archive`, {});
		await this.request('DELETE', `workflows/${id}`);
	}

	/** The executions list, the newest first. */
	async executions({ workflowId, status, limit = 100 }: ExecutionsFilter = {}): Promise<
		ExecutionSummary[]
	> {
		const filter = JSON.stringify({ workflowId, status });
		const query = new URLSearchParams({ filter, limit: String(limit) });
		const answer = await this.request('GET', `executions?${query.toString()}`);
		return executionsSchema.parse(answer).results;
	}

	/** One execution with its data, decoded. It must have ended (`waitForExecution` waits for that). */
	async execution(id: string): Promise<Execution> {
		return await readExecution(await this.request('GET', `executions/${id}`));
	}

	/**
	 * Waits until there are `count` executions.
	 *
	 * @returns the newest first
	 * @throws when they are not there in time, naming those that are
	 */
	async waitForExecutions({
		count = 1,
		ended = true,
		timeout = 180_000,
		...filter
	}: WaitOptions): Promise<ExecutionSummary[]> {
		const wanted = (all: ExecutionSummary[]) =>
			ended ? all.filter(({ status }) => finalStatuses.includes(status)) : all;
		const late = (all: ExecutionSummary[]) =>
			`${wanted(all).length} of ${count} executions after ${timeout / 1000} s: ` +
			all.map(({ id, status }) => `${id} ${status}`).join(', ');
		const seen = await until(
			() => this.executions({ limit: Math.max(100, count), ...filter }),
			(all) => wanted(all).length >= count,
			{ within: timeout, every: 250, late },
		);
		return wanted(seen);
	}

	/**
	 * 'Retry' from the executions list; waits for the new execution to end.
	 *
	 * @param loadWorkflow true: with the workflow as it is now; false: as it was
	 */
	async retryExecution(
		id: string,
		{ loadWorkflow = false }: { loadWorkflow?: boolean } = {},
	): Promise<Execution> {
		const answer = await this.request('POST', `executions/${id}/retry`, { loadWorkflow });
		const retried = z.object({ id: z.coerce.string() }).parse(answer);
		await this.waitForExecution(retried.id);
		return await this.execution(retried.id);
	}

	/** Waits until one execution has ended and is saved. */
	async waitForExecution(id: string, timeout = 180_000): Promise<Execution> {
		const saved = await until(
			async () => executionSummarySchema.parse(await this.request('GET', `executions/${id}`)),
			({ status }) => finalStatuses.includes(status),
			{
				within: timeout,
				late: ({ status }) => `Execution ${id} is ${status} after ${timeout / 1000} s`,
			},
		);
		// Its data may be unreadable as long as it runs.
		return await readExecution(saved);
	}

	/**
	 * 'Execute workflow' in the editor, from one of its triggers.
	 *
	 * @returns the execution when it has ended
	 */
	async runManually(id: string, trigger: string, timeout = 120_000): Promise<Execution> {
		const workflowData = await this.workflow(id);
		const answer = await this.request('POST', `workflows/${id}/run`, {
			workflowData,
			triggerToStartFrom: { name: trigger },
		});
		const { executionId } = z.object({ executionId: z.coerce.string() }).parse(answer);
		return await this.waitForExecution(executionId, timeout);
	}

	/** Stops a running execution, as a user does. */
	async stopExecution(id: string): Promise<void> {
		await this.request('POST', `executions/${id}/stop`, {});
	}

	/** Calls the production webhook of an active workflow. */
	async runWebhook(path: string, body: unknown = {}, timeout = 300_000): Promise<WebhookAnswer> {
		const answer = await fetch(`${this.url}/webhook/${path}`, {
			method: 'POST',
			headers: { connection: 'close', 'content-type': 'application/json' },
			body: JSON.stringify(body),
			signal: AbortSignal.timeout(timeout),
		});
		const text = await answer.text();
		return { status: answer.status, text, json: jsonOrNothing(text) };
	}
}

function jsonOrNothing(text: string): unknown {
	try {
		return JSON.parse(text);
	} catch {
		return undefined;
	}
}
