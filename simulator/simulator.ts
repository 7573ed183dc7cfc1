import { isUtf8 } from 'node:buffer';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { z } from 'zod';
import { savedCampaignsSchema, type Campaign } from './campaigns';
import { control, controlPath } from './control';
import { deliver, isProcessed } from './exchange';
import { Faults, type FaultName } from './faults';
import { answerJson } from './http';
import { parseJson } from './json';
import { JsonFile, keep } from './jsonFile';
import { sendPathStart } from './operations';
import type { FailedSend, Message, SimulatorOptions, SimulatorState } from './options';
import { answerPage, answerPart, isPart } from './page';
import type { RecordedRequest } from './request';
import type { Fault } from './schemas';
import { PushService } from './service';

/** A chat's incoming webhook, as Slack, Mattermost and Google Chat have them. */
const chatPath = '/chat';
const mostMessages = 50;
const mostRequests = 20_000;
const mostFailedSends = 5;

/** A browser that opens the chat's address sees the chat. */
const isPage = (path: string) => path === '/' || path === chatPath;
const postSchema = z.object({ text: z.string() });

/** What the next start is to have. */
const savedSchema = savedCampaignsSchema.extend({
	messages: z.array(z.object({ at: z.number(), text: z.string() })),
});

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
	private readonly faults = new Faults();
	private readonly port: number;
	private messages: Message[] = [];
	private endKeeping = () => {};
	/** The latest requests to the service, oldest first. */
	readonly requests: RecordedRequest[] = [];
	/** How many requests came since the start or the last reset, kept or not. */
	requestCount = 0;
	/** Where the page and the control interface are. */
	origin = '';

	/** Throws where the state file holds something else. */
	constructor({ port = 0, stateFile, ...options }: SimulatorOptions) {
		super(options);
		this.port = port;
		if (stateFile === undefined) return;
		const file = new JsonFile(stateFile, savedSchema);
		const saved = file.read();
		if (saved) this.store.restore(saved);
		this.messages = saved?.messages ?? [];
		this.endKeeping = keep(file, () => ({ ...this.store.save(), messages: this.messages }));
	}

	/** Starts listening; rejects where the port is taken. */
	async listen(): Promise<void> {
		// `once` rejects on an error.
		const listening = once(this.server, 'listening');
		this.server.listen({ host: '127.0.0.1', port: this.port, backlog: 4096 });
		await listening;
		const address = this.server.address();
		if (address === null || typeof address === 'string') throw new Error('Not on a TCP port');
		this.origin = `http://127.0.0.1:${address.port}`;
	}

	/** Ends every connection, also those that hang, frees the port, and writes the state. */
	async close(): Promise<void> {
		if (!this.server.listening) return;
		const closed = once(this.server, 'close');
		this.server.close();
		this.server.closeAllConnections();
		await closed;
		this.endKeeping();
	}

	/** Where the service is: origin and path prefix, without a trailing slash. */
	get url(): string {
		return this.origin + this.shape.pathPrefix;
	}

	/** The address of the chat's webhook: takes `{ "text": … }`, which the page shows. */
	get chatUrl(): string {
		return this.origin + chatPath;
	}

	/** The whole state, with the latest `last` campaigns only, of those that hold all words of `search`. */
	state(last = Infinity, search = ''): SimulatorState {
		const { serviceKey: _key, authToken: _token, ...settings } = this.settings;
		const found = this.find(search);
		return {
			now: this.now(),
			url: this.url,
			settings,
			requestCount: this.requestCount,
			campaignCount: this.campaigns.size,
			foundCount: found.length,
			faults: this.faults.list.map(({ id, times, name }) => ({ id, times, name })),
			failedSends: this.failedSends(),
			campaigns: found
				.slice(Math.max(0, found.length - last))
				.map((campaign) => this.view(campaign)),
			messages: this.messages,
		};
	}

	/** Switches a fault on; gives its ID. Throws a ZodError where it is not well formed. */
	addFault(fault: Fault): number {
		return this.faults.add(fault);
	}

	/** Switches one of the page's faults on, or off if it is on. */
	toggleFault(name: FaultName): void {
		this.faults.toggle(name);
	}

	clearFaults(): void {
		this.faults.clear();
	}

	clearRequests(): void {
		this.requests.length = 0;
		this.requestCount = 0;
	}

	/** Back to how it was started: no campaign, message, request or fault. */
	reset(): void {
		this.messages = [];
		this.store.clear();
		this.configure({ rateLimit: null });
		this.configure(this.initialSettings);
		this.clearFaults();
		this.clearRequests();
	}

	/** The campaigns that hold all words of a search in what was sent, their ID, audience or status. */
	private find(search: string): Campaign[] {
		const campaigns = [...this.campaigns.values()];
		const words = search.toLowerCase().split(/\s+/).filter(Boolean);
		if (words.length === 0) return campaigns;
		return campaigns.filter((campaign) => {
			const { id, audience, body } = campaign;
			const { status } = this.view(campaign);
			const label = audience === 'sid' ? 'subscriber' : audience;
			const text = JSON.stringify([id, label, status, ...Object.values(body)]).toLowerCase();
			return words.every((word) => text.includes(word));
		});
	}

	private failedSends(): FailedSend[] {
		const start = this.shape.pathPrefix + sendPathStart;
		const failed = this.requests.filter(({ path, answered, fault, campaignId }) => {
			if (!path.startsWith(start)) return false;
			const isRefused = answered !== null && campaignId === null;
			return isRefused || fault !== null;
		});
		return failed.slice(-mostFailedSends).map(({ at, path, answered, campaignId }) => ({
			at,
			audience: path.slice(start.length),
			answered: answered && { status: answered.status, type: answered.type },
			campaignId,
		}));
	}

	private async receive(request: IncomingMessage, response: ServerResponse): Promise<void> {
		const { method = 'GET', url: path = '/' } = request;
		const body = await buffer(request);
		const isControl = path.startsWith(controlPath);
		if (isControl) answerJson(response, ...control(this, method, path, body.toString()));
		else if (isPage(path) && method === 'GET') answerPage(response);
		else if (isPart(path) && method === 'GET') await answerPart(response, path);
		else if (path === chatPath && method === 'POST') this.answerChat(response, body.toString());
		else this.serve(request, response, body);
	}

	/** Shows a message of the chat on the page; the latest are kept. */
	private answerChat(response: ServerResponse, body: string): void {
		const post = postSchema.safeParse(parseJson(body));
		if (!post.success) {
			answerJson(response, 400, { message: 'A message to the chat is JSON with a text' });
			return;
		}
		const message = { at: this.now(), text: post.data.text };
		this.messages = [...this.messages, message].slice(-mostMessages);
		answerJson(response, 200, { ok: true });
	}

	/** Answers a request to the service, and keeps it. */
	private serve(request: IncomingMessage, response: ServerResponse, body: Buffer): void {
		const text = body.toString();
		this.requestCount += 1;
		const recorded: RecordedRequest = {
			id: this.requestCount,
			method: request.method ?? 'GET',
			path: request.url ?? '/',
			headers: request.headers,
			body: text,
			json: isUtf8(body) ? parseJson(text) : undefined,
			at: this.now(),
			answered: null,
			fault: null,
			campaignId: null,
		};
		this.requests.push(recorded);
		if (this.requests.length > mostRequests) this.requests.shift();
		const action = this.faults.take(recorded);
		const answer = isProcessed(action) ? this.answer(recorded) : null;
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
