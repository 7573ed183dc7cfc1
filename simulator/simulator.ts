import { isUtf8 } from 'node:buffer';
import { once } from 'node:events';
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { dirname } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { z } from 'zod';
import { campaignSchema } from './campaigns';
import { answerWith, deliver, replyTo } from './deliver';
import { parseJson } from './json';
import { pageHeaders, pressButton, renderPage } from './page/page';
import { PushService } from './service';
import type { SimulatorOptions } from './settings';

const savedSchema = z.array(campaignSchema);
const saveEveryMs = 200;

const serverTimeouts = {
	// A client that reuses a connection just as the server ends it sees a reset that no test made.
	keepAliveTimeout: 120_000,
	headersTimeout: 125_000,
};

/** The push service on a loopback port, with its page. */
export class Simulator extends PushService {
	private readonly server = createServer(serverTimeouts, (request, response) => {
		this.receive(request, response).catch(() => response.destroy());
	});
	private readonly stateFile: string | undefined;
	private saved = '';
	private saving: NodeJS.Timeout | undefined;
	/** Where the page is. */
	origin = '';

	/** Throws if the state file holds something else. */
	constructor({ port: _port, clock = Date.now, stateFile, ...settings }: SimulatorOptions) {
		super(settings, clock);
		this.stateFile = stateFile;
		if (stateFile === undefined || !existsSync(stateFile)) return;
		const saved = savedSchema.safeParse(parseJson(readFileSync(stateFile, 'utf8')));
		if (!saved.success) throw new Error(`Delete ${stateFile}: it is not this simulator's`);
		this.restore(saved.data);
	}

	/** Where the service is, without a trailing slash. */
	get url(): string {
		return this.origin + this.settings.pathPrefix;
	}

	/** Starts listening; rejects if the port is taken. */
	async listen(port: number): Promise<void> {
		const listening = once(this.server, 'listening');
		this.server.listen({ host: '127.0.0.1', port, backlog: 4096 });
		await listening;
		const address = this.server.address();
		if (address === null || typeof address === 'string') throw new Error('Not on a TCP port');
		this.origin = `http://127.0.0.1:${address.port}`;
		if (this.stateFile === undefined) return;
		this.saving = setInterval(() => this.save(), saveEveryMs).unref();
	}

	/** Ends all connections, also those that hang, frees the port, and saves the state. */
	async close(): Promise<void> {
		if (!this.server.listening) return;
		const closed = once(this.server, 'close');
		this.server.close();
		this.server.closeAllConnections();
		await closed;
		clearInterval(this.saving);
		this.save();
	}

	/** Writes the campaigns if one is new or changed. A kill in between leaves the former file as it is. */
	private save(): void {
		if (this.stateFile === undefined) return;
		const text = JSON.stringify([...this.campaigns.values()]);
		if (text === this.saved) return;
		mkdirSync(dirname(this.stateFile), { recursive: true });
		writeFileSync(`${this.stateFile}.new`, text);
		renameSync(`${this.stateFile}.new`, this.stateFile);
		this.saved = text;
	}

	private async receive(request: IncomingMessage, response: ServerResponse): Promise<void> {
		const { method = 'GET', url: path = '/' } = request;
		const body = await buffer(request);
		if (method === 'GET' && path === '/') {
			answerWith(response, { status: 200, headers: pageHeaders, body: renderPage(this, this.url) });
		} else if (method === 'POST' && pressButton(this, path)) {
			response.end();
		} else {
			this.serve(request, response, body);
		}
	}

	/** Answers a request to the service, and keeps it. */
	private serve(request: IncomingMessage, response: ServerResponse, body: Buffer): void {
		const { method = 'GET', url: path = '/', headers } = request;
		const text = body.toString();
		const json = isUtf8(body) ? parseJson(text) : undefined;
		const recorded = this.record({ method, path, headers, body: text, json });
		const action = this.faults.take(recorded);
		recorded.isFaulty = action !== undefined;
		const reply = replyTo(action, () => this.carryOut(recorded));

		const send = () => {
			const { answer } = reply;
			if (!deliver(response, reply) || !answer) return;
			recorded.answered = { status: answer.status, body: answer.body, at: this.now() };
		};
		const { latencyMs } = this.settings;
		const delayMs = latencyMs + (action?.kind === 'delay' ? action.ms : 0);
		// The connection keeps a process alive while it waits; the timer alone should not.
		if (delayMs > 0) setTimeout(send, delayMs).unref();
		else send();
	}
}

/** Starts a simulator; it listens when the promise resolves. */
export async function startSimulator(options: SimulatorOptions = {}): Promise<Simulator> {
	const simulator = new Simulator(options);
	await simulator.listen(options.port ?? 0);
	return simulator;
}
