import { isUtf8 } from 'node:buffer';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { z } from 'zod';
import { campaignViewSchema, savedCampaignsSchema } from './campaigns';
import type { Campaign, CampaignView } from './campaigns';
import { counterChangesSchema, type CounterChanges } from './counters';
import { deliver, isProcessed } from './exchange';
import { Faults } from './faults';
import type { ReadBody } from './http';
import { parseJson } from './json';
import { JsonFile } from './jsonFile';
import { Recorder, type RecordedRequest } from './recorder';
import {
	settingsChangesSchema,
	settingsSchema,
	type Fault,
	type NewCampaign,
	type RateLimit,
	type Settings,
	type SettingsChanges,
	type WaitingCounters,
} from './schemas';
import { PushService, type ServiceShape } from './service';

/** What a simulator is started with; everything may be left out. */
export interface SimulatorOptions {
	/** Default `127.0.0.1`. */
	host?: string;
	/** Default 0: a free one. */
	port?: number;
	/** What stands before `/v1/`, e.g. `/push`. */
	pathPrefix?: string;
	/** Default `demo-key`. */
	serviceKey?: string;
	/** Default `demo-token`. */
	authToken?: string;
	/** Default `serviceKey`. */
	keyHeader?: string;
	/** Default `serviceAuthToken`. */
	tokenHeader?: string;
	/** How long each answer takes, in milliseconds; the request is processed when it arrives. */
	latencyMs?: number;
	/** The HTTP status of every failure body; by default `mapped`, the usual one for its type. */
	failureStatus?: 'mapped' | number;
	rateLimit?: RateLimit | undefined;
	/** Active ones have the IDs 5001 and up. Default: 10,000 active of 12,500. */
	subscribers?: { active: number; lifetime: number };
	/** How a campaign that waits for its time shows its counters. Default `zero`. */
	waitingCounters?: WaitingCounters;
	/** How fast counters move: 1 takes minutes, 0 stands still (all at 0 unless set by hand). */
	lifeSpeed?: number;
	/** How many of the latest requests are kept. Default 20,000. */
	maxRequests?: number;
	/** How many of the latest campaigns are kept. Default 50,000. */
	maxCampaigns?: number;
	/** Gives epoch milliseconds. */
	clock?: () => number;
	/** Keeps campaigns and the chat here, so that the next start has them. Left out: nowhere. */
	stateFile?: string;
	/** Is told where a state file went that could not be read. */
	onUnreadableState?: (path: string) => void;
}

const messageSchema = z.object({
	/** Epoch milliseconds. */
	at: z.number(),
	text: z.string(),
});

/** Everything that the simulator is, at one moment. */
export const simulatorStateSchema = z.object({
	now: z.number(),
	url: z.string(),
	settings: settingsSchema.omit({ serviceKey: true, authToken: true }),
	requestCount: z.number(),
	campaignCount: z.number(),
	/** Those that are still waiting, with how often each will strike; 0 is forever. */
	faults: z.array(z.object({ id: z.number(), times: z.number() })),
	/** Oldest first. */
	campaigns: z.array(campaignViewSchema),
	/** What was posted to the chat, oldest first. */
	messages: z.array(messageSchema),
});

export type SimulatorState = z.infer<typeof simulatorStateSchema>;

const savedSchema = savedCampaignsSchema.extend({ messages: z.array(messageSchema) });

const mostMessages = 50;
const savedAfterMs = 100;

/** The push service with everything that a test may want to see or break, without its sockets. */
export class ControlledService {
	private readonly service: PushService;
	private readonly faults = new Faults();
	private readonly recorder: Recorder;
	private readonly initialSettings: Settings;
	private readonly shape: ServiceShape;
	private readonly clock: () => number;
	private readonly file: JsonFile<z.infer<typeof savedSchema>> | undefined;
	private readonly saveAtExit = () => this.save();
	private saving: NodeJS.Timeout | undefined;
	private messages: SimulatorState['messages'] = [];
	private advancedMs = 0;
	protected address = '';

	constructor(options: SimulatorOptions = {}) {
		this.clock = options.clock ?? Date.now;
		this.shape = {
			pathPrefix: (options.pathPrefix ?? '').replace(/\/+$/, ''),
			keyHeader: options.keyHeader ?? 'serviceKey',
			tokenHeader: options.tokenHeader ?? 'serviceAuthToken',
			lifeSpeed: options.lifeSpeed ?? 1,
			maxCampaigns: options.maxCampaigns ?? 50_000,
		};
		this.initialSettings = settingsSchema.parse({
			latencyMs: options.latencyMs ?? 0,
			failureStatus: options.failureStatus ?? 'mapped',
			rateLimit: options.rateLimit ?? null,
			serviceKey: options.serviceKey ?? 'demo-key',
			authToken: options.authToken ?? 'demo-token',
			subscribers: options.subscribers ?? { active: 10_000, lifetime: 12_500 },
			waitingCounters: options.waitingCounters ?? 'zero',
		});
		this.service = new PushService(
			this.shape,
			this.initialSettings,
			() => this.now(),
			() => this.changed(),
		);
		this.recorder = new Recorder(options.maxRequests ?? 20_000);
		if (options.stateFile === undefined) return;
		this.file = new JsonFile(options.stateFile, savedSchema);
		const saved = this.file.read(options.onUnreadableState);
		if (saved) {
			this.service.campaigns.restore(saved);
			this.messages = saved.messages;
		}
		process.on('exit', this.saveAtExit);
	}

	/** Where the service is: origin and path prefix, without a trailing slash. */
	get url(): string {
		return this.address + this.shape.pathPrefix;
	}

	/** Where the page and the control interface are. */
	get origin(): string {
		return this.address;
	}

	/** The latest requests to the service, oldest first. */
	get requests(): readonly RecordedRequest[] {
		return this.recorder.requests;
	}

	/** How many requests came since the start or the last reset, kept or not. */
	get requestCount(): number {
		return this.recorder.count;
	}

	/** The accepted campaigns by ID, oldest first; sends to one subscriber as `sid-1` and up. */
	get campaigns(): ReadonlyMap<string, Campaign> {
		return this.service.campaigns.all;
	}

	/** The simulator's time, epoch milliseconds. */
	now(): number {
		return this.clock() + this.advancedMs;
	}

	/** A campaign with its present status and counters. */
	campaign(id: string): CampaignView | undefined {
		const campaign = this.campaigns.get(id);
		return campaign && this.service.view(campaign);
	}

	/** The whole state, with the latest `last` campaigns only where that is given. */
	state(last?: number): SimulatorState {
		const { serviceKey: _key, authToken: _token, ...settings } = this.service.currentSettings;
		const campaigns = [...this.campaigns.values()];
		const shown = last === undefined ? campaigns : campaigns.slice(-last);
		return {
			now: this.now(),
			url: this.url,
			settings,
			requestCount: this.requestCount,
			campaignCount: campaigns.length,
			faults: this.faults.list.map(({ id, times }) => ({ id, times })),
			campaigns: shown.map((campaign) => this.service.view(campaign)),
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

	/** Fixes counters of a campaign; those left out go on living. Throws on an unknown ID. */
	setCounters(id: string, counters: CounterChanges): void {
		this.service.campaigns.fixCounters(id, counterChangesSchema.parse(counters));
	}

	/** Has people click a campaign; gives how many did, as not all may. Throws on an unknown ID. */
	click(id: string, people: number): number {
		return this.service.click(id, people);
	}

	/** Makes all campaigns older, in milliseconds; the simulator's clock stays. */
	age(ms: number): void {
		this.service.campaigns.age(ms);
	}

	/** Posts to the chat; the latest messages are kept. */
	post(text: string): void {
		this.messages = [...this.messages, { at: this.now(), text }].slice(-mostMessages);
		this.changed();
	}

	/** Puts a campaign there without a request; gives its ID. */
	addCampaign(campaign: NewCampaign = {}): string {
		return this.service.addCampaign(campaign);
	}

	/** Whether there was one to remove. */
	removeCampaign(id: string): boolean {
		return this.service.campaigns.remove(id);
	}

	/** Adds subscribers by ID, however long. */
	addSubscribers(ids: readonly string[]): void {
		this.service.subscribers.add(ids);
	}

	/** Changes settings while running. Throws a ZodError where they are not well formed. */
	configure(changes: SettingsChanges): void {
		this.service.configure(settingsChangesSchema.parse(changes));
	}

	setRateLimit(rateLimit: RateLimit | undefined): void {
		this.configure({ rateLimit: rateLimit ?? null });
	}

	setLatency(latencyMs: number): void {
		this.configure({ latencyMs });
	}

	/** Moves the simulator's time forward, in milliseconds. */
	advance(ms: number): void {
		this.advancedMs += ms;
	}

	/** Back to how it was started: no campaign, request, fault or added subscriber. */
	reset(): void {
		this.messages = [];
		this.service.campaigns.clear();
		this.service.subscribers.forgetAdded();
		this.advancedMs = 0;
		this.service.configure({ rateLimit: null });
		this.service.configure(this.initialSettings);
		this.faults.clear();
		this.recorder.clear();
	}

	/** Writes the state now, and for the last time. */
	protected closeState(): void {
		process.off('exit', this.saveAtExit);
		this.save();
	}

	/** Many changes at once are written once. */
	private changed(): void {
		if (!this.file || this.saving) return;
		this.saving = setTimeout(() => this.save(), savedAfterMs).unref();
	}

	private save(): void {
		clearTimeout(this.saving);
		this.saving = undefined;
		this.file?.write({ ...this.service.campaigns.save(), messages: this.messages });
	}

	/** Answers a request to the service, and keeps it. */
	protected serve(request: IncomingMessage, response: ServerResponse, body: ReadBody): void {
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
		const answer = isProcessed(action) ? this.service.answer(recorded, body.tooLarge) : null;
		recorded.campaignId = answer?.campaignId ?? null;

		const send = (): void => {
			const answered = deliver(response, answer, action);
			recorded.answered = answered && { ...answered, at: this.now() };
		};
		const delayMs =
			this.service.currentSettings.latencyMs + (action?.kind === 'delay' ? action.ms : 0);
		// The connection keeps a process alive while it waits; the timer alone should not.
		if (delayMs > 0) setTimeout(send, delayMs).unref();
		else send();
	}
}
