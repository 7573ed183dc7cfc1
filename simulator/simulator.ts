import { isUtf8 } from 'node:buffer';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { z } from 'zod';
import { answerControl, controlPath } from './control';
import { deliver, isProcessed } from './exchange';
import { Faults } from './faults';
import { answerJson, readBody, type ReadBody } from './http';
import { isJsonObject, parseJson } from './json';
import { JsonFile, Keeper } from './jsonFile';
import { savedSchema, type SimulatorOptions, type SimulatorState } from './options';
import { answerPage } from './page';
import { Recorder, type RecordedRequest } from './recorder';
import { settingsSchema, type Fault } from './schemas';
import { PushService } from './service';

/** A chat's incoming webhook, as Slack, Mattermost and Google Chat have them. */
const chatPath = '/chat';
const mostMessages = 50;

const serverTimeouts = {
	// A client that reuses a connection just as the server ends it sees a reset that no test made.
	keepAliveTimeout: 120_000,
	headersTimeout: 125_000,
};

/** The push service on a loopback port, with its page, and all that a test may want to see or break. */
export class Simulator extends PushService {
	private readonly server = createServer(serverTimeouts, (request, response) => {
		this.receive(request, response).catch(() => response.destroy());
	});
	private readonly initialSettings = this.settings;
	private readonly recorder: Recorder;
	private readonly faults = new Faults();
	private readonly keeper: Keeper<z.infer<typeof savedSchema>> | undefined;
	private messages: SimulatorState['messages'] = [];
	/** Where the page and the control interface are. */
	origin = '';

	constructor(private readonly options: SimulatorOptions) {
		const shape = {
			pathPrefix: (options.pathPrefix ?? '').replace(/\/+$/, ''),
			keyHeader: options.keyHeader ?? 'serviceKey',
			tokenHeader: options.tokenHeader ?? 'serviceAuthToken',
			lifeSpeed: options.lifeSpeed ?? 1,
			maxCampaigns: options.maxCampaigns ?? 50_000,
		};
		const settings = settingsSchema.parse({
			latencyMs: options.latencyMs ?? 0,
			failureStatus: options.failureStatus ?? 'mapped',
			rateLimit: options.rateLimit ?? null,
			serviceKey: options.serviceKey ?? 'demo-key',
			authToken: options.authToken ?? 'demo-token',
			subscribers: options.subscribers ?? { active: 10_000, lifetime: 12_500 },
			waitingCounters: options.waitingCounters ?? 'zero',
		});
		super(shape, settings, options.clock ?? Date.now);
		this.recorder = new Recorder(options.maxRequests ?? 20_000);
		if (options.stateFile === undefined) return;
		const file = new JsonFile(options.stateFile, savedSchema);
		const saved = file.read(options.onUnreadableState);
		if (saved) this.store.restore(saved);
		this.messages = saved?.messages ?? [];
		this.keeper = new Keeper(file, () => ({ ...this.store.save(), messages: this.messages }));
	}

	protected override changed(): void {
		this.keeper?.changed();
	}

	/** Starts listening; rejects where the port is taken. */
	async listen(): Promise<void> {
		const { host = '127.0.0.1', port = 0 } = this.options;
		await new Promise<void>((resolve, reject) => {
			this.server.once('error', reject);
			this.server.listen({ host, port, backlog: 4096 }, () => resolve());
		});
		const address = this.server.address();
		if (address === null || typeof address === 'string') throw new Error('Not on a TCP port');
		this.origin = `http://${host.includes(':') ? `[${host}]` : host}:${address.port}`;
	}

	/** Ends every connection, also those that hang, frees the port, and writes the state. */
	async close(): Promise<void> {
		if (!this.server.listening) return;
		await new Promise<void>((resolve) => {
			this.server.close(() => resolve());
			this.server.closeAllConnections();
		});
		this.keeper?.close();
	}

	/** Where the service is: origin and path prefix, without a trailing slash. */
	get url(): string {
		return this.origin + this.shape.pathPrefix;
	}

	/** The address of the chat's webhook: takes `{ "text": … }`, which the page shows. */
	get chatUrl(): string {
		return this.origin + chatPath;
	}

	/** The latest requests to the service, oldest first. */
	get requests(): readonly RecordedRequest[] {
		return this.recorder.requests;
	}

	/** How many requests came since the start or the last reset, kept or not. */
	get requestCount(): number {
		return this.recorder.count;
	}

	/** The whole state, with the latest `last` campaigns only where that is given. */
	state(last = Infinity): SimulatorState {
		const { serviceKey: _key, authToken: _token, ...settings } = this.settings;
		const campaigns = [...this.campaigns.values()];
		return {
			now: this.now(),
			url: this.url,
			settings,
			requestCount: this.requestCount,
			campaignCount: campaigns.length,
			faults: this.faults.list.map(({ id, times }) => ({ id, times })),
			campaigns: campaigns
				.slice(Math.max(0, campaigns.length - last))
				.map((campaign) => this.view(campaign)),
			messages: this.messages,
		};
	}

	/** Switches a fault on; gives its ID. Throws a ZodError where it is not well formed. */
	addFault(fault: Fault): number {
		return this.faults.add(fault);
	}

	clearFaults(): void {
		this.faults.clear();
	}

	clearRequests(): void {
		this.recorder.clear();
	}

	/** Posts to the chat; the latest messages are kept. */
	post(text: string): void {
		this.messages = [...this.messages, { at: this.now(), text }].slice(-mostMessages);
		this.changed();
	}

	/** Back to how it was started: no campaign, message, request or fault. */
	reset(): void {
		this.messages = [];
		this.store.clear();
		this.configure({ rateLimit: null });
		this.configure(this.initialSettings);
		this.faults.clear();
		this.recorder.clear();
	}

	private async receive(request: IncomingMessage, response: ServerResponse): Promise<void> {
		const path = request.url ?? '/';
		const body = await readBody(request);
		if (path.startsWith(controlPath)) answerControl(this, request, response, body);
		else if (path === '/' && request.method === 'GET') answerPage(response);
		else if (path === chatPath && request.method === 'POST') this.answerChat(response, body);
		else this.serve(request, response, body);
	}

	private answerChat(response: ServerResponse, { bytes }: ReadBody): void {
		const message = parseJson(bytes.toString('utf8'));
		const text = isJsonObject(message) ? message['text'] : undefined;
		if (typeof text === 'string') {
			this.post(text);
			answerJson(response, 200, { ok: true });
		} else answerJson(response, 400, { message: 'A message to the chat is JSON with a text' });
	}

	/** Answers a request to the service, and keeps it. */
	private serve(request: IncomingMessage, response: ServerResponse, body: ReadBody): void {
		const text = body.bytes.toString('utf8');
		const recorded = this.recorder.add({
			method: request.method ?? 'GET',
			path: request.url ?? '/',
			headers: request.headers,
			body: text,
			json: isUtf8(body.bytes) ? parseJson(text) : undefined,
			at: this.now(),
		});
		const action = this.faults.take(recorded);
		const answer = isProcessed(action) ? this.answer(recorded, body.tooLarge) : null;
		recorded.campaignId = answer?.campaignId ?? null;

		const send = (): void => {
			const answered = deliver(response, answer, action);
			recorded.answered = answered && { ...answered, at: this.now() };
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
	await simulator.listen();
	return simulator;
}
