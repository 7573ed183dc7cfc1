import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';

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
		what: string,
		readonly body: string,
	) {
		super(`${what} answered ${status}: ${body.slice(0, 2000)}`);
	}
}

/**
 * What is over a moment later, and nothing was done: a busy n8n misses a beat of its database, and now and
 * then its check of a workflow that is published breaks by itself.
 */
const isMomentary = (error: unknown) =>
	error instanceof N8nRefused &&
	/Database is not ready|Error validating node parameters/.test(error.body);

const dataSchema = z.object({ data: z.unknown() });

/** The REST interface that n8n's editor uses, for a logged-in owner. */
export class N8nSession {
	private cookie = '';

	constructor(readonly url: string) {}

	/**
	 * One request to `/rest`.
	 *
	 * @returns the answer's `data`, unparsed
	 * @throws {N8nRefused}
	 */
	async request(method: string, path: string, body?: unknown): Promise<unknown> {
		for (const deadline = Date.now() + 180_000; ; await sleep(500)) {
			try {
				const text = await this.requestText(method, path, body);
				return text === '' ? undefined : dataSchema.parse(JSON.parse(text)).data;
			} catch (error) {
				if (!isMomentary(error) || Date.now() > deadline) throw error;
			}
		}
	}

	/** One request to `/rest`, tried once; gives the answer's body whatever it is. */
	async requestText(method: string, path: string, body?: unknown): Promise<string> {
		const answer = await fetch(`${this.url}/rest/${path}`, {
			method,
			headers: {
				// n8n ends a kept connection after seconds, perhaps just when the next request comes.
				connection: 'close',
				// n8n ties a session to the browser that opened it.
				'browser-id': 'push-campaign-host',
				cookie: this.cookie,
				'content-type': 'application/json',
			},
			body: body === undefined ? null : JSON.stringify(body),
			signal: AbortSignal.timeout(120_000),
		});
		const text = await answer.text();
		if (!answer.ok) throw new N8nRefused(answer.status, `${method} ${path}`, text);
		const [cookie] = answer.headers.getSetCookie();
		if (cookie !== undefined) this.cookie = cookie.split(';')[0] ?? '';
		return text;
	}

	/** Creates the owner of a new server and logs in; does nothing if there is one. */
	async setupOwner(owner: Owner = testOwner): Promise<void> {
		try {
			await this.request('POST', 'owner/setup', owner);
		} catch (error) {
			const isThere = error instanceof N8nRefused && error.body.includes('already setup');
			if (!isThere) throw error;
		}
	}

	async login({ email, password }: Pick<Owner, 'email' | 'password'> = testOwner): Promise<void> {
		await this.request('POST', 'login', { emailOrLdapLoginId: email, password });
	}
}
