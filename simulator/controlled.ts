import { isUtf8 } from 'node:buffer';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Campaign, CampaignView } from './campaigns';
import { deliver, isProcessed } from './exchange';
import { Faults } from './faults';
import type { ReadBody } from './http';
import { parseJson } from './json';
import { Recorder, type RecordedRequest } from './recorder';
import {
	counterChangesSchema,
	settingsChangesSchema,
	settingsSchema,
	type CounterChanges,
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
}

/** Everything that the simulator is, at one moment. */
export interface SimulatorState {
	readonly now: number;
	readonly url: string;
	readonly settings: Omit<Settings, 'serviceKey' | 'authToken'>;
	readonly requestCount: number;
	readonly campaignCount: number;
	/** Those that are still waiting, with how often each will strike; 0 is forever. */
	readonly faults: readonly { readonly id: number; readonly times: number }[];
	/** Oldest first. */
	readonly campaigns: readonly CampaignView[];
}

/** The push service with everything that a test may want to see or break, without its sockets. */
export class ControlledService {
	private readonly service: PushService;
	private readonly faults = new Faults();
	private readonly recorder: Recorder;
	private readonly initialSettings: Settings;
	private readonly shape: ServiceShape;
	private readonly clock: () => number;
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
		this.service = new PushService(this.shape, this.initialSettings, () => this.now());
		this.recorder = new Recorder(options.maxRequests ?? 20_000);
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
		this.service.campaigns.clear();
		this.service.subscribers.forgetAdded();
		this.advancedMs = 0;
		this.service.configure({ rateLimit: null });
		this.service.configure(this.initialSettings);
		this.faults.clear();
		this.recorder.clear();
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
